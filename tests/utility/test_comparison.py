"""A reader of the report plays: two worlds that differ in one person's value, and one masked file."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from policies.utility_limits import UtilityLimits
from sluice.utility.comparison import Comparison
from sluice.utility.variable_summary import summarise
from tests.golden import golden
from tests.typed_frame import typed_frame

pytestmark = pytest.mark.chain

N = 400
LIMITS = UtilityLimits.model_validate(
    {
        "score": {"at_most": 0.4, "binding": False},
        "models": [{"name": "wages", "kind": "linear", "formula": "wage ~ income + school", "by": "sex"}],
        "predictions": [{"name": "school", "target": "school", "learners": ["logistic"]}],
        "clusterings": [{"name": "money", "clusters": 2, "variables": ["income", "wage"]}],
        "queries": [{"name": "pay", "sql": "SELECT sex, avg(income) AS mean FROM records GROUP BY sex"}],
    }
)


def people() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    wage = np.round(np.exp(rng.normal(9, 0.5, N)), 2)
    return pd.DataFrame(
        {
            "income": np.round(np.exp(rng.normal(10, 0.5, N)), 2),
            "wage": wage,
            "age": rng.integers(18, 90, N),
            "sex": rng.choice(["f", "m"], N),
            "school": np.array(["low", "middle", "high"])[np.digitize(wage, [6_000, 12_000])],
        }
    )


def reported(original: pd.DataFrame, masked: pd.DataFrame, recoded: pd.DataFrame, paired: bool) -> dict[str, Any]:
    """All that a report holds of utility."""
    (before, variables), (after, released), (between, _) = map(typed_frame, (original, masked, recoded))
    files = Comparison(before, between, after, None, variables, released, np.random.default_rng(0))
    found = LIMITS.find(replace(files, paired=paired))
    summaries = summarise(before, between, after, variables, released, files.minimum_cell)
    return {
        "findings": [each.model_dump(mode="json") for each in found.findings],
        "view": found.view.model_dump(mode="json"),
        "variables": [each.model_dump(mode="json") for each in summaries],
    }


def top_coded(income: float) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    original, masked = people(), people()
    original.loc[0, "income"], masked.loc[0, "income"] = income, 60_000.0
    return original, masked, masked


def blanked(school: str) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    original, masked = people(), people()
    original.loc[0, "school"], masked.loc[0, "school"] = school, None
    return original, masked, original


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize(("world", "one", "other"), [(top_coded, 1_000_000.0, 1_070_000.0), (blanked, "low", "middle")])
def test_the_value_that_masking_took_from_one_person_is_not_in_the_report(
    world: Callable[[Any], tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]], one: Any, other: Any, paired: bool
) -> None:
    here, there = reported(*world(one), paired), reported(*world(other), paired)
    assert here["findings"] == there["findings"]
    assert here["view"] == there["view"]
    if paired:
        assert here["variables"] == there["variables"]


@pytest.mark.parametrize(("world", "given"), [(top_coded, 1_000_000.0), (blanked, "low")])
def test_what_is_not_told_decides_all_the_same_and_says_that_it_is_withheld(
    world: Callable[[Any], Any], given: Any
) -> None:
    found = reported(*world(given), True)
    changed = "income" if world is top_coded else "school"
    asked = {each["rule"]: each for each in found["findings"]}
    rules = {"predictions", "models"} | ({"clusterings", "queries"} if changed == "income" else set())
    for rule in rules:
        assert asked[rule]["withheld"], rule
        assert asked[rule]["observed"] is None
    golden([asked[rule]["says"] for rule in sorted(rules)])
    view = found["view"]
    assert view["predictions"][0]["learners"] == []
    if changed == "income":
        assert view["clusterings"][0]["indices"] == []
    else:
        assert view["clusterings"][0]["indices"]  # of other variables

"""A reader of the report plays where one record weighs much of a subgroup, as many others do elsewhere."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from policies.utility_limits import UtilityLimits
from sluice.ground.variables import Role
from sluice.utility.comparison import Comparison
from tests.typed_frame import typed_frame

N = 8_000
LIMITS = UtilityLimits.model_validate({"subgroup_cramers_v": {"at_most": 0}, "worst_subgroup": {"at_most": 0}})


def town_c(heavy_has_a_value: bool = True) -> tuple[pd.DataFrame, np.ndarray]:
    """Town c: a hundred heavy people and thousands of light ones; elsewhere everybody weighs as much as another."""
    rng = np.random.default_rng(9)
    town = np.repeat(["a", "b", "c"], [2_000, 2_000, 4_000])
    heavy = np.arange(4_000, 4_120)
    weight = np.where(town == "c", 0.02, 1.0)
    weight[heavy] = 5.0
    income = rng.normal(10, 2, N).round(3)
    if not heavy_has_a_value:
        income[heavy[1:]] = np.nan
    school, sex = rng.choice(["low", "high"], N), rng.choice(["f", "m"], N)
    return pd.DataFrame({"town": town, "income": income, "school": school, "sex": sex, "weight": weight}), heavy


def judged(original: pd.DataFrame, masked: pd.DataFrame) -> Any:
    (before, variables), (after, released) = typed_frame(original), typed_frame(masked)
    for each in (variables, released):
        each["weight"] = each["weight"].model_copy(update={"role": Role.WEIGHT})
    variables["town"] = variables["town"].model_copy(update={"categories": ("a", "b", "c")})
    files = Comparison(before, before, after, None, variables, released, np.random.default_rng(0))
    found = LIMITS.find(files)
    return files, found, {each.rule: each for each in found.findings}


def test_what_one_heavy_record_of_a_subgroup_changed_is_not_told() -> None:
    """Of town c's weight a hundredth changed, which were forty of its records if these weighed alike. It is one."""
    original, heavy = town_c()
    masked = original.copy()
    other = {"low": "high", "high": "low"}
    masked.loc[heavy[0], "school"] = other[original.loc[heavy[0], "school"]]
    masked.loc[heavy[0], "income"] += 30
    few = masked.index[:40]  # elsewhere as many changed as may be told
    masked.loc[few, "school"] = original.loc[few, "school"].map(other)
    masked.loc[few, "income"] += 1e-6 * np.arange(1, 41)
    files, found, findings = judged(original, masked)
    assert not files.few_weigh
    for rule in ("worst_subgroup", "subgroup_cramers_v", "subgroup_quantiles"):
        assert "town = c" not in findings[rule].says, rule
    for view in (found.view.subgroup_associations, found.view.subgroup_quantiles):
        assert view is None or "c" not in {each.category for each in view.worst}
    assert found.view.subgroups is None or all(
        each.loss == 0 for each in found.view.subgroups.worst if each.category == "c"
    )


@pytest.mark.chain
def test_where_one_heavy_record_has_the_value_its_quantiles_are_not_compared() -> None:
    """Of 3,881 people of town c the income is known, and one weighs as 1,000 others: its quantiles are that one's."""
    original, heavy = town_c(heavy_has_a_value=False)
    original.loc[heavy[0], "weight"] = 1.0
    masked = original.assign(income=original["income"] + np.random.default_rng(1).normal(0, 0.5, N))
    _, found, _ = judged(original, masked)
    assert "c" in {each.category for each in found.view.subgroup_quantiles.worst}
    original.loc[heavy[0], "weight"] = 20.0
    _, found, _ = judged(original, masked.assign(weight=original["weight"]))
    assert found.view.subgroup_quantiles is None or "c" not in {
        each.category for each in found.view.subgroup_quantiles.worst
    }


@pytest.mark.parametrize("changed", [9, 60])
def test_as_many_of_the_heaviest_as_may_be_told_are_told(changed: int) -> None:
    original, heavy = town_c()
    masked = original.copy()
    rows = heavy[:changed]
    masked.loc[rows, "income"] += 30
    masked.loc[rows, "school"] = original.loc[rows, "school"].map({"low": "high", "high": "low"})
    masked.loc[:39, "income"] += 1e-6 * np.arange(1, 41)
    masked.loc[:39, "school"] = original.loc[:39, "school"].map({"low": "high", "high": "low"})
    _, found, _ = judged(original, masked)
    shown = (
        set()
        if found.view.subgroup_quantiles is None
        else {each.category for each in found.view.subgroup_quantiles.worst}
    )
    assert ("c" in shown) == (changed == 60)

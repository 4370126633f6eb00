"""A reader of the report plays where one record, or a few, weigh more than all others together."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from policies.utility_limits import UtilityLimits
from sluice.ground.variables import Role
from sluice.ground.verdict import Finding
from sluice.utility.comparison import Comparison
from tests.typed_frame import typed_frame

pytestmark = pytest.mark.chain

N = 400
LIMITS = UtilityLimits.model_validate(
    {
        "predictions": [{"name": "school", "target": "school", "learners": ["logistic"]}],
        "clusterings": [{"name": "money", "clusters": 2, "variables": ["income", "wage"]}],
    }
)


def noisy(weight: np.ndarray) -> Comparison:
    """Everybody's income and wage masked by noise, and one record in ten sent to another school."""
    rng = np.random.default_rng(5)
    original = pd.DataFrame(
        {
            "income": np.exp(rng.normal(10, 0.5, N)),
            "wage": np.exp(rng.normal(9, 0.5, N)),
            "age": rng.integers(18, 90, N),
            "sex": rng.choice(["f", "m"], N),
            "school": rng.choice(["low", "middle", "high"], N),
            "weight": weight,
        }
    )
    masked = original.assign(
        income=original["income"] * rng.uniform(0.8, 1.2, N),
        wage=original["wage"] * rng.uniform(0.8, 1.2, N),
        age=original["age"] + rng.integers(-2, 3, N),
        sex=np.where(rng.random(N) < 0.1, "f", original["sex"]),
        school=np.where(rng.random(N) < 0.1, "low", original["school"]),
    )
    (before, variables), (after, released) = typed_frame(original), typed_frame(masked)
    for each in (variables, released):
        each["weight"] = each["weight"].model_copy(update={"role": Role.WEIGHT})
    return Comparison(before, before, after, None, variables, released, np.random.default_rng(0))


def figures(files: Comparison) -> dict[str, Finding]:
    return {f"{each.rule} {each.scope}": each for each in LIMITS.find(files).findings}


def without_weights(files: Comparison) -> Comparison:
    """The same with a weight of 1 for each record."""
    one = {"weight": np.ones(N)}
    return replace(
        files,
        original=files.original.assign(**one),
        recoded=files.recoded.assign(**one),
        masked=files.masked.assign(**one),
    )


@pytest.mark.parametrize("heavy", [1, 3])
def test_where_few_weigh_no_weighted_figure_is_told(heavy: int) -> None:
    """Of the masked file and its weights everybody knows everything: such a figure is one person's original value."""
    files = noisy(np.where(np.arange(N) < heavy, 1e9, 1.0))
    found, unweighted = LIMITS.find(files), {each.rule: each for each in LIMITS.find(without_weights(files)).findings}
    told = [each for each in found.findings if each.observed is not None]
    assert told, "what counts records is still told"
    for each in told:
        assert each.observed == pytest.approx(unweighted[each.rule].observed), each.rule
    assert not {each.rule for each in told} & {
        *("mean", "variance", "correlation", "rank_correlation", "il1s", "apil", "eigenvalues", "mean_variations"),
        *("kendall", "cramers_v", "quantiles", "gini", "pair_marginals", "triple_marginals", "predictions"),
    }
    assert found.view.continuous is None
    assert found.view.quantiles is None
    assert found.view.marginals is None
    assert found.view.components is None


def test_where_many_weigh_figures_are_told_and_are_those_of_the_population() -> None:
    files = noisy(np.where(np.arange(N) < N // 2, 9.0, 1.0))
    found, unweighted = figures(files), figures(without_weights(files))
    assert not [name for name, each in found.items() if each.withheld]
    for rule in ("mean", "variance", "correlation", "rank_correlation", "il1s", "apil", "mean_variations", "kendall"):
        (weighted,) = (each.observed for each in found.values() if each.rule == rule)
        (counted,) = (each.observed for each in unweighted.values() if each.rule == rule)
        assert weighted != counted, rule


def test_one_heavy_record_among_the_changed_ones_is_withheld_though_many_others_weigh_as_much() -> None:
    files = noisy(np.where(np.arange(N) >= N // 2, 1e9, 1.0))
    changed = np.arange(N) <= N // 2  # of those that weigh, the first alone
    income = np.where(changed, files.masked["income"], files.original["income"])
    school = pd.Series(np.where(changed, "low", files.original["school"].astype(str)))
    masked = files.masked.assign(income=income, school=school.astype(files.masked["school"].dtype))
    files = replace(files, masked=masked)
    assert {"income", "school"} <= files.of_few
    assert "wage" not in files.of_few
    one = without_weights(files)
    assert not one.of_few

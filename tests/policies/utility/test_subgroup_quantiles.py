from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Role
from sluice.ground.verdict import Verdict
from tests.policies.utility.files import data, declared, judge

RULES = ("subgroup_quantiles", "subgroup_propensity")
LIMITS = {name: {"at_most": 0.05} for name in RULES}


def worst_in_c(changed: int | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Incomes of town c are masked by noise, or of so many of its people; all others' as they are."""
    rng = np.random.default_rng(7)
    original = data(2_000)
    original["x"] = rng.normal(10, 2, len(original))
    masked = original.copy()
    rows = masked.index[masked["town"] == "c"][:changed]
    masked.loc[rows, "x"] += rng.normal(3, 1, len(rows))
    return original, masked


@pytest.mark.chain
def test_what_one_subgroup_alone_lost_is_held_to_its_limit() -> None:
    original, masked = worst_in_c()
    found, findings = judge(declared(original, masked), **LIMITS)
    for rule, view in zip(RULES, (found.view.subgroup_quantiles, found.view.subgroup_propensity), strict=True):
        finding = findings[rule]
        assert (finding.verdict, finding.scope, finding.completed) == (Verdict.FAIL, "town", 4), rule
        assert "(town = c)" in finding.says
        assert (view.compared, view.worst[0].category) == (4, "c")
        assert finding.observed == pytest.approx(view.worst[0].change, abs=0.005)


def test_regressions_within_subgroups_are_made_where_they_have_a_limit() -> None:
    of = declared(*worst_in_c())
    found, findings = judge(of)
    assert "subgroup_propensity" not in findings
    assert found.view.subgroup_propensity is None
    assert findings["subgroup_quantiles"].verdict is Verdict.PASS
    assert not findings["subgroup_quantiles"].binding
    assert judge(of, subgroup_propensity={"at_most": 0.1, "binding": False})[1]["subgroup_propensity"].scope == "town"


@pytest.mark.parametrize("paired", [True, False])
def test_what_a_few_records_of_a_subgroup_changed_decides_and_is_not_told(paired: bool) -> None:
    """Enough people changed in all, so that the variable is told of; of town c three, whom its figures would tell."""
    original, masked = worst_in_c(3)
    moved = masked.index[masked["town"] == "a"][:400]
    masked.loc[moved, "x"] += 1e-7 * np.arange(1, 401)
    masked.loc[masked.index[masked["town"] == "c"][:3], "x"] = 1e3
    of = replace(declared(original, masked), paired=paired)
    limits = {name: {"at_most": 0} for name in RULES}
    found, findings = judge(of, **limits)
    for rule, view in zip(RULES, (found.view.subgroup_quantiles, found.view.subgroup_propensity), strict=True):
        assert "town = c" not in findings[rule].says
        assert findings[rule].verdict is Verdict.FAIL
        assert view is None or "c" not in {each.category for each in view.worst}


def test_a_subgroup_that_was_suppressed_altogether_is_lost() -> None:
    original, _ = worst_in_c()
    masked = original.assign(town=original["town"].where(original["town"] != "c"))
    findings = judge(declared(original, masked), **LIMITS)[1]
    for rule in RULES:
        assert findings[rule].verdict is Verdict.FAIL
        assert "lost" in findings[rule].says
        assert "(town = c)" in findings[rule].says


def test_a_weight_is_no_number_of_which_quantiles_could_move() -> None:
    original, _ = worst_in_c()
    original["weight"] = 2.0
    of = declared(original[["town", "sex", "weight"]], original[["town", "sex", "weight"]])
    weight = {"weight": of.variables["weight"].model_copy(update={"role": Role.WEIGHT})}
    finding = judge(replace(of, variables={**of.variables, **weight}), **LIMITS)[1]["subgroup_quantiles"]
    assert (finding.verdict, finding.binding) == (Verdict.PASS, False)

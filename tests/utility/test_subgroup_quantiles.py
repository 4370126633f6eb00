"""Quantiles within subgroups against those of the subgroup taken out by itself, and what of them may be told."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.variables import Role
from sluice.ground.verdict import Verdict
from sluice.utility.common_bins import CommonBins
from sluice.utility.continuous.released_numbers import NumberColumns
from sluice.utility.quantiles import order_statistics, quantile_change
from sluice.utility.subgroup_quantiles import subgroup_quantiles
from sluice.utility.subgroups import SubgroupChange
from tests.utility.files import data, declared, judge

RULES = ("subgroup_quantiles", "subgroup_propensity")
LIMITS = {name: {"at_most": 0.05} for name in RULES}

TOWNS = ("a", "b", "c")


def by_town(original: np.ndarray, masked: np.ndarray, spread: np.ndarray | None = None) -> CommonBins:
    return CommonBins("town", original, masked, np.eye(4) if spread is None else spread, (*TOWNS, "missing"))


def found(
    bins: CommonBins, original: np.ndarray, masked: np.ndarray, least: int = 1, **weights: object
) -> dict[str, SubgroupChange]:
    files = (NumberColumns.of(each) for each in (original, masked))
    changes = subgroup_quantiles([bins], *files, {"town": TOWNS}, least, **weights)  # type: ignore[arg-type]
    return {each.category: each for each in changes}


Weight = np.ndarray | None


def lacks(original: np.ndarray, masked: np.ndarray, w: Weight, v: Weight) -> float:
    """What the values weigh that the original has more of than the masked file, when both weigh the same."""
    held, kept = (
        pd.Series(np.ones(len(each)) if weight is None else weight).groupby(each).sum()
        for each, weight in ((original, w), (masked, v))
    )
    unit = held.sum() / kept.sum() if len(kept) else 0.0
    return float(held.sub(kept * unit, fill_value=0).clip(lower=0).sum())


def heaviest(here: np.ndarray, there: np.ndarray, w: Weight, v: Weight) -> float:
    """The largest weight of a record in either file, in the original's unit."""
    if w is None or v is None:
        return 1.0
    return max(w[here].max(), v[there].max(initial=0) * (w[here].sum() / v[there].sum() if there.any() else 0))


@given(st.integers(0, 2**32), st.booleans())
def test_each_subgroup_has_the_change_of_its_own_records(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    n, m = rng.integers(40, 90, 2)
    before, after = rng.integers(0, 4, n).astype(np.uint8), rng.integers(0, 4, m).astype(np.uint8)
    original, masked = rng.integers(0, 30, (n, 2)).astype(float), rng.integers(0, 30, (m, 2)).astype(float)
    original[rng.random((n, 2)) < 0.1] = np.nan
    masked[rng.random((m, 2)) < 0.1] = np.nan
    w, v = (rng.integers(1, 5, n).astype(float), rng.integers(1, 5, m).astype(float)) if weighted else (None, None)
    changes = found(by_town(before, after), original, masked, weights=(w, v))
    for place, town in enumerate(TOWNS):
        here, there = before == place, after == place
        if town not in changes:
            continue
        expected, moved = [], []
        for at in range(2):
            of_before = order_statistics(original[here, at], None if w is None else w[here])
            of_after = order_statistics(masked[there, at], None if v is None else v[there])
            change = quantile_change(of_before, of_after).mean
            expected.append(change)
            moved.append(
                lacks(
                    original[here, at],
                    masked[there, at],
                    *(None if x is None else x[y] for x, y in ((w, here), (v, there))),
                )
            )
        assert changes[town].moved == pytest.approx(max(moved) / heaviest(here, there, w, v))
        if np.isfinite(expected).all():
            assert changes[town].change == pytest.approx(np.mean(expected))


def test_a_record_in_a_group_belongs_to_each_by_its_share() -> None:
    """Half of the group "a or b" is a's: its quantiles are those of a file where it weighs one half."""
    rng = np.random.default_rng(1)
    before = rng.integers(0, 3, 300).astype(np.uint8)
    values = rng.normal(size=(300, 1))
    spread = np.vstack([np.eye(4), [0.5, 0.5, 0, 0]])
    after = np.where(before < 2, 4, before).astype(np.uint8)
    changes = found(by_town(before, after, spread), values, values)
    half = order_statistics(values[before < 2, 0])
    assert changes["a"].change == pytest.approx(quantile_change(order_statistics(values[before == 0, 0]), half).mean)
    assert changes["c"].change == 0


def test_what_a_subgroup_lost_and_what_moved_from_a_constant() -> None:
    before = np.repeat([0, 1, 2], 50).astype(np.uint8)
    values = np.random.default_rng(2).normal(size=(150, 1))
    values[before == 1] = 3.0
    gone = found(by_town(before, np.where(before == 0, 3, before).astype(np.uint8)), values, values)
    assert gone["a"].change == np.inf
    moved = values + np.where(before == 1, 0.5, 0.0)[:, np.newaxis]
    one = found(by_town(before, before), values, moved)["b"]
    everybody = order_statistics(values[:, 0]).quantiles
    assert one.change == pytest.approx(0.5 / (everybody[3] - everybody[1]))  # its own range is 0
    assert one.moved == 50
    constant = np.full((150, 1), 7.0)
    assert found(by_town(before, before), constant, constant)["a"].change == 0
    assert found(by_town(before, before), constant, constant + 1)["a"].change == np.inf


def test_small_subgroups_by_records_or_by_weight_are_left_out() -> None:
    before = np.repeat([0, 1, 2], [50, 50, 5]).astype(np.uint8)
    values = np.random.default_rng(3).normal(size=(105, 1))
    heavy = np.ones(105)
    heavy[0] = 1e9
    assert {*found(by_town(before, before), values, values, least=10)} == {"a", "b"}
    assert {*found(by_town(before, before), values, values, least=10, weights=(heavy, heavy))} == {"b"}
    assert not found(by_town(before, before), np.full((105, 1), np.nan), values, least=10)


def test_adult_by_education(reference_data: Path) -> None:
    """Against a sort: hours a week rounded to tens, within each level of education."""
    frame = pd.read_csv(reference_data / "adult" / "adult.data.gz", header=None, usecols=[3, 12], skipinitialspace=True)
    levels = tuple(sorted(frame[3].unique()))
    codes = pd.Categorical(frame[3], levels).codes.astype(np.uint8)
    bins = CommonBins("education", codes, codes, np.eye(len(levels) + 1), (*levels, "missing"))
    hours = frame[[12]].to_numpy(np.float64)
    changes = subgroup_quantiles(
        [bins], NumberColumns.of(hours), NumberColumns.of(hours.round(-1)), {"education": levels}
    )
    assert len(changes) == sum(frame[3].value_counts() >= 100)
    levels_of = [0.1, 0.25, 0.5, 0.75, 0.9]
    for each in changes:
        own = frame.loc[frame[3] == each.category, 12]
        exact = [np.sort(own)[int(np.ceil(p * len(own) - 1e-9)) - 1] for p in levels_of]
        after = [np.sort(own.round(-1))[int(np.ceil(p * len(own) - 1e-9)) - 1] for p in levels_of]
        everybody = np.sort(frame[12])
        scale = (
            exact[3] - exact[1] or exact[4] - exact[0] or everybody[3 * len(frame) // 4] - everybody[len(frame) // 4]
        )
        assert each.change == pytest.approx(np.abs(np.subtract(after, exact)).mean() / scale)


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

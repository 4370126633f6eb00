import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import association

from sluice.ground.errors import DataError
from sluice.utility.common_bins import common_bins
from sluice.utility.marginals import MarginalTables
from sluice.utility.subgroup_tables import cramers_v_of_each, subgroup_associations, subgroup_losses
from sluice.utility.subgroups import SubgroupChange
from tests.golden import golden
from tests.typed_frame import typed_frame


def data(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = {"town": rng.choice(list("abc"), n), "sex": rng.choice(list("mf"), n), "job": rng.choice(list("pqr"), n)}
    return pd.DataFrame(frame)


def changes(original: pd.DataFrame, masked: pd.DataFrame, least: int = 1) -> tuple[SubgroupChange, ...]:
    before, variables = typed_frame(original)
    after, released = typed_frame(masked)
    bins = common_bins(before, before, after, variables, released)
    declared = {name: before[name].cat.categories for name in released}
    return subgroup_associations(bins, MarginalTables(bins, 3), declared, list(released), least)


def members(frame: pd.DataFrame, group: SubgroupChange) -> list[np.ndarray]:
    """The other variables of a subgroup's records."""
    inside = frame[group.variable].to_numpy() == group.category
    return [frame[name].to_numpy(str)[inside] for name in frame if name != group.variable]


def crossed(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Counts of each pair of values."""
    return np.array(
        [[np.sum((one == row) & (other == column)) for column in np.unique(other)] for row in np.unique(one)]
    )


@pytest.mark.chain
@given(st.integers(0, 2**32))
def test_agrees_with_scipy_within_subgroups(seed: int) -> None:
    original, masked = data(300, seed), data(200, seed + 1)
    for each in changes(original, masked):
        within = [members(frame, each) for frame in (original, masked)]
        was, now = (association(crossed(*columns), method="cramer") for columns in within)
        assert each.records == len(within[0][0])
        assert each.change == pytest.approx(abs(was - now), abs=1e-9)


def test_the_subgroup_in_which_values_were_torn_apart_is_the_worst() -> None:
    rng = np.random.default_rng(0)
    original = data(3_000, 0)
    original["job"] = original["sex"].map({"m": "p", "f": "q"})
    masked = original.copy()
    torn = masked.index[masked["town"] == "b"]
    masked.loc[torn, "job"] = rng.permutation(masked.loc[torn, "job"])
    worst, *others = [each for each in changes(original, masked) if each.variable == "town"]
    assert (worst.category, worst.change) == ("b", pytest.approx(1, abs=0.1))
    assert worst.moved == pytest.approx(worst.records / 2, rel=0.1)
    assert [each.change for each in others] == pytest.approx([0, 0], abs=1e-12)
    assert changes(original, masked, least=3_001) == ()


def test_who_is_gone_has_nothing_that_goes_together() -> None:
    original = data(900, 0)
    original["job"] = original["sex"].map({"m": "p", "f": "q"})
    gone = [each for each in changes(original, original[original["town"] != "c"]) if each.category == "c"]
    assert (gone[0].change, gone[0].moved) == (pytest.approx(1), gone[0].records)


def test_tables_of_one_row_or_of_nobody_have_no_v() -> None:
    tables = np.array([[[3.0, 4.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]], [[2.0, 0.0], [0.0, 5.0]]])
    found = cramers_v_of_each(tables)
    assert np.isnan(found[:2]).all()
    assert found[2] == pytest.approx(1)


def test_tables_of_another_size_are_refused() -> None:
    original, variables = typed_frame(data(30, 0))
    bins = common_bins(original, original, original, variables, variables)
    golden.refused(DataError, subgroup_associations, bins, MarginalTables(bins, 2), {}, [])


def towns(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"town": rng.choice(list("abc"), n), "sex": rng.choice(list("mf"), n), "job": rng.choice(list("pqr"), n)}
    )


def losses(
    original: pd.DataFrame, masked: pd.DataFrame, recoded: pd.DataFrame | None = None, least: int = 1
) -> tuple[SubgroupChange, ...]:
    before, variables = typed_frame(original)
    after, released = typed_frame(masked)
    between = before if recoded is None else typed_frame(recoded)[0]
    bins = common_bins(before, between, after, variables, released)
    declared = {name: before[name].cat.categories for name in released}
    return subgroup_losses(bins, MarginalTables(bins, 2), declared, list(released), least)


@pytest.mark.chain
@given(st.integers(0, 2**32))
def test_agrees_with_shares_within_subgroups(seed: int) -> None:
    original, masked = towns(150, seed), towns(90, seed + 1)
    found = losses(original, masked)
    assert [each.change for each in found] == sorted((each.change for each in found), reverse=True)
    for each in found:
        before, after = (members(frame, each) for frame in (original, masked))
        assert each.records == len(before[0])
        distances = [
            sum(abs(np.mean(was == value) - np.mean(now == value)) for value in np.union1d(was, now)) / 2
            for was, now in zip(before, after, strict=True)
        ]
        expected = np.mean(distances) if len(after[0]) else 1.0
        assert each.change == pytest.approx(expected, abs=1e-12)


def test_the_subgroup_that_was_masked_is_the_worst() -> None:
    original = towns(2_000, 0)
    masked = original.copy()
    masked.loc[masked["town"] == "b", "job"] = "p"
    worst = losses(original, masked)[0]
    assert (worst.variable, worst.category) == ("town", "b")
    assert worst.change == pytest.approx(1 / 3, abs=0.05)  # 2 of 3 jobs, of one of two other variables


def test_an_unchanged_file_loses_nothing_and_who_is_gone_lost_all() -> None:
    original = towns(300, 0)
    assert {each.change for each in losses(original, original)} == {0}
    gone = losses(original, original[original["town"] != "c"])
    assert (gone[0].category, gone[0].change) == ("c", 1)
    assert losses(original, original, least=301) == ()


def test_a_group_of_categories_belongs_to_each_of_them() -> None:
    original = towns(900, 0)
    original.loc[original["town"] == "a", "job"] = "p"
    recoded = original.replace({"town": {"a": "ab", "b": "ab"}})
    before, variables = typed_frame(original)
    after, released = typed_frame(recoded)
    bins = common_bins(before, after, after, variables, released)
    found = subgroup_losses(bins, MarginalTables(bins, 2), {"town": list("abc")}, list(variables), 1)
    by_town = {each.category: each.change for each in found}
    assert by_town["c"] == pytest.approx(0)
    assert by_town["a"] > 0.1
    assert by_town["b"] > 0.1


def test_tables_of_triples_tell_no_distributions() -> None:
    original, variables = typed_frame(towns(30, 0))
    bins = common_bins(original, original, original, variables, variables)
    golden.refused(DataError, subgroup_losses, bins, MarginalTables(bins, 3), {}, [])

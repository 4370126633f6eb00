from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import entropy

from sluice.ground.errors import DataError
from sluice.utility.categorical.category_losses import (
    category_distances,
    conditional_entropy,
    contingency_table_loss,
    direct_comparison,
    ebil,
    joint_counts,
    mean_pril,
    original_probabilities,
    pril,
    probabilities_of_counts,
)
from sluice.utility.common_bins import CommonBins, common_bins
from tests.golden import golden
from tests.typed_frame import typed_frame

STATE, CITY, ALBANY = 17_990_455, 7_322_564, 101_082


def test_albany_and_new_york_city() -> None:
    """Torra (2013), the per-record alternative. The slide prints 0.05 for Albany; its own division gives 0.0056."""
    prior = np.array([ALBANY, CITY, STATE - ALBANY - CITY], dtype=float)
    probabilities = original_probabilities(prior, np.ones((3, 1)))
    assert probabilities[:, 0] == pytest.approx([0.0056, 0.407, 0.5874], abs=0.0001)
    albany, city = pril(probabilities, np.array([0, 1]), np.array([0, 0]))
    assert (albany, city) == pytest.approx((np.log2(STATE / ALBANY), np.log2(STATE / CITY)))
    assert albany == pytest.approx(7.4756, abs=0.0001)
    assert albany > city


def test_ebil_of_pram_by_hand_and_by_scipy() -> None:
    """Retention .8 and .6 of two categories with 70 and 30 records: Bayes gives 56 of 68, and 18 of 32."""
    matrix = np.array([[0.8, 0.2], [0.4, 0.6]])
    found = original_probabilities(np.array([70.0, 30.0]), matrix)
    assert found == pytest.approx(np.array([[56 / 68, 14 / 32], [12 / 68, 18 / 32]]))
    expected = [entropy(column, base=2) for column in found.T]
    assert conditional_entropy(found) == pytest.approx(expected)
    assert ebil(found, np.array([68, 32])) == pytest.approx(68 * expected[0] + 32 * expected[1])


joints = arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.integers(0, 20).map(float))


@given(joints.filter(lambda joint: joint.sum() > 0))
def test_counted_in_the_files_both_means_are_the_conditional_entropy(joint: np.ndarray) -> None:
    probabilities = probabilities_of_counts(joint)
    mean = ebil(probabilities, joint.sum(axis=0)) / joint.sum()
    assert mean == pytest.approx(mean_pril(probabilities, joint), abs=1e-9)
    assert mean == pytest.approx(entropy(joint.ravel(), base=2) - entropy(joint.sum(axis=0), base=2), abs=1e-9)
    assert mean <= entropy(joint.sum(axis=1), base=2) + 1e-9  # to know V' never leaves more open than to know nothing
    rows, columns = np.nonzero(joint)
    records = np.repeat(np.arange(len(rows)), joint[rows, columns].astype(int))
    assert pril(probabilities, rows[records], columns[records]).mean() == pytest.approx(mean, abs=1e-9)


def test_extremes() -> None:
    certain = original_probabilities(np.array([3.0, 5.0]), np.eye(2))
    assert ebil(certain, np.array([3, 5])) == 0
    useless = original_probabilities(np.ones(8), np.full((8, 8), 1 / 8))
    assert ebil(useless, np.ones(8)) == pytest.approx(8 * 3)
    impossible = original_probabilities(np.array([1.0, 0.0]), np.eye(2))
    assert np.isnan(ebil(impossible, np.array([1, 1])))
    assert ebil(impossible, np.array([1, 0])) == 0
    assert pril(certain, np.array([0]), np.array([1])).tolist() == [np.inf]
    assert np.isnan(mean_pril(certain, np.zeros((2, 2))))


def plainly(original: pd.DataFrame, masked: pd.DataFrame, order: int) -> int:
    """Torra (2013): the sum of |x - x'| over the cells of all tables of up to `order` variables."""
    lost = 0
    for size in range(1, order + 1):
        for names in combinations(original, size):
            before, after = (frame.groupby(list(names)).size() for frame in (original, masked))
            lost += int(before.sub(after, fill_value=0).abs().sum())
    return lost


def towns(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: rng.choice(list("abc"), n) for name in ("x", "y", "z")})


@pytest.mark.chain
@given(st.integers(20, 60), st.integers(0, 9), st.integers(1, 3))
def test_the_sum_is_that_of_the_tables_themselves(n: int, seed: int, order: int) -> None:
    original, masked = towns(n, seed), towns(n, seed + 100)
    before, variables = typed_frame(original)
    after, released = typed_frame(masked)
    found = contingency_table_loss(common_bins(before, before, after, variables, released), order)
    assert found.total == pytest.approx(plainly(original, masked, order))
    assert found.normalised == pytest.approx(found.total / (2 * n * found.tables))
    assert (found.tables, found.counted) == ({1: 3, 2: 6, 3: 7}[order],) * 2


def test_an_unchanged_file_and_half_of_it_twice_lose_nothing() -> None:
    original, variables = typed_frame(towns(50, 0))
    twice = pd.concat([original, original], ignore_index=True)
    assert contingency_table_loss(common_bins(original, original, original, variables, variables), 2).total == 0
    found = contingency_table_loss(common_bins(twice, twice, original, variables, variables), 2)
    assert found.total == pytest.approx(0, abs=1e-9)


def test_contingency_table_loss_extremes() -> None:
    original, variables = typed_frame(towns(50, 0))
    suppressed = original.copy()
    for name in original:
        suppressed[name] = pd.Categorical([None] * 50, categories=original[name].cat.categories)
    found = contingency_table_loss(common_bins(original, original, suppressed, variables, variables), 9)
    assert (found.normalised, found.tables) == (1, 7)
    assert np.isnan(contingency_table_loss((), 2).total)


LABELS = ("b", "a", "c", "missing")  # as common bins order them: the most frequent first


def variable(original: list[int], masked: list[int], spread: np.ndarray | None = None) -> CommonBins:
    spread = np.eye(4) if spread is None else spread
    return CommonBins("grade", np.array(original, np.int64), np.array(masked, np.int64), spread, LABELS)


def loss(bins: CommonBins, order: tuple[str, ...] | None = None) -> float:
    return direct_comparison(bins, category_distances(LABELS, order))


def test_by_hand() -> None:
    """Torra (2013): nominal 0 or 1. Ordinal by rank: from a to c is the whole way, from a to b half of it."""
    bins = variable([1, 1, 0, 2], [1, 2, 1, 3])  # a as a, a as c, b as a, c suppressed
    assert loss(bins) == pytest.approx(3 / 4)
    assert loss(bins, ("a", "b", "c")) == pytest.approx((0 + 1 + 0.5 + 1) / 4)


def test_a_category_is_at_no_distance_from_itself() -> None:
    """The slide counts both ends, so that an unchanged file of five categories would lose a fifth."""
    distances = category_distances(LABELS, ("a", "b", "c"))
    assert np.diagonal(distances).tolist() == [0] * 4
    assert distances.tolist() == distances.T.tolist()


def test_a_group_lies_at_the_mean_distance_of_what_it_may_stand_for() -> None:
    spread = np.array([[0.5, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])  # 'a or b', c, missing
    bins = variable([1, 0, 2], [0, 0, 1], spread)
    assert loss(bins) == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert loss(bins, ("a", "b", "c")) == pytest.approx((0.25 + 0.25 + 0) / 3)


codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)


@given(codes, st.booleans())
def test_symmetric_bounded_and_0_for_an_unchanged_file(rows: list[tuple[int, int]], ordinal: bool) -> None:
    order = ("a", "b", "c") if ordinal else None
    before, after = [row[0] for row in rows], [row[1] for row in rows]
    assert loss(variable(before, before), order) == 0
    assert 0 <= loss(variable(before, after), order) <= 1
    assert loss(variable(before, after), order) == pytest.approx(loss(variable(after, before), order))


def test_records_weigh_what_is_said() -> None:
    bins = variable([0, 0], [0, 1])
    assert direct_comparison(bins, category_distances(LABELS), np.array([3.0, 1.0])) == pytest.approx(0.25)
    assert np.isnan(direct_comparison(bins, category_distances(LABELS), np.zeros(2)))


def test_direct_comparison_extremes() -> None:
    assert np.isnan(loss(variable([], [])))
    assert loss(variable([0, 1, 2], [3, 3, 3])) == 1  # all of it suppressed
    assert loss(variable([3, 3], [3, 3])) == 0  # missing as before
    assert category_distances(("a", "missing"), ("a",)).tolist() == [[0, 1], [1, 0]]


def test_refusals() -> None:
    golden.refused(DataError, category_distances, LABELS, ("a", "b"))
    golden.refused(DataError, direct_comparison, variable([0], [0]), category_distances(LABELS[2:]))
    golden.refused(DataError, loss, variable([0, 1], [0]))


def town(original: list[int], masked: list[int], size: int = 4) -> CommonBins:
    labels = (*map(str, range(size - 1)), "missing")
    return CommonBins(
        "town", np.array(original, dtype=np.int64), np.array(masked, dtype=np.int64), np.eye(size), labels
    )


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 9)), max_size=40))
def test_the_counts_are_those_of_a_cross_table(rows: list[tuple[int, int, int]]) -> None:
    original, masked, weight = ([row[at] for row in rows] for at in range(3))
    expected = np.zeros((4, 4))
    for before, after, weighs in rows:
        expected[before, after] += weighs
    assert joint_counts(town(original, masked), np.array(weight, dtype=float)).tolist() == expected.tolist()
    crossed = pd.crosstab(pd.Series(original, dtype=int), pd.Series(masked, dtype=int))
    crossed = crossed.reindex(index=range(4), columns=range(4), fill_value=0)
    assert joint_counts(town(original, masked)).tolist() == crossed.to_numpy().tolist()


def test_no_record_counts_nothing_and_other_lengths_are_refused() -> None:
    assert joint_counts(town([], [])).sum() == 0
    golden.refused(DataError, joint_counts, town([0, 1], [0]))
    golden.refused(DataError, joint_counts, town([0, 1], [0, 1]), np.ones(1))

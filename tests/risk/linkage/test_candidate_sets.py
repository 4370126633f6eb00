"""Links by candidate sets: rank swapping and univariate microaggregation, known to the intruder."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.masking.microaggregation.ordered_microaggregation import individual_ranking_groups, optimal_groups
from sluice.masking.swapping.rank_swapping import swap_sources
from sluice.risk.linkage.candidate_sets import microaggregation_linkage, rank_swapping_linkage
from tests.golden import golden


def numbers(seed, n=80, d=3, levels=None, missing=0.0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, d)) if levels is None else rng.integers(0, levels, size=(n, d)).astype(float)
    values[rng.random((n, d)) < missing] = np.nan
    return values


def swapped(values, window, seed):
    return np.column_stack(
        [
            column[swap_sources(column, np.random.default_rng([seed, j]), window=window)]
            for j, column in enumerate(values.T)
        ]
    )


def group_means(values, groups_of, k=3):
    masked = np.empty_like(values)
    for j, column in enumerate(values.T):
        groups = groups_of(column, k)
        masked[:, j] = (np.bincount(groups, column) / np.bincount(groups))[groups]
    return masked


@given(
    st.integers(0, 2**32), st.sampled_from([0.05, 0.2, 1.0]), st.sampled_from([None, 2, 8]), st.sampled_from([0.0, 0.2])
)
def test_the_own_record_is_always_a_candidate_of_rank_swapping(seed, window, levels, missing):
    original = numbers(seed, levels=levels, missing=missing)
    masked = swapped(original, window, seed)
    assert (rank_swapping_linkage(original, masked, window).size >= 1).all()
    # That the set holds the own record shows when the bounds leave one: it is linked, and to the right one.
    found = rank_swapping_linkage(original, masked, window)
    alone = found.size == 1
    assert (found.links.correct()[alone] == 1).all()


@given(st.integers(0, 2**32), st.sampled_from([individual_ranking_groups, optimal_groups]), st.sampled_from([None, 6]))
def test_a_single_candidate_of_microaggregation_is_the_own_record(seed, groups_of, levels):
    original = numbers(seed, levels=levels)
    found = microaggregation_linkage(original, group_means(original, groups_of))
    assert (found.size >= 1).all()
    assert (found.links.correct()[found.size == 1] == 1).all()


def test_candidates_of_microaggregation_by_hand():
    # Groups 1 2 3 and 4 5 9: means 2 and 6. 1 lies below all means, 4 between them and as near to both, 9 above.
    original = np.array([[1.0], [2], [3], [4], [5], [9]])
    found = microaggregation_linkage(original, np.array([[2.0], [2], [2], [6], [6], [6]]))
    assert found.size.tolist() == [3, 6, 6, 6, 6, 3]
    assert found.links.correct().tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1 / 6, 1 / 3, 1 / 3])


def test_individual_ranking_of_several_variables_gives_records_away():
    # Torra (2013): "microaggregation with individual ranking (univariate) can also be attacked effectively".
    original = numbers(1, n=1000, d=5)
    found = microaggregation_linkage(original, group_means(original, individual_ranking_groups, k=10))
    assert (found.size == 1).mean() > 0.95


def test_rank_swapping_over_the_whole_file_leaves_everybody():
    original = numbers(2)
    found = rank_swapping_linkage(original, swapped(original, 1.0, 2), 1.0)
    assert set(found.size.tolist()) == {80}


def test_a_window_that_is_too_small_finds_no_own_record():
    original = numbers(3, n=400)
    masked = swapped(original, 0.5, 3)
    assert rank_swapping_linkage(original, masked, 0.01).links.correct().mean() < 0.05


@pytest.mark.parametrize(
    "attack", [microaggregation_linkage, lambda a, b, rows=None: rank_swapping_linkage(a, b, 0.1, rows)]
)
def test_order_parts_missing_and_constants(attack):
    original = numbers(4, missing=0.1)
    found = attack(original, original)
    order = np.random.default_rng(4).permutation(80)
    np.testing.assert_array_equal(attack(original[order], original[order]).size, found.size[order])
    part = attack(original, original, rows=order[:9])
    np.testing.assert_array_equal(part.links.as_near, found.links.as_near[order[:9]])
    missing = np.full((5, 2), np.nan)
    assert attack(missing, missing).links.correct().tolist() == [1 / 5] * 5
    constant = np.ones((5, 2))
    assert attack(constant, constant).links.correct().tolist() == [1 / 5] * 5
    one = np.ones((1, 1))
    assert attack(one, one).size.tolist() == [1]
    suppressed = np.array([[1.0], [np.nan], [3.0]])  # a value that the method did not make is no candidate
    assert attack(np.array([[1.0], [2.0], [3.0]]), suppressed).links.correct()[1] == 0


def test_refusals():
    original = numbers(5)
    golden.refused(DataError, rank_swapping_linkage, original, original, 15)
    with pytest.raises(DataError, match="window"):
        rank_swapping_linkage(original, original, 0)
    golden.refused(DataError, rank_swapping_linkage, original, original[:, :2], 0.1)
    golden.refused(DataError, microaggregation_linkage, original[:0], original[:0])

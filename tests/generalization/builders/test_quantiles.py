"""sluice.generalization.draft."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sluice.generalization.draft import balanced_runs, halved
from sluice.ground.errors import DataError
from tests.golden import golden

COUNTS = st.lists(st.integers(0, 60), min_size=2, max_size=40)


def test_quartiles_of_equal_counts_are_those_of_arithmetic() -> None:
    assert balanced_runs([100] * 8, 4, 10) == (0, 2, 4, 6)
    assert halved((0, 2, 4, 6)) == [(0, 2, 4, 6), (0, 4)]
    assert halved(range(5)) == [(0, 1, 2, 3, 4), (0, 2, 4), (0, 4)]


@given(COUNTS, st.integers(2, 10), st.integers(1, 12))
def test_every_run_holds_the_minimum_cell_and_no_rare_value_moves_one(
    counts: list[int], groups: int, minimum_cell: int
) -> None:
    without_rare = [count if count >= minimum_cell else 0 for count in counts]
    try:
        starts = balanced_runs(counts, groups, minimum_cell)
    except DataError:
        with pytest.raises(DataError):
            balanced_runs(without_rare, groups, minimum_cell)
        return
    assert starts == balanced_runs(without_rare, groups, minimum_cell)
    assert starts[0] == 0
    assert 2 <= len(starts) <= groups
    for begin, end in zip(starts, [*starts[1:], len(counts)], strict=True):
        assert sum(counts[begin:end]) >= minimum_cell


@given(COUNTS.filter(lambda counts: sum(counts) > 0), st.integers(2, 6))
def test_with_a_cell_of_one_no_run_is_larger_than_its_share_and_one_value(counts: list[int], groups: int) -> None:
    assume(sum(count > 0 for count in counts) > 1)
    starts = balanced_runs(counts, groups, 1)
    for begin, end in zip(starts, [*starts[1:], len(counts)], strict=True):
        assert sum(counts[begin:end]) <= 1.5 * sum(counts) / groups + max(counts[begin:end])


def test_a_value_that_holds_nearly_all_is_a_run_of_its_own() -> None:
    assert balanced_runs([10, 1000, 10], 4, 10) == (0, 1, 2)


@pytest.mark.parametrize("counts", [[9] * 50, [1000, 9, 9], [5], [0, 0, 500]])
def test_what_cannot_be_cut_safely_is_refused(counts: list[int]) -> None:
    with golden.raises(DataError):
        balanced_runs(counts, 4, 10)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.utility.few_changes import coarse_share, tells_of_few


def few(before: list[float], after: list[float], minimum_cell: int = 3, *, paired: bool = True) -> bool:
    columns = (np.array(values, dtype=np.float64)[:, np.newaxis] for values in (before, after))
    return bool(tells_of_few(*columns, minimum_cell, paired_records=paired)[0])


def test_nobody_or_enough_people_are_not_few() -> None:
    values = [1.0, 2, 3, 4, 5, 6]
    assert not few(values, values)
    assert few(values, [1, 2, 3, 4, 7, 8])
    assert not few(values, [1, 2, 3, 5, 6, 7])
    assert few(values, [1, 2, 3, 4, 5, np.nan])  # one that was blanked
    assert not few(values, [1, 2, 3, 4, 7, 8], minimum_cell=1)


def test_the_p_percent_rule_on_changes() -> None:
    """Hundepool et al. (2012), section 4.2: (sum - first - second) < p % of the first is sensitive, at it is safe."""
    assert few([100, 50, 9, 0], [0, 0, 0, 0])
    assert not few([100, 50, 10, 0], [0, 0, 0, 0])


def test_unpaired_files_are_compared_as_heaps() -> None:
    values = [1.0, 2, 3, 4, 5, 900]
    assert not few(values, values[::-1], paired=False)
    assert few(values, [4, 3, 2, 1, 5, 6], paired=False)
    assert not few(values, [10, 20, 30, 40, 50, 60, 70], paired=False) or few(values, [9.5], paired=False)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=12), st.randoms())
def test_the_order_of_records_is_without_effect(values: list[float], random: "np.random.Generator") -> None:
    other = [value + (1 if place % 2 else 0) for place, value in enumerate(values)]
    order = list(range(len(values)))
    random.shuffle(order)
    moved = [values[at] for at in order], [other[at] for at in order]
    assert few(values, other) == few(*moved)
    assert few(values, other, paired=False) == few(values, moved[1], paired=False)


def test_fewer_than_half_a_cell_are_none_and_more_are_a_cell() -> None:
    assert coarse_share(0.004, 1_000, 10) == 0
    assert coarse_share(0.006, 1_000, 10) == pytest.approx(0.01)
    assert coarse_share(0.3, 1_000, 10) == pytest.approx(0.3)


def test_extremes() -> None:
    assert coarse_share(0.123, 1_000, 1) == 0.123
    assert coarse_share(0.123, 0, 10) == 0.123
    assert coarse_share(0.9, 4, 10) == 0
    assert coarse_share(1.0, 15, 10) <= 1


@given(st.floats(0, 1), st.integers(1, 10_000), st.integers(2, 50))
def test_no_number_of_records_below_the_minimum_is_told(value: float, records: int, minimum_cell: int) -> None:
    told = coarse_share(value, records, minimum_cell) * records
    assert told == 0 or told >= min(minimum_cell, records) - 1e-6

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.utility.coarse_share import coarse_share


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

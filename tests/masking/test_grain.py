"""The grain of numbers in sluice.masking.column_numbers, by hand, and decimals as they are written."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.masking.column_numbers import grain, on_grain


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([35000, 12000, 0], 1000.0),
        ([35725, 12000], 1.0),
        ([1.5, 20, 0.1], 0.1),
        ([-0.25, 3], 0.01),
        ([500_000_000.123, 7], 0.001),
        ([np.pi, 1], 0.0),
        ([1e300, 3e300], 0.0),
        ([0.0, 0.0], 0.0),
        ([], 0.0),
    ],
)
def test_the_grain_is_the_largest_power_of_ten_that_all_are_multiples_of(values: list[float], step: float) -> None:
    assert grain(np.array(values, float)) == step


@given(st.lists(st.integers(-(10**7), 10**7).filter(bool), min_size=1), st.integers(0, 4))
def test_what_is_brought_back_is_written_with_no_more_decimals(whole: list[int], decimals: int) -> None:
    written = np.array([float(Decimal(each).scaleb(-decimals)) for each in whole])
    step = grain(written)
    assert step >= 10.0**-decimals
    assert np.array_equal(on_grain(written, step), written)
    moved = on_grain(written + np.linspace(-0.4, 0.4, len(written)) * step, step)
    assert np.array_equal(moved, written)


def test_without_a_grain_values_stay() -> None:
    values = np.array([0.123456789, np.e])
    assert np.array_equal(on_grain(values, 0.0), values)

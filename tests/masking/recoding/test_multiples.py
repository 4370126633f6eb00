"""Multiples of a decimal base, compared with exact decimal arithmetic."""

from decimal import ROUND_FLOOR, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.masking.recoding.rounding import multiples_around, round_to_multiples


@given(
    value=st.one_of(
        st.floats(-1e6, 1e6),
        st.decimals(-1000, 1000, places=3).map(float),
        st.integers(-4000, 4000).map(lambda number: number / 2 * 0.1),
    ),
    base=st.sampled_from([0.1, 0.01, 0.25, 0.3, 1.0, 2.5, 7.0, 100.0, 1e-3, 365.25]),
)
def test_multiples_agree_with_decimal_arithmetic(value: float, base: float) -> None:
    """An independent figure: the same rule in exact decimal arithmetic on the numbers as they are written."""
    exact, step = Decimal(repr(value)), Decimal(repr(base))
    number = (exact / step + Decimal("0.5")).to_integral_value(rounding=ROUND_FLOOR)
    assert round_to_multiples(np.array([value]), base)[0] == float(number * step)
    low, high = (float(end[0]) for end in multiples_around(np.array([value]), base))
    assert low == float((exact / step).to_integral_value(rounding=ROUND_FLOOR) * step)
    assert low <= value <= high
    assert high == low if value == low else float(Decimal(repr(high)) - Decimal(repr(low))) == pytest.approx(base)

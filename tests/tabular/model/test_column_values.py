"""Whole numbers of units."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.tabular.model.column_values import halves_to_even


@given(st.integers(-(10**6), 10**6), st.sampled_from([1, 2, 10, 1000]))
def test_halves_go_to_the_even_one(numerator: int, denominator: int) -> None:
    assert halves_to_even(np.array([numerator]), denominator)[0] == round(Fraction(numerator, denominator))

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.tabular.contributions import exceeds, largest_first


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=20), st.integers(1, 99))
def test_equal_is_never_more_whatever_the_scale(cents: list[int], factor: int) -> None:
    """The same sum on both sides, once with a tenth of the factor and ten times the values; all in decimals."""
    values = np.array([value / 100 for value in cents])
    tens = np.array([value / 10 for value in cents])
    assert not exceeds((factor, values), (factor / 10, tens))
    assert not exceeds((factor / 10, tens), (factor, values))


def test_a_difference_in_the_last_place_is_seen() -> None:
    large = np.array([2**53, 1])
    assert exceeds((1, large), (1, np.array([2**53])))
    assert not exceeds((1, np.array([2**53])), (1, large))


def test_falling_order() -> None:
    assert largest_first([3, 9, 0, 4], "a rule").tolist() == [9, 4, 3, 0]

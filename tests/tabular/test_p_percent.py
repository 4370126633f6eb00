import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.errors import DataError
from sluice.tabular.p_percent import p_percent

cells = st.lists(st.integers(0, 10**12), min_size=1, max_size=12)


def test_the_cell_of_the_example() -> None:
    """004_1eece6b9d3791e64.txt, "Detection of sensitive cells (II)": 363 - 350 - 4 = 9 is less than 50 % of 350.

    The slide compares with 0.5 * 363, half the total; the rule's words, and this project, with half the largest.
    """
    assert p_percent([350, 4, 3, 3, 3], p=50)
    # A cell that tells the two apart: 100 - 60 - 5 = 35 is at least half of 60, and less than half of 100.
    assert not p_percent([60, 5, 5, 5, 5, 5, 5, 5, 5], p=50)


@settings(max_examples=50, deadline=None)
@given(cells, st.integers(1, 100), st.randoms())
def test_agrees_with_integer_arithmetic_in_any_order(
    contributions: list[int], p: int, random: "np.random.Generator"
) -> None:
    first, _, *rest = [*sorted(contributions, reverse=True), 0]
    expected = 100 * sum(rest) < p * first
    random.shuffle(contributions)
    assert p_percent(contributions, p) == expected
    assert p_percent([value / 8 for value in contributions], p) == expected
    if expected:
        assert p_percent(contributions, 100)  # a larger p asks for more


def test_exactly_on_the_boundary_is_safe() -> None:
    assert not p_percent([40, 6, 4], p=10)  # 50 - 40 - 6 = 4 = 10 % of 40
    assert not p_percent([40, 6, 1, 1, 1, 1], p=10)
    assert not p_percent([0.4, 0.06, 0.03, 0.01], p=10)  # the same in hundredths
    assert p_percent([40.01, 6, 4], p=10)


def test_one_and_two_contributors_are_always_sensitive() -> None:
    for p in (1, 10, 100):
        assert p_percent([22], p)
        assert p_percent([300, 60], p)


def test_an_empty_cell_and_a_cell_of_zeros() -> None:
    assert not p_percent([], p=10)
    assert not p_percent([0, 0, 0], p=10)


def test_refusals() -> None:
    with pytest.raises(DataError, match=r"p of p_percent must be from 1 to 100.*got 0.1. Is it a share\? Use 10\."):
        p_percent([1, 2, 3], p=0.1)
    with pytest.raises(DataError, match="p_percent takes contributions of 0 or more; got a negative one"):
        p_percent([3, 2, -1], p=10)

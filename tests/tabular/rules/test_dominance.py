from fractions import Fraction

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from sluice.tabular.rules.dominance import Dominance, dominance
from tests.tabular.many_cells import contributions_of, lacking, many_cells, percents

cells = st.lists(st.integers(0, 10**12), min_size=1, max_size=12)


def test_the_cell_of_the_example() -> None:
    """Torra (2013), "Detection of sensitive cells (I)": 350 of 363 is more than half."""
    assert dominance([350, 4, 3, 3, 3], n=1, k=50)
    assert not dominance([350, 4, 3, 3, 3], n=1, k=97)


@given(cells, st.integers(1, 4), st.integers(2, 99))
def test_agrees_with_integer_arithmetic(contributions: list[int], n: int, k: int) -> None:
    expected = 100 * sum(sorted(contributions)[-n:]) > k * sum(contributions)
    assert dominance([value / 8 for value in contributions], n, k) == expected  # eighths are exact in binary


def test_exactly_on_the_boundary_is_safe() -> None:
    """As in tau-ARGUS and sdcTable, "more than k percent"; others say "at least"."""
    assert not dominance([0.7, 0.1, 0.1, 0.1], n=1, k=70)  # in binary floating point 100 * 0.7 > 70 * 1.0
    assert not dominance([85, 15], n=1, k=85)
    assert dominance([850001, 149999], n=1, k=85)
    assert not dominance([0.855, 0.145], n=1, k=85.5)


def test_integers_too_large_for_a_double_are_compared_exactly() -> None:
    half = 2**61
    assert not dominance(np.array([half, half]), n=1, k=50)
    assert dominance(np.array([half + 1, half]), n=1, k=50)


@given(many_cells, st.integers(1, 4), percents)
def test_all_cells_at_once_agree_with_fractions(given_cells: list[list[int]], n: int, k: float) -> None:
    """Sensitive, and the level 100 / k * (x1 + ... + xn) - X of Hundepool et al. (2012), section 4.3."""
    assume(n <= k)  # else they are taken for swapped
    decided, rule = contributions_of(given_cells), Dominance(n=n, k=k)
    share = 100 / Fraction(str(k))
    expected = [lacking(share, sum(sorted(cell)[-n:]), sum(cell)) for cell in given_cells]
    assert rule.protection(decided).tolist() == expected
    assert rule.sensitive(decided).tolist() == [dominance(cell, n, k) for cell in given_cells]
    # Who contributes nothing is one fewer of the n who pool what they know.
    expected = [lacking(share, sum(sorted(cell)[-max(n - 1, 1) :]), sum(cell)) for cell in given_cells]
    assert rule.protection(decided, outsider=True).tolist() == expected


def test_after_the_level_the_rule_is_kept() -> None:
    """With a total higher by the level the largest n would hold k percent, and not more; by one unit less, more."""
    for cell, n, k in (([350, 4, 3, 3, 3], 1, 50), ([900, 80, 11, 7], 2, 75), ([7, 1], 1, 33.3)):
        level = int(Dominance(n=n, k=k).protection(contributions_of([cell]))[0])
        assert level > 0
        largest, total = 100 * sum(cell[:n]), Fraction(str(k))
        assert largest <= total * (sum(cell) + level)
        assert largest > total * (sum(cell) + level - 1)


def test_extremes() -> None:
    assert dominance([22], n=1, k=99)  # one contributor holds all
    assert not dominance([22], n=1, k=100)  # and never more than all
    assert not dominance([0, 0], n=1, k=50)
    assert dominance([5, 5], n=2, k=99)

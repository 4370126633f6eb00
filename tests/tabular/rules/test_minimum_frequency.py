import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.tabular.rules.minimum_frequency import MinimumFrequency, minimum_frequency
from sluice.tabular.rules.p_percent import PPercent
from tests.tabular.many_cells import contributions_of, many_cells


def test_the_single_person_of_the_example() -> None:
    """Torra (2013), "Disclosure problems": one person works as P3 in M2, with a salary of 22."""
    assert minimum_frequency([22], n=2)
    assert minimum_frequency([300, 60], n=3)  # two people, 360 together: each learns the other's
    assert not minimum_frequency([300, 60], n=2)


@given(st.lists(st.floats(0, 1e9), max_size=12), st.integers(1, 12))
def test_only_the_number_of_contributors_counts(contributions: list[float], n: int) -> None:
    assert minimum_frequency(contributions, n) == (0 < len(contributions) < n)


@given(many_cells)
def test_a_tenth_stays_open_as_the_p_percent_rule_asks_of_one_or_two(given_cells: list[list[int]]) -> None:
    cells = contributions_of(given_cells)
    few = cells.contributors < 3
    # Of zeros p% asks for nothing; whoever counts contributors has one unit stay open.
    expected = np.maximum(PPercent(p=10).protection(cells), 1)
    assert (MinimumFrequency(n=3).protection(cells) == np.where(few, expected, 0)).all()


def test_the_level_is_a_stated_share_rounded_up() -> None:
    cells = contributions_of([[101], [101, 100], [101, 100, 99]])
    assert MinimumFrequency(n=3, protection_percent=10).protection(cells).tolist() == [11, 11, 0]
    assert MinimumFrequency(n=3, protection_percent=12.5).protection(cells).tolist() == [13, 13, 0]
    # Who takes its own out of a cell of three learns the sum of two, which tells it neither.
    assert MinimumFrequency(n=3).protection(cells, outsider=True).tolist() == [11, 0, 0]


def test_extremes() -> None:
    assert minimum_frequency([0.0, 0.0], n=3)  # a contributor of 0 counts as one
    assert not minimum_frequency([0.0, 0.0, 0.0], n=3)
    assert minimum_frequency([0, 5], n=3)
    zeros = contributions_of([[0, 0], [0, 5], [0]])
    assert MinimumFrequency(n=3, zeros_safe=True).sensitive(zeros).tolist() == [False, True, False]
    assert not minimum_frequency([1], n=1)

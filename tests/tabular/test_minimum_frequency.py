import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.errors import DataError
from sluice.tabular.minimum_frequency import minimum_frequency


def test_the_single_person_of_the_example() -> None:
    """004_1eece6b9d3791e64.txt, "Disclosure problems": one person works as P3 in M2, with a salary of 22."""
    assert minimum_frequency([22], n=2)
    assert minimum_frequency([300, 60], n=3)  # two people, 360 together: each learns the other's
    assert not minimum_frequency([300, 60], n=2)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1e9), max_size=12), st.integers(1, 12))
def test_only_the_number_of_contributors_counts(contributions: list[float], n: int) -> None:
    assert minimum_frequency(contributions, n) == (0 < len(contributions) < n)


def test_extremes() -> None:
    assert not minimum_frequency([], n=3)  # an empty cell speaks of nobody
    assert minimum_frequency([0.0, 0.0], n=3)  # a contributor of 0 counts as one
    assert not minimum_frequency([0.0, 0.0, 0.0], n=3)
    assert not minimum_frequency([1], n=1)


def test_refusals() -> None:
    with pytest.raises(DataError, match="n of minimum_frequency must be 1 or more; got 0"):
        minimum_frequency([1, 2], n=0)
    with pytest.raises(DataError, match="minimum_frequency takes contributions of 0 or more; got a negative one"):
        minimum_frequency([1, -2], n=3)

"""Intervals of histograms: even ones, and others where a tail would leave nearly all values in one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.variables import Kind
from sluice.utility.histogram_intervals import intervals


def shares(values: np.ndarray, edges: list[float]) -> np.ndarray:
    return np.histogram(values, [-np.inf, *edges, np.inf])[0] / len(values)


def test_a_uniform_variable_has_even_intervals() -> None:
    edges, names = intervals(np.arange(1000.0), Kind.INTEGER, 10)
    assert edges == [100.0 * step for step in range(1, 10)]
    assert names[:2] == ("under 100", "100 to 199")


def test_a_long_tail_has_growing_intervals_that_no_one_fills() -> None:
    incomes = np.sort(np.random.default_rng(1).lognormal(10, 2, 20_000))
    edges, names = intervals(incomes, Kind.CONTINUOUS, 10)
    assert shares(incomes, edges).max() < 0.4
    assert "10,000 to 20,000" in names or "10,000 to 30,000" in names
    assert (shares(incomes, edges)[[0, -1]] > 0.005).all()


def test_a_tail_on_both_sides_of_zero_has_equal_shares() -> None:
    values = np.sort(np.random.default_rng(1).standard_t(0.7, 20_000))
    edges, names = intervals(values, Kind.CONTINUOUS, 10)
    assert shares(values, edges).max() < 0.2
    assert len(names) == len(edges) + 1


def test_zeros_stay_one_interval_and_the_others_are_spread() -> None:
    gains = np.sort(np.concatenate([np.zeros(9_000), np.round(np.random.default_rng(2).lognormal(8, 1, 1_000))]))
    edges, names = intervals(gains, Kind.INTEGER, 10)
    found = shares(gains, edges)
    assert found[0] >= 0.9
    assert found[1:].max() < 0.05
    assert all("." not in name for name in names)


@pytest.mark.parametrize("kind", [Kind.CONTINUOUS, Kind.INTEGER])
@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=150), st.integers(3, 20))
def test_enough_values_lie_in_either_open_interval(kind: Kind, given: list[float], minimum: int) -> None:
    values = np.sort(np.round(given) if kind is Kind.INTEGER else np.array(given, dtype=float))
    edges, names = intervals(values, kind, minimum)
    assert len(names) == (len(edges) + 1 if edges else 0)
    assert edges == sorted(set(edges))
    if edges:
        assert (values < edges[0]).sum() >= minimum
        assert (values >= edges[-1]).sum() >= minimum


def test_what_is_too_few_or_too_much_alike_has_none() -> None:
    assert intervals(np.full(99, 4.0), Kind.CONTINUOUS, 3) == ([], ())
    assert intervals(np.array([1.0, 2.0]), Kind.CONTINUOUS, 3) == ([], ())
    assert intervals(np.array([]), Kind.CONTINUOUS, 3) == ([], ())

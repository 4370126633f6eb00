"""The front of undominated plans."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.report.risk_utility_map import pareto_front
from tests.golden import golden

COORDINATE = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, np.inf, np.nan])


def dominated(at: int, loss: list[float], risk: list[float]) -> bool:
    """Directly by the definition."""
    return any(
        loss[other] <= loss[at] and risk[other] <= risk[at] and (loss[other] < loss[at] or risk[other] < risk[at])
        for other in range(len(loss))
    )


@given(st.lists(st.tuples(COORDINATE, COORDINATE), max_size=12))
def test_the_front_is_what_no_other_point_dominates(points: list[tuple[float, float]]) -> None:
    loss, risk = [point[0] for point in points], [point[1] for point in points]
    expected = [
        not np.isnan(points[at]).any() and not dominated(at, loss, risk) for at in range(len(points))
    ]  # a comparison with NaN is false, so that it dominates nothing
    assert pareto_front(np.array(loss), np.array(risk)).tolist() == expected


def test_equal_points_are_on_the_front_together_and_one_alone_always_is() -> None:
    assert pareto_front(np.array([1.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0])).tolist() == [True, True, False]
    assert pareto_front(np.array([3.0]), np.array([np.inf])).tolist() == [True]
    assert pareto_front(np.array([]), np.array([])).tolist() == []


def test_unequal_lengths_are_refused() -> None:
    with golden.raises(DataError):
        pareto_front(np.zeros(2), np.zeros(3))

"""Rulers: equal records are shared alike, however many of them a list holds."""

import numpy as np
import pytest

from sluice.risk.linkage.learned_rulers import by_distance


@pytest.mark.parametrize("people", [5, 100])
def test_one_of_many_equal_records_is_found_by_luck(people: int) -> None:
    points = np.zeros((2 * people, 1))
    points[people:] = 1.0
    found = by_distance(points, points, np.arange(2 * people), candidates=10).found
    assert found == pytest.approx(1 / people)


def test_a_nearer_record_of_somebody_else_is_taken() -> None:
    original, released = np.array([[0.0], [5.0]]), np.array([[2.0], [1.0]])
    assert by_distance(original, released, np.array([0, 1]), candidates=1).found.tolist() == [0, 0]

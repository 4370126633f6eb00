"""Rulers: equal records are shared alike, however many of them a list holds."""

import numpy as np
import pytest

from sluice.risk.coded_points import Coded, CodedPoints
from sluice.risk.linkage.learned_linker import Candidates
from sluice.risk.linkage.learned_rulers import by_distance, by_product, whitened


def nearest(original, released, rows) -> Candidates:  # type: ignore[no-untyped-def]
    return by_distance(original[rows], released, rows, candidates=5)


@pytest.mark.parametrize("people", [5, 100])
def test_one_of_many_equal_records_is_found_by_luck(people: int) -> None:
    points = np.zeros((2 * people, 1))
    points[people:] = 1.0
    found = by_distance(points, points, np.arange(2 * people), candidates=10).found
    assert found == pytest.approx(1 / people)


def test_a_nearer_record_of_somebody_else_is_taken() -> None:
    original, released = np.array([[0.0], [5.0]]), np.array([[2.0], [1.0]])
    assert by_distance(original, released, np.array([0, 1]), candidates=1).found.tolist() == [0, 0]


def test_points_that_are_worked_out_are_ranked_like_those_that_stand_there() -> None:
    rng = np.random.default_rng(4)
    original = np.round(rng.normal(size=(400, 3)) @ rng.normal(size=(3, 3)), 1)
    released = original + np.round(rng.normal(size=(400, 3)), 1)
    learning, judged = np.arange(0, 400, 2), np.arange(1, 400, 2)
    sides = (original, released), tuple(CodedPoints([Coded(points)], 400) for points in (original, released))
    for ruler in (lambda *points: points, lambda *points: whitened(*points, learning)):
        held, worked_out = (nearest(*ruler(*points), judged) for points in sides)
        np.testing.assert_allclose(worked_out.own, held.own, rtol=1e-6)
        np.testing.assert_allclose(worked_out.scores, held.scores, rtol=1e-6)
        np.testing.assert_allclose(worked_out.found, held.found)


@pytest.mark.parametrize("step", [0.5, 1e-6])
def test_a_product_of_matrices_ranks_like_the_search(step: float) -> None:
    """Also where many records are equal, more than a list holds."""
    rng = np.random.default_rng(5)
    original = np.round(rng.normal(size=(300, 2)) / step) * step
    released = np.round((original + 0.3 * rng.normal(size=(300, 2))) / step) * step
    rows = np.arange(0, 300, 3)
    one = by_product(original[rows], released, np.arange(300), rows, 5)
    other = by_distance(original[rows], released, rows, 5)
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-8)
    np.testing.assert_allclose(one.own, other.own)
    listed = other.ties < 5
    np.testing.assert_array_equal(one.ties[listed], other.ties[listed])
    assert (one.ties >= other.ties).all()  # beyond the list the search counts equal records, not equal distances
    some = np.union1d(rows, np.arange(0, 300, 2))
    among = by_product(original[rows], released[some], some, rows, 5)
    assert set(among.rows.ravel()) <= set(some)
    assert (among.scores <= one.scores).all()

"""Nearest neighbours among other households, against all distances at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.coded_points import Points
from sluice.risk.distances import neighbours_of_others
from sluice.risk.distances.neighbours import Neighbours, nearest_neighbours
from sluice.risk.distances.neighbours_of_others import nearest_of_others


@given(st.integers(0, 10_000), st.sampled_from([1, 3, 40]), st.sampled_from([3, 50]))
def test_the_nearest_of_other_units_by_all_distances(seed: int, largest: int, values: int) -> None:
    """Few values: most points stand several times, some of them in the query's own unit."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, values, (90, 2)).astype(float)
    theirs = rng.integers(0, 90 // largest, 90)
    rows = rng.choice(90, 30, replace=False)
    found = nearest_of_others(points[rows], points, 3, theirs[rows], theirs)
    apart = np.linalg.norm(points[rows][:, None] - points[None], axis=2)
    apart[theirs[rows][:, None] == theirs[None]] = np.inf
    np.testing.assert_allclose(found.distance, np.sort(apart, axis=1)[:, :3])
    named = np.linalg.norm(points[rows][:, None] - points[found.index], axis=2)
    np.testing.assert_allclose(named, found.distance)


@given(st.integers(0, 10_000), st.sampled_from([3, 50]), st.sampled_from([0.0, 100.0]))
def test_large_units_whose_own_records_are_nearest(seed: int, values: int, apart: float) -> None:
    """More of the own unit are near than are asked for; some are of small units, which lie among the others."""
    rng = np.random.default_rng(seed)
    theirs = np.where(rng.random(400) < 0.05, rng.integers(5, 20, 400), rng.integers(0, 5, 400))
    points = rng.integers(0, values, (400, 2)) + apart * np.minimum(theirs, 5)[:, None]
    rows = rng.choice(400, 30, replace=False)
    found = nearest_of_others(points[rows], points, 4, theirs[rows], theirs)
    away = np.linalg.norm(points[rows][:, None] - points[None], axis=2)
    named = np.take_along_axis(away, found.index, axis=1)
    np.testing.assert_allclose(named, found.distance)
    away[theirs[rows][:, None] == theirs[None]] = np.inf
    np.testing.assert_allclose(found.distance, np.sort(away, axis=1)[:, :4])


def test_no_search_for_each_large_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 60 tight units of 70, each searched for by itself, each would cost a look at all points."""
    searches = list[int]()

    def counted(queries: Points, points: Points, k: int) -> Neighbours:
        searches.append(len(queries))
        return nearest_neighbours(queries, points, k)

    monkeypatch.setattr(neighbours_of_others, "nearest_neighbours", counted)
    units = np.repeat(np.arange(60), 70)
    points = 100.0 * units[:, None] + np.random.default_rng(0).random((len(units), 2))
    found = nearest_of_others(points, points, 3, units, units)
    assert (units[found.index] != units[:, None]).all()
    assert len(searches) <= 1 + 2 * 6


def test_a_unit_that_leaves_too_few_is_refused() -> None:
    points, units = np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match="other units"):
        nearest_of_others(points, points, 4, units, units)

"""Nearest neighbours: beside scikit-learn's brute force, under ties and copies, and at the ends of their range."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from sluice.risk.coded_points import ByCategory, Coded, CodedPoints
from sluice.risk.distances import neighbours as module
from sluice.risk.distances.neighbours import nearest_neighbours, places_by_copies
from tests.golden import golden


@pytest.fixture(params=[(4, 1), (4, 10**9), (1000, 1)], ids=["few axes first", "points as they come", "all axes"])
def main_axes(request, monkeypatch):
    """All ways of the screen, however many records and queries there are."""
    axes, many = request.param
    monkeypatch.setattr(module, "_MAIN_AXES", (axes,))
    monkeypatch.setattr(module, "_MANY", many)
    return axes


@pytest.mark.parametrize("dimensions", [1, 4, 30])
def test_agrees_with_scikit_learn(main_axes, dimensions):
    # Independent implementation: sklearn.neighbors.NearestNeighbors, algorithm="brute".
    rng = np.random.default_rng(1)
    points, queries = rng.normal(size=(2500, dimensions)), rng.normal(size=(300, dimensions))
    distance, index = NearestNeighbors(n_neighbors=7, algorithm="brute").fit(points).kneighbors(queries)
    found = nearest_neighbours(queries, points, 7)
    np.testing.assert_allclose(found.distance, distance, rtol=1e-9, atol=1e-7)
    if dimensions > 1:  # in one dimension brute force by expanded squares confuses near ties
        np.testing.assert_array_equal(found.index, index)


def by_definition(queries, points, k, own_row):
    """Distances by differences, each query's own row left out by its place."""
    squared = ((queries[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    for query, row in enumerate(own_row):
        if row >= 0:
            squared[query, row] = np.inf
    return np.sqrt(np.sort(squared, axis=1)[:, :k])


@given(data=st.data(), few=st.booleans(), laid_out=st.booleans())
def test_every_tie_and_copy_is_counted(data, few, laid_out):
    dimensions, m = data.draw(st.integers(1, 12)), data.draw(st.integers(3, 40))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    points = rng.integers(0, data.draw(st.integers(1, 4)), (m, dimensions)).astype(float)
    rows = rng.integers(0, m, 10)
    own_row = np.where(rng.random(10) < 0.5, rows, -1)
    k = data.draw(st.integers(1, m - 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MAIN_AXES", (2 if few else 1000,))
        patch.setattr(module, "_MANY", 1 if laid_out else 10**9)
        found = nearest_neighbours(points[rows], points, k, own_row)
    expected = by_definition(points[rows], points, k, own_row)
    np.testing.assert_allclose(found.distance, expected, rtol=1e-11)
    np.testing.assert_allclose(
        np.sqrt(((points[rows][:, None] - points[found.index]) ** 2).sum(axis=2)), expected, rtol=1e-11
    )


@given(seed=st.integers(0, 2**32), few=st.booleans(), laid_out=st.booleans())
def test_the_order_of_the_rows_does_not_show(seed, few, laid_out):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, (60, 4)) * 0.1  # many points tie for the last place
    queries = rng.integers(0, 3, (20, 4)) * 0.1
    shuffled = points[rng.permutation(60)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MAIN_AXES", (2 if few else 1000,))
        patch.setattr(module, "_MANY", 1 if laid_out else 10**9)
        one, other = nearest_neighbours(queries, points, 5), nearest_neighbours(queries, shuffled, 5)
    np.testing.assert_array_equal(points[one.index], shuffled[other.index])


def test_left_out_by_place_not_by_value(main_axes):
    points = np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]])
    found = nearest_neighbours(points, points, 1, own_row=np.arange(3))
    np.testing.assert_array_equal(found.distance[:, 0], [0.0, 0.0, 5.0])  # twins find one another


def test_a_copy_lies_at_zero_exactly_even_far_from_the_origin(main_axes):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(500, 15)) + 1e6
    assert (nearest_neighbours(points, points, 1).distance == 0).all()
    moved = points + 1e-6
    np.testing.assert_allclose(nearest_neighbours(moved, points, 1).distance, 1e-6 * np.sqrt(15), rtol=1e-3)


def test_an_outlier_does_not_blur_the_screen(main_axes):
    rng = np.random.default_rng(3)
    points = np.vstack([rng.normal(size=(3000, 12)), np.full((1, 12), 1e30)])
    queries = rng.normal(size=(50, 12))
    np.testing.assert_allclose(
        nearest_neighbours(queries, points, 5).distance, by_definition(queries, points, 5, [-1] * 50), rtol=1e-11
    )


def test_all_points_can_be_asked_for(main_axes):
    points = np.array([[0.0], [1.0], [1.0], [4.0]])
    np.testing.assert_array_equal(nearest_neighbours(np.array([[0.0]]), points, 4).distance, [[0, 1, 1, 4]])
    found = nearest_neighbours(np.array([[0.0]]), points, 3, own_row=np.array([0]))
    np.testing.assert_array_equal(found.distance, [[1, 1, 4]])


def test_no_query(main_axes):
    assert nearest_neighbours(np.zeros((0, 3)), np.ones((4, 3)), 2).distance.shape == (0, 2)


@pytest.mark.parametrize(
    ("queries", "points", "k"),
    [
        (np.zeros((1, 2)), np.zeros((3, 2)), 4),
        (np.zeros((1, 2)), np.zeros((3, 2)), 0),
        (np.zeros((1, 2)), np.zeros((3, 3)), 1),
        (np.zeros((1, 0)), np.zeros((3, 0)), 1),
        (np.array([[np.nan]]), np.zeros((3, 1)), 1),
        (np.zeros((1, 1)), np.array([[np.inf], [0.0]]), 1),
    ],
)
def test_refusals(queries, points, k):
    golden.refused(ValueError, nearest_neighbours, queries, points, k)


@pytest.mark.parametrize("dimensions", [6, 24])
def test_many_queries_choose_how_many_axes_to_look_at_first(dimensions):
    # Two factors behind all columns, a few far-off points; beside scikit-learn's brute force.
    rng = np.random.default_rng(4)
    data = rng.normal(size=(10_000, 2)) @ rng.normal(size=(2, dimensions)) + 0.2 * rng.normal(size=(10_000, dimensions))
    data[:7] *= 1e4
    queries, points = data[:9000], data[2000:]
    own = np.where(np.arange(9000) >= 2000, np.arange(9000) - 2000, -1)
    found = nearest_neighbours(queries, points, 3, own)
    some = np.flatnonzero(own >= 0)[::10]
    distance, index = NearestNeighbors(n_neighbors=4, algorithm="kd_tree").fit(points).kneighbors(queries[some])
    np.testing.assert_array_equal(index[:, 0], own[some])  # what is left out
    np.testing.assert_array_equal(found.index[some], index[:, 1:])
    np.testing.assert_allclose(found.distance[some], distance[:, 1:], rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-30, 1e-18, 1e18, 1e25, 1e60])
def test_scales_that_single_precision_cannot_hold(scale, main_axes):
    rng = np.random.default_rng(5)
    points, queries = rng.normal(size=(300, 12)), rng.normal(size=(20, 12))
    found = nearest_neighbours(queries * scale, points * scale, 4)
    np.testing.assert_array_equal(found.index, nearest_neighbours(queries, points, 4).index)
    np.testing.assert_allclose(found.distance, by_definition(queries, points, 4, [-1] * 20) * scale, rtol=1e-11)


@pytest.mark.parametrize("values", [3, 1000], ids=["many ties", "few ties"])
def test_the_same_is_found_in_whatever_parts_the_points_are_searched(monkeypatch, values):
    # To the last bit and to the row: a file that is searched in parts is judged like one that is not.
    rng = np.random.default_rng(8)
    points = rng.integers(0, values, (1200, 6)).astype(float)
    rows = np.sort(rng.choice(1200, 150, replace=False))
    monkeypatch.setattr(module, "_MANY", 1)
    whole = nearest_neighbours(points[rows], points, 5, own_row=rows)
    for together, many in ((7, 1), (65, 1), (65, 10**9), (1000, 1), (1000, 10**9), (10**9, 10**9)):
        monkeypatch.setattr(module, "_COORDINATES", 6 * together)
        monkeypatch.setattr(module, "_MANY", many)
        parts = nearest_neighbours(points[rows], points, 5, own_row=rows)
        np.testing.assert_array_equal(parts.distance, whole.distance)
        np.testing.assert_array_equal(parts.index, whole.index)


def test_points_that_are_worked_out_are_found_like_those_that_stand_there(monkeypatch):
    rng = np.random.default_rng(9)
    coded = CodedPoints(
        [ByCategory(rng.normal(size=(8, 3)), rng.integers(-1, 7, 900)), Coded(rng.normal(size=(900, 2)))], 900
    )
    queries = rng.normal(size=(50, 5))
    expected = nearest_neighbours(queries, coded[:], 4)
    monkeypatch.setattr(module, "_COORDINATES", 500)
    found = nearest_neighbours(queries, coded, 4)
    np.testing.assert_array_equal(found.distance, expected.distance)
    np.testing.assert_array_equal(found.index, expected.index)


def test_places_take_no_memory_for_each_pair_of_them():
    copies = np.random.default_rng(1).integers(0, 4, (400, 250))
    tracemalloc.start()
    try:
        places = places_by_copies(copies, 250)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * 8 * copies.size  # 25 MB as pairs
    expected = [np.repeat(np.arange(250), row)[:250] for row in copies]
    np.testing.assert_array_equal(places, expected)

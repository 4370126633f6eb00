"""Nearest neighbours: beside scikit-learn's brute force, under ties and copies, and at the ends of their range."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from sluice.risk import neighbours as module
from sluice.risk.neighbours import nearest_neighbours


@pytest.fixture(params=["tree", "matrix product"])
def road(request, monkeypatch):
    """Both roads, whatever the dimension of the data at hand."""
    monkeypatch.setattr(module, "_TREE_DIMENSIONS", 1000 if request.param == "tree" else 0)
    return request.param


@pytest.mark.parametrize("dimensions", [1, 4, 30])
def test_agrees_with_scikit_learn(road, dimensions):
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


@settings(max_examples=50, deadline=None)
@given(data=st.data(), tree=st.booleans())
def test_every_tie_and_copy_is_counted(data, tree):
    dimensions, m = data.draw(st.integers(1, 12)), data.draw(st.integers(3, 40))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    points = rng.integers(0, data.draw(st.integers(1, 4)), (m, dimensions)).astype(float)
    rows = rng.integers(0, m, 10)
    own_row = np.where(rng.random(10) < 0.5, rows, -1)
    k = data.draw(st.integers(1, m - 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_TREE_DIMENSIONS", 1000 if tree else 0)
        found = nearest_neighbours(points[rows], points, k, own_row)
    expected = by_definition(points[rows], points, k, own_row)
    np.testing.assert_allclose(found.distance, expected, rtol=1e-11)
    np.testing.assert_allclose(
        np.sqrt(((points[rows][:, None] - points[found.index]) ** 2).sum(axis=2)), expected, rtol=1e-11
    )


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), tree=st.booleans())
def test_the_order_of_the_rows_does_not_show(seed, tree):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, (60, 4)) * 0.1  # many points tie for the last place
    queries = rng.integers(0, 3, (20, 4)) * 0.1
    shuffled = points[rng.permutation(60)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_TREE_DIMENSIONS", 1000 if tree else 0)
        one, other = nearest_neighbours(queries, points, 5), nearest_neighbours(queries, shuffled, 5)
    np.testing.assert_array_equal(points[one.index], shuffled[other.index])


def test_left_out_by_place_not_by_value(road):
    points = np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]])
    found = nearest_neighbours(points, points, 1, own_row=np.arange(3))
    np.testing.assert_array_equal(found.distance[:, 0], [0.0, 0.0, 5.0])  # twins find one another


def test_a_copy_lies_at_zero_exactly_even_far_from_the_origin(road):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(500, 15)) + 1e6
    assert (nearest_neighbours(points, points, 1).distance == 0).all()
    moved = points + 1e-6
    np.testing.assert_allclose(nearest_neighbours(moved, points, 1).distance, 1e-6 * np.sqrt(15), rtol=1e-3)


def test_an_outlier_does_not_blur_the_screen(road):
    rng = np.random.default_rng(3)
    points = np.vstack([rng.normal(size=(3000, 12)), np.full((1, 12), 1e30)])
    queries = rng.normal(size=(50, 12))
    np.testing.assert_allclose(
        nearest_neighbours(queries, points, 5).distance, by_definition(queries, points, 5, [-1] * 50), rtol=1e-11
    )


def test_all_points_can_be_asked_for(road):
    points = np.array([[0.0], [1.0], [1.0], [4.0]])
    np.testing.assert_array_equal(nearest_neighbours(np.array([[0.0]]), points, 4).distance, [[0, 1, 1, 4]])
    found = nearest_neighbours(np.array([[0.0]]), points, 3, own_row=np.array([0]))
    np.testing.assert_array_equal(found.distance, [[1, 1, 4]])


def test_no_query(road):
    assert nearest_neighbours(np.zeros((0, 3)), np.ones((4, 3)), 2).distance.shape == (0, 2)


@pytest.mark.parametrize(
    ("queries", "points", "k", "says"),
    [
        (np.zeros((1, 2)), np.zeros((3, 2)), 4, "k must be from 1"),
        (np.zeros((1, 2)), np.zeros((3, 2)), 0, "k must be from 1"),
        (np.zeros((1, 2)), np.zeros((3, 3)), 1, "shape"),
        (np.zeros((1, 0)), np.zeros((3, 0)), 1, "shape"),
        (np.array([[np.nan]]), np.zeros((3, 1)), 1, "finite"),
        (np.zeros((1, 1)), np.array([[np.inf], [0.0]]), 1, "finite"),
    ],
)
def test_refusals(queries, points, k, says):
    with pytest.raises(ValueError, match=says):
        nearest_neighbours(queries, points, k)


def test_leaving_oneself_out_leaves_one_point_less():
    with pytest.raises(ValueError, match="3; got 4"):
        nearest_neighbours(np.zeros((4, 2)), np.zeros((4, 2)), 4, own_row=np.arange(4))

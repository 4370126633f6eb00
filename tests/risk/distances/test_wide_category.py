"""A category of hundreds of codes beside other coordinates: the same neighbours as with a coordinate for each code."""

import numpy as np
import pytest

from sluice.risk.coded_points import ByCategory, Coded, CodedPoints
from sluice.risk.distances import wide_category
from sluice.risk.distances.neighbours import nearest_neighbours

CODES = 300


def drawn(n: int, seed: int, missing: float = 0.0, height: float = 2.0, whole: bool = False) -> CodedPoints:
    """Numbers, and a category of codes of which few are frequent, dummy-coded; a missing value lies in the middle."""
    rng = np.random.default_rng(seed)
    table = np.full((CODES + 1, CODES), -1.0)
    np.fill_diagonal(table, height - 1.0)
    table[-1] = rng.random(CODES) / CODES - 1
    codes = np.minimum(rng.geometric(0.03, n) - 1, CODES - 1)
    codes[rng.random(n) < missing] = -1
    numbers = rng.normal(size=(n, 3))
    return CodedPoints([Coded(numbers.round() if whole else numbers), ByCategory(table, codes)], n)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("whole", [False, True], ids=["numbers", "with ties and copies"])
@pytest.mark.parametrize("heights", [(2.0, 2.0), (2.0, 3.5)], ids=["one scale", "each file by its own"])
@pytest.mark.parametrize("scanned", [10, 4_096])
def test_the_neighbours_are_those_of_all_coordinates(monkeypatch, missing, whole, heights, scanned):
    monkeypatch.setattr(wide_category, "_SCANNED", scanned)
    queries = drawn(200, 1, missing, heights[0], whole)
    points = drawn(700, 2, missing, heights[1], whole)
    assert wide_category.WideCategory.of(queries, points) is not None
    found, expected = nearest_neighbours(queries, points, 4), nearest_neighbours(queries[:], points, 4)
    np.testing.assert_allclose(found.distance, expected.distance, rtol=1e-11)
    np.testing.assert_array_equal(found.index, expected.index)


def test_the_own_record_is_left_out_and_copies_of_it_stay():
    points = drawn(500, 3, 0.05, whole=True)
    rows = np.arange(0, 500, 3)
    found = nearest_neighbours(points.take(rows), points, 5, own_row=rows)
    expected = nearest_neighbours(points[rows], points, 5, own_row=rows)
    np.testing.assert_allclose(found.distance, expected.distance, rtol=1e-11)
    np.testing.assert_array_equal(found.index, expected.index)
    assert (nearest_neighbours(points.take(rows), points, 1).distance == 0).all()


def test_standardised_points_are_parted_like_others():
    queries, points = drawn(150, 4), drawn(600, 5)
    rng = np.random.default_rng(6)
    centre, scale = np.append(rng.normal(size=3), np.full(CODES, -1.0)), rng.random(3 + CODES) + 0.5
    mine, theirs = queries.standardised(centre, scale), points.standardised(centre, 2 * scale)
    assert wide_category.WideCategory.of(mine, theirs) is not None
    found, expected = nearest_neighbours(mine, theirs, 3), nearest_neighbours(mine[:], theirs, 3)
    np.testing.assert_allclose(found.distance, expected.distance, rtol=1e-11)
    np.testing.assert_array_equal(found.index, expected.index)


def test_narrow_and_turned_points_are_left_as_they_are():
    points = drawn(400, 7)
    turned = points.turned(0.0, np.eye(CODES + 3))
    assert wide_category.WideCategory.of(turned, turned) is None
    few = CodedPoints([Coded(np.ones((5, 1))), ByCategory(np.eye(4), np.arange(5) % 4)], 5)
    assert wide_category.WideCategory.of(few, few) is None
    scattered = ByCategory(np.random.default_rng(8).normal(size=(CODES + 1, CODES)), np.arange(400) % CODES)
    elsewhere = CodedPoints([Coded(np.ones((400, 1))), scattered], 400)
    assert wide_category.WideCategory.of(elsewhere, elsewhere) is None


def test_the_variance_within_groups_is_that_of_all_coordinates():
    points = drawn(300, 9, 0.1)
    groups = np.random.default_rng(10).integers(0, 300, (50, 5))
    groups[0] = groups[0, 0]
    found = wide_category.variance_within(points, groups)
    assert found is not None
    np.testing.assert_allclose(found, points[groups].var(axis=1, ddof=1).mean(axis=1), rtol=1e-10)
    assert found[0] == 0
    assert wide_category.variance_within(points[:], groups) is None

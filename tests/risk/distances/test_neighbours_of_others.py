"""Nearest neighbours among other households, against all distances at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_a_unit_that_leaves_too_few_is_refused() -> None:
    points, units = np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match="other units"):
        nearest_of_others(points, points, 4, units, units)

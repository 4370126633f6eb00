"""Tables of codes are added up as numpy does, however skewed, long or large."""

import numpy as np
import pytest

from sluice.utility.marginals_kernel import add_up, count
from sluice.utility.propensity_kernel import add_by_code


@pytest.mark.parametrize("records", [0, 1, 3, 4, 1001])
@pytest.mark.parametrize("levels", [3, 200])  # the larger table has more cells than are added up side by side
def test_sums_are_those_of_numpy(records: int, levels: int) -> None:
    rng = np.random.default_rng(records)
    left, right = (np.where(rng.random(records) < 0.8, 0, rng.integers(0, levels, records)) for _ in range(2))
    weight = rng.random(records)
    cell, cells = left * levels + right, levels * levels
    counts, sums, by_code = np.zeros(cells, np.int32), np.zeros(cells), np.zeros(levels)
    count(left.astype(np.uint8), right.astype(np.uint8), levels, counts)
    add_up(left.astype(np.uint8), right.astype(np.uint8), levels, weight, sums)
    add_by_code(weight, left.astype(np.uint8), by_code)
    np.testing.assert_array_equal(counts, np.bincount(cell, minlength=cells))
    np.testing.assert_allclose(sums, np.bincount(cell, weight, cells))
    np.testing.assert_allclose(by_code, np.bincount(left, weight, levels))

"""The grid of a curve: what may be shown of a distribution without showing a person."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.reference.reference_attack import curve_grid, shares_at


def steps(values, grid):
    """Records in each step of the grid, the part above it last."""
    counts = np.round(np.array([0, *shares_at(values, grid), 1]) * len(values)).astype(int)
    return np.diff(counts)


@given(seed=st.integers(0, 2**32), n=st.integers(1, 400), m=st.integers(1, 400), cell=st.integers(1, 40))
def test_every_step_holds_nobody_or_a_crowd(seed, n, m, cell):
    rng = np.random.default_rng(seed)
    masked, reference = rng.gamma(2, size=n), np.round(rng.gamma(3, size=m), 1)
    grid = curve_grid(masked, reference, cell)
    assert list(grid) == sorted(set(grid))
    for values in (masked, reference):
        if grid:
            counts = steps(values, grid)
            assert ((counts == 0) | (counts >= cell)).all()


def test_an_extreme_is_not_seen():
    values = np.append(np.linspace(0, 1, 1000), 77.0)
    grid = curve_grid(values, values, 10)
    assert max(grid) <= 1
    assert shares_at(values, grid)[-1] < 1
    assert len(grid) > 50


def test_copies_and_an_empty_distribution():
    grid = curve_grid(np.zeros(500), np.linspace(0.2, 1, 500), 10)
    assert grid[0] == 0
    assert shares_at(np.zeros(500), grid)[0] == 1
    assert curve_grid(np.zeros(0), np.zeros(0), 10) == ()
    assert curve_grid(np.array([1.0, 2.0]), np.array([1.5]), 10) == ()

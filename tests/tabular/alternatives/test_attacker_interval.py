"""An attacker's intervals, compared with one linear program of SciPy for each cell and side."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array

from sluice.tabular.alternatives.attacker_interval import attacker_interval
from sluice.tabular.model.cells import Cells
from tests.golden import golden
from tests.tabular.tables import tables


@pytest.mark.chain
@given(tables(most=12), st.integers(0, 2**32 - 1))
def test_as_far_as_scipy_finds(cells: Cells, seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = len(cells)
    low = cells.total - rng.integers(0, 6, count).astype(float)
    high = cells.total + rng.integers(0, 6, count).astype(float)
    lower, upper = rng.integers(0, 8, count), rng.integers(0, 8, count)
    down, up = attacker_interval(cells.equations, cells.total, low, high, lower, upper)
    for cell in rng.permutation(count)[:3]:
        for sign, reached, required in ((-1, down, lower), (1, up, upper)):
            gain = np.zeros(count)
            gain[cell] = -sign
            best = linprog(
                gain,
                A_eq=cells.equations,
                b_eq=np.zeros(cells.equations.shape[0]),
                bounds=np.column_stack([low - cells.total, high - cells.total]),
            )
            most = np.floor(min(-best.fun, required[cell]) + 1e-5)
            # Whole tables may not go quite as far as others; never further.
            assert most - 1 <= reached[cell] <= most


def test_nothing_bounds_the_attacker() -> None:

    equations = csr_array(np.array([[1.0, -1.0, -1.0]]))
    total, level = np.array([10, 4, 6]), np.array([3, 4, 1000])
    endless = np.full(3, np.inf)
    down, up = attacker_interval(equations, total, -endless, endless, level, level)
    assert down.tolist() == up.tolist() == [3, 4, 1000]


def test_a_known_total_holds_its_parts() -> None:

    equations = csr_array(np.array([[1.0, -1.0, -1.0]]))
    total, level = np.array([10, 4, 6]), np.array([0, 9, 9])
    down, up = attacker_interval(equations, total, np.array([10.0, 0, 0]), np.array([10.0, 99, 99]), level, level)
    assert down.tolist() == [0, 4, 6]  # neither below 0
    assert up.tolist() == [0, 6, 4]  # so the other not beyond the total


def test_only_whole_tables_count() -> None:
    """Three cells, of which any two add up to 1 at most: a half each is possible, so each sum of three is 0 or 1."""

    pairs = [[-1, -1, 0, 1, 0, 0, 0], [0, -1, -1, 0, 1, 0, 0], [-1, 0, -1, 0, 0, 1, 0], [-1, -1, -1, 0, 0, 0, 1]]
    equations = csr_array(np.array(pairs, dtype=float))
    total = np.zeros(7, dtype=np.int64)
    high = np.array([9.0, 9, 9, 1, 1, 1, 9])
    required = np.array([0, 0, 0, 0, 0, 0, 2])
    _, up = attacker_interval(equations, total, np.zeros(7), high, required, required)
    assert up[-1] == 1


def test_an_interval_must_hold_the_total() -> None:

    one = np.ones(1)
    with golden.raises(ValueError):
        attacker_interval(csr_array((0, 1)), np.array([5]), 6 * one, 9 * one, np.array([1]), np.array([1]))

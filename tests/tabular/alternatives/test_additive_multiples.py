"""Feasible tables: they fit what is published, and nothing else decides what they are."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from sluice.ground.errors import DataError
from sluice.tabular.alternatives.additive_multiples import feasible_table
from sluice.tabular.model.cells import Cells
from tests.golden import golden
from tests.tabular.tables import business, protected_business, tables


def drawn(cells: Cells, values: np.ndarray, hidden: np.ndarray, least: float = 0) -> np.ndarray:
    nothing = np.full(len(cells), least), np.full(len(cells), np.inf)
    return feasible_table(cells.equations, values, hidden, hidden, *nothing)


@given(tables(most=30), st.integers(0, 2**32 - 1))
def test_the_values_fit_and_the_truth_behind_them_does_not_matter(cells: Cells, seed: int) -> None:
    rng = np.random.default_rng(seed)
    hidden = rng.random(len(cells)) < 0.4
    hidden[np.argmax(cells.total)] = False  # the total of all bounds the others
    assume(hidden.any())
    found = drawn(cells, cells.total, hidden)
    assert not (cells.equations @ found).any()
    assert (found == cells.total)[~hidden].all()
    assert (found >= 0).all()
    # The same published cells over another truth that fits them: this very table. And over no table at all.
    assert (drawn(cells, found, hidden) == found).all()
    assert (drawn(cells, np.where(hidden, rng.integers(0, 99, len(cells)), cells.total), hidden) == found).all()


def test_a_suppressed_table_becomes_complete() -> None:
    cells = business("s1k")
    hidden = protected_business().status != 0
    found = drawn(cells, cells.total, hidden)
    assert not (cells.equations @ found).any()
    # The truth is no likelier to be hit than by chance among the many values that a cell may have.
    assert np.mean(found[hidden] == cells.total[hidden]) < 0.05


def test_what_is_known_beforehand_is_kept() -> None:
    """Two counts that add up to 3, neither of them 0: one is 1, and the other 2."""
    equations = csr_array(np.array([[1.0, -1.0, -1.0]]))
    hidden = np.array([False, True, True])
    least = np.array([0.0, 1.0, 1.0])
    for total in range(2, 9):
        found = feasible_table(equations, np.array([total, 0, 0]), hidden, hidden, least, np.full(3, np.inf))
        assert found[0] == total == found[1] + found[2]
        assert (found[1:] >= 1).all()
    with golden.raises(DataError):
        feasible_table(equations, np.array([1, 0, 0]), hidden, hidden, least, np.full(3, np.inf))


def test_refusals() -> None:
    equations = csr_array(np.array([[1.0, -1.0, -1.0]]))
    hidden, endless = np.array([True, True, False]), np.full(3, np.inf)
    with golden.raises(DataError):
        feasible_table(equations, np.array([9, 4, 5]), hidden, hidden, np.zeros(3), endless)
    nobody = np.zeros(3, dtype=bool)
    assert feasible_table(equations, np.array([9, 4, 5]), nobody, nobody, np.zeros(3), endless).tolist() == [9, 4, 5]
    known = np.array([False, False, False, True])
    wrong = csr_array(np.array([[1.0, -1.0, -1.0, 0.0]]))
    with golden.raises(DataError):
        feasible_table(wrong, np.array([9, 4, 4, 0]), known, known, np.zeros(4), np.full(4, np.inf))

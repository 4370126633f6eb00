"""Whole changes from the answers of small linear programs."""

import numpy as np
import pytest

from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.suppression.block_program import BlockProgram
from sluice.tabular.suppression.unknown_cells import unknown_cells
from sluice.tabular.suppression.whole_change import WholeBlock
from tests.tabular.generated import generated

# x0 = x1 + x2, x1 = x2 + x3: the cheapest change moves x1 and x2 by one half each, and x3, which is dear, not at all
ROWS = np.array([[1.0, -1.0, -1.0, 0.0], [0.0, 1.0, -1.0, -1.0]])


def program() -> BlockProgram:
    cells = generated("2-D")
    unknowns = unknown_cells(cells, *Assumptions().bounds(cells))
    return BlockProgram(cells, unknowns, np.ones(len(unknowns)), np.ones(len(unknowns)))


def block(dear_may_move: float) -> WholeBlock:
    row, cell = np.nonzero(ROWS.T)[::-1]
    start = np.searchsorted(cell, np.arange(ROWS.shape[1] + 1)).astype(np.int32)
    room = np.array([1.0, 1.0, 1.0, dear_may_move])
    price = np.array([1.0, 1.0, 1.0, 10.0])
    return WholeBlock(1, 1, price, room, room, start, row.astype(np.int32), ROWS[row, cell], np.array([0]))


def test_a_fraction_is_rounded_to_the_nearest_change_that_keeps_the_sums() -> None:
    solver, within = program(), block(dear_may_move=1.0)
    found = solver._solved(within, len(ROWS), 0.0)
    assert found is not None
    assert found.tolist() == [1, 0.5, 0.5, 0]
    assert within.whole(found) is None  # twice as much has no room
    change = solver._rounded(within, found, 10)
    assert change is not None
    assert not (ROWS @ change).any()
    assert change[0] == 1
    assert set(np.abs(change).tolist()) <= {0.0, 1.0}


@pytest.mark.parametrize(("dear_may_move", "roundings"), [(0.0, 10), (1.0, 0)])
def test_what_has_no_whole_change_is_left(dear_may_move: float, roundings: int) -> None:
    """Or not as many roundings are allowed as it takes."""
    solver, within = program(), block(dear_may_move)
    found = solver._solved(within, len(ROWS), 0.0)
    assert found is not None
    assert solver._rounded(within, found, roundings) is None

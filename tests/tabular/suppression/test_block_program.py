"""Whole changes from the answers of small linear programs."""

import numpy as np
import pytest

from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.suppression.block_program import BlockProgram
from sluice.tabular.suppression.unknown_cells import ProtectionRanges, unknown_cells
from sluice.tabular.suppression.whole_change import WholeBlock
from tests.tabular.generated import generated

# x0 = x1 + x2, x1 = x2 + x3: the cheapest change moves x1 and x2 by one half each, and x3, which is dear, not at all
ROWS = np.array([[1.0, -1.0, -1.0, 0.0], [0.0, 1.0, -1.0, -1.0]])


def program() -> BlockProgram:
    cells = generated("2-D")
    nothing = np.zeros(len(cells), dtype=bool)
    unknowns = unknown_cells(cells, *Assumptions().bounds(cells, nothing))
    return BlockProgram(cells, unknowns, np.ones(len(unknowns)), np.ones(len(unknowns)))


def block(dear_may_move: float, level: int = 1, room: float = 1.0, targets: tuple[int, ...] = (0,)) -> WholeBlock:
    row, cell = np.nonzero(ROWS.T)[::-1]
    start = np.searchsorted(cell, np.arange(ROWS.shape[1] + 1)).astype(np.int32)
    ranges = np.array([room, room, room, dear_may_move])
    price = np.array([1.0, 1.0, 1.0, 10.0])
    at = np.array(targets)
    return WholeBlock(level, 1, price, ranges, ranges, start, row.astype(np.int32), ROWS[row, cell], at)


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


def test_a_fraction_is_stretched_to_the_next_change_that_is_whole() -> None:
    solver, within = program(), block(level=3, dear_may_move=0.0, room=4 / 3)
    found = solver._solved(within, len(ROWS), 0.0)
    assert found is not None
    assert (3 * found).tolist() == [3, 1.5, 1.5, 0]
    change = solver._stretched(within, len(ROWS))
    assert change is not None
    assert change.tolist() == [4, 2, 2, 0]


def test_several_targets_are_stretched_together() -> None:
    """They make up the whole of x0, so that it moves by 4, too."""
    solver, within = program(), block(level=3, dear_may_move=0.0, room=4 / 3, targets=(1, 2))
    assert solver._solved(within, len(ROWS), 0.0) is not None
    change = solver._stretched(within, len(ROWS))
    assert change is not None
    assert change.tolist() == [4, 2, 2, 0]


def test_nothing_is_stretched_beyond_its_room() -> None:
    solver, within = program(), block(level=3, dear_may_move=0.0)
    assert solver._solved(within, len(ROWS), 0.0) is not None
    assert solver._stretched(within, len(ROWS)) is None


@pytest.mark.parametrize(("dear_may_move", "roundings"), [(0.0, 10), (1.0, 0)])
def test_what_has_no_whole_change_is_left(dear_may_move: float, roundings: int) -> None:
    """Or not as many roundings are allowed as it takes."""
    solver, within = program(), block(dear_may_move)
    found = solver._solved(within, len(ROWS), 0.0)
    assert found is not None
    assert solver._rounded(within, found, roundings) is None


@pytest.mark.parametrize("level", [7, 49, 98, 103, 120, 1_000, 1_000_003])
def test_a_target_may_move_by_all_of_its_room(level: int) -> None:
    """The room is counted in levels, and a 49th of 49 must be one of them."""
    room = np.full(4, float(level))
    row, cell = np.nonzero(ROWS.T)[::-1]
    start = np.searchsorted(cell, np.arange(5)).astype(np.int32)
    cells, signs = np.arange(4, dtype=np.int32), ROWS[row, cell]
    within = program()._block(level, 1, cells, room, room, start, row.astype(np.int32), signs, np.array([0]))
    assert within.gains.tolist() == within.losses.tolist() == [1.0] * 4


def test_in_a_crowded_table_what_free_cells_can_hide_costs_nothing_and_little_work() -> None:
    """More than a thousand lie near each target, of which six in seven are free: a program of all is rarely due."""
    cells = generated("large and sparse")
    counts, known = cells.contributors, Assumptions().bounds(cells, np.zeros(len(cells), dtype=bool))
    unknowns, cost = unknown_cells(cells, *known), cells.total.astype(np.float64)
    ranges = ProtectionRanges.of(unknowns, cells.total - known[0], known[1] - cells.total)
    costs = unknowns.sum(cost)
    free = np.random.default_rng(1).random(len(unknowns)) < 0.85
    program = BlockProgram(cells, unknowns, np.where(free, 0.0, costs), costs)
    dear = []
    for at in np.flatnonzero((counts[unknowns.first] < 3) & (counts[unknowns.first] > 0))[:120:10].tolist():
        program.price[at] = 0.0
        change = program.cheapest([at], int(cells.total[unknowns.first[at]]) + 1, 1, np.inf, ranges)
        assert change is not None
        dear += [at] * bool(program.price[change.cells].sum())
    assert len(dear) <= 2
    assert program.work < 4e6

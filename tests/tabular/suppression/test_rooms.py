"""How far a reader believes unknowns may lie from their values."""

import numpy as np

from sluice.tabular.suppression.rooms import Rooms
from sluice.tabular.suppression.unknown_cells import unknown_cells
from tests.tabular.grids import BOX, at, table

CELLS = table([(*codes, owner, 10) for owner, codes in enumerate(BOX)])
UNKNOWNS = unknown_cells(CELLS, np.zeros(len(CELLS)), np.full(len(CELLS), np.inf))


def test_rooms_are_whole_and_both_ways_the_smaller() -> None:
    rooms = Rooms.of(UNKNOWNS, np.full(len(CELLS), 4.7), np.full(len(CELLS), 2.9999999))
    assert set(rooms.down) == {4}
    assert set(rooms.up) == {3}
    assert set(rooms.both) == {3}
    assert rooms.within(1) == (rooms.down, rooms.up)
    assert rooms.within(-1) == (rooms.up, rooms.down)


def test_they_are_narrowed_for_a_moment() -> None:
    rooms = Rooms.of(UNKNOWNS, CELLS.total.astype(float), np.full(len(CELLS), np.inf))
    corner = UNKNOWNS.of_cell[[at(CELLS, "a", "u")]].astype(np.intp)
    with rooms.narrowed(corner, np.array([3.0])):
        assert (rooms.down[corner], rooms.up[corner], rooms.both[corner]) == (3, np.inf, 3)
    assert (rooms.down[corner], rooms.both[corner]) == (10, 10)

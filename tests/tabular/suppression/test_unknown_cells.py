"""How far a reader believes unknowns may lie from their values."""

import numpy as np

from sluice.tabular.suppression.unknown_cells import ProtectionRanges, unknown_cells
from tests.tabular.grids import BOX, at, table

CELLS = table([(*codes, owner, 10) for owner, codes in enumerate(BOX)])
UNKNOWNS = unknown_cells(CELLS, np.zeros(len(CELLS)), np.full(len(CELLS), np.inf))


def test_rooms_are_whole_and_both_ways_the_smaller() -> None:
    ranges = ProtectionRanges.of(UNKNOWNS, np.full(len(CELLS), 4.7), np.full(len(CELLS), 2.9999999))
    assert set(ranges.down) == {4}
    assert set(ranges.up) == {3}
    assert set(ranges.both) == {3}
    assert ranges.within(1) == (ranges.down, ranges.up)
    assert ranges.within(-1) == (ranges.up, ranges.down)


def test_they_are_narrowed_for_a_moment() -> None:
    ranges = ProtectionRanges.of(UNKNOWNS, CELLS.total.astype(float), np.full(len(CELLS), np.inf))
    corner = UNKNOWNS.of_cell[[at(CELLS, "a", "u")]].astype(np.intp)
    with ranges.narrowed(corner, np.array([3.0])):
        assert (ranges.down[corner], ranges.up[corner], ranges.both[corner]) == (3, np.inf, 3)
    assert (ranges.down[corner], ranges.both[corner]) == (10, 10)

"""Contributors who read an adjusted table one by one: whom short changes convince, and whom they leave open.

A change is believed by everybody but those who are alone in a cell that it moves, or have a larger part of a cell than
it leaves. So of each moved cell and each direction a first short change convinces nearly all, and a second one that
keeps to what the others know convinces these; or each of them gets a change of its own.
"""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from sluice.tabular.alternatives.adjustment_region import AdjustedTable, Budget, Region
from sluice.tabular.alternatives.short_moves import ShortMoves
from sluice.tabular.model.cells import Booleans, Integers

EFFORT = 50_000_000  # short changes that are looked for, times the cells of the table, at most

Pairs = dict[int, set[int]]
"""contributor -> the cells of which it is still open what it can tell"""


def open_to_contributors(table: AdjustedTable) -> tuple[Booleans, Pairs]:
    """The moved cells of which it stays open what contributors can tell, shape (c,), and those open to some alone.

    cost : two linear programs of all cells for each moved cell, or four
    """
    search, open_ = _Search(table), np.zeros(len(table.cells), dtype=bool)
    pairs: Pairs = defaultdict(set)
    for cell in np.flatnonzero(table.moving).tolist():
        for change in search.asked(cell):
            left = search.unconvinced(cell, change)
            if left is None:
                open_[cell] = True
                break
            for owner in left:
                pairs[owner].add(cell)
    return open_, {owner: left for owner, cells in pairs.items() if (left := {c for c in cells if not open_[c]})}


class _Search:
    def __init__(self, table: AdjustedTable) -> None:
        cells = table.cells
        everybody = np.ones(len(cells), dtype=bool)
        self._table = table
        self._region = Region.of(table, ~everybody, Budget(len(cells)))
        self._others, self._most = table.bounds(None)
        self._part = np.full(len(cells), -np.inf)  # of the largest contributor
        self._owner = cells.owners[:, 0]
        if table.assumptions.own_parts and table.assumptions.nonnegative and cells.largest.shape[1] > 1:
            self._part = cells.largest[:, 0].astype(np.float64)
            second = np.where(table.moving & (self._owner >= 0), cells.largest[:, 1], cells.largest[:, 0])
            self._others = np.minimum(np.maximum(self._others, second), cells.total)
        self._down = np.floor(cells.total - np.maximum(self._region.low, self._others))
        self._up = np.floor(self._region.high - cells.total)
        self._sole = (cells.contributors == 1) & (self._owner >= 0)
        self._moves = ShortMoves(cells.equations, self._sole)
        self._left = EFFORT // max(len(cells), 1)

    def asked(self, cell: int) -> list[int]:
        """How far down, below 0, and up it must be possible to those who are not its largest contributor."""
        needs, total = self._table.requirements, int(self._table.cells.total[cell])
        down = min(float(needs.lower[cell]), max(total - self._others[cell], 0.0))
        up = min(float(needs.upper[cell]), max(self._most[cell] - total, 0.0))
        return [change for change in (-int(down), int(up)) if change]

    def unconvinced(self, cell: int, change: int) -> set[int] | None:
        """Contributors who may be able to exclude such a change; None where that is open of all."""
        first = self._exposed(cell, change, set())
        if not first:
            return first
        second = self._exposed(cell, change, first)
        if second is not None:
            return set()
        return {owner for owner in first if self._exposed(cell, change, {owner}) is None}

    def _exposed(self, cell: int, change: int, avoided: set[int]) -> set[int] | None:
        """The contributors who know better of a change that these believe; None where there is none."""
        down, up = self._down.copy(), self._up.copy()
        theirs = np.isin(self._owner, sorted(avoided)) if avoided else np.zeros(len(down), dtype=bool)
        down[theirs] = np.minimum(down, np.maximum(self._table.cells.total - self._part, 0))[theirs]
        down[theirs & self._sole] = up[theirs & self._sole] = 0
        for way, low, high in self._ways(cell, change):
            self._left -= 1
            if self._left < 0:
                return None
            together = self._equal(cell)
            before = down[together], up[together]
            down[together], up[together] = low, high
            found = self._moves.found(cell, way, down, up)
            down[together], up[together] = before
            if found is not None and (found[together] == found[cell]).all():
                return self._who(found) - {int(self._table.cells.owners[cell, 0])}
        return None

    def _equal(self, cell: int) -> NDArray[np.intp]:
        """A cell and those that seem to be one with it, as a marginal of one part is: they move together."""
        cells, value = self._table.cells, self._table.value
        same = (cells.total == cells.total[cell]) & (value == value[cell]) & self._table.moving
        return np.flatnonzero(same & (self._owner == self._owner[cell]))

    def _ways(self, cell: int, change: int) -> list[tuple[int, float, float]]:
        """Moves of a cell, as far as is asked on its side or across the gap, and how far down and up it may go then."""
        table, total = self._table, float(self._table.cells.total[cell])
        low, high = self._region.low[cell], self._region.high[cell]
        ways = []
        least, most = float(self._others[cell]), float(self._most[cell])
        if max(low, least) <= total + change <= high:
            ways.append((change, np.floor(total - max(low, least)), np.floor(high - total)))
        below, above = (float(end[cell]) for end in table.sides)
        if change > 0 and table.rose[cell] and above <= most:
            ways.append((int(np.ceil(above - total)), 0.0, np.floor(most - total)))
        if change < 0 and not table.rose[cell] and below >= least:
            ways.append((int(np.floor(below - total)), np.floor(total - least), 0.0))
        return [(way, down, up) for way, down, up in ways if (way > 0) == (change > 0)]

    def _who(self, found: Integers) -> set[int]:
        """Who does not believe a change."""
        below = self._table.cells.total + found < self._part
        return set(self._owner[(found != 0) & (self._sole | below)].tolist())

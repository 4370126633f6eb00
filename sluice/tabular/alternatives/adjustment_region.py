"""An adjusted table, and what a reader of it cannot exclude: for each moved cell two sides with a gap between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sluice.tabular.alternatives.altered_cells import alone_in, parts_of
from sluice.tabular.alternatives.whole_moves import ShortMoves, UndecidedError, whole_moves
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Contributions, Floats, Integers
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule, requirements_of

EFFORT = 2_000_000  # tables that are looked for, times their cells, at most


@dataclass(frozen=True, eq=False)
class AdjustedTable:
    """An adjusted table beside the truth, and what is known of how it was made.

    value        : shape (c,), as published
    moving       : shape (c,), the cells that were moved by their level and more
    spread       : by how many levels a cell moved beyond its own, on average
    cap          : in percent, how far the other published cells were changed at most; None: not known
    """

    cells: Cells
    value: Integers
    moving: Booleans
    requirements: Requirements
    rules: Sequence[SensitivityRule]
    assumptions: Assumptions
    spread: float = 1.0
    cap: float | None = None

    @property
    def rose(self) -> Booleans:
        """Shape (c,): which cells went up."""
        rose: Booleans = self.value > self.cells.total
        return rose

    @cached_property
    def sides(self) -> tuple[Floats, Floats]:
        """Where the lower side of each cell's candidates ends and where the upper one begins; shapes (c,)."""
        total, level = self.cells.total, np.maximum(self.requirements.lower, self.requirements.upper)
        slope = self._slope(level)
        here = np.maximum(level + slope * (self.value - total), 0)  # the level, were the published figure the truth
        below = np.maximum(np.floor(here / (1 + slope) + 1e-9), 1)
        above = np.maximum(np.floor(here / (1 - slope) + 1e-9), 1)
        # The truth is on its side, however levels were rounded.
        ends, begins = self.value - below, self.value + above
        return np.where(self.rose, np.maximum(ends, total), ends), np.where(
            self.rose, begins, np.minimum(begins, total)
        )

    def _slope(self, level: Integers) -> Floats:
        """By how much the level rises with the largest contribution, all others as they are."""
        known = self.cells.contributions
        more = np.maximum(known.largest[:, 0], 1) if known.largest.shape[1] else np.ones_like(known.total)
        largest = known.largest.copy()
        largest[:, :1] += more[:, None]
        grown = Contributions(known.total + more, known.contributors, largest)
        later = requirements_of(self.rules, grown, self.assumptions.nonnegative)
        slope = (np.maximum(later.lower, later.upper) - level) / more
        # A level that people asked for does not grow; one that grows as fast as the cell says nothing of its own size.
        return np.where((slope > 0) & (slope < 1), slope, 0.0)

    def bounds(self, own_parts: Booleans | None) -> tuple[Floats, Floats]:
        """From what to what each cell may be, without looking at its side; shapes (c,).

        own_parts : shape (c,), the moved cells whose largest contributor reads; in the others readers have the next
                    largest parts at most. None: nobody uses its part
        """
        cells, total = self.cells, self.cells.total.astype(np.float64)
        low, high = self.assumptions.bounds(cells, self.requirements.sensitive)
        if self.cap is not None:
            near = cells.published & ~self.moving
            low = np.where(near, np.maximum(low, np.floor(self.value / (1 + self.cap / 100)) - 1), low)
            most = np.inf if self.cap >= 100 else np.ceil(self.value / (1 - self.cap / 100)) + 1
            high = np.where(near, np.minimum(high, most), high)
        if own_parts is not None and cells.largest.shape[1] > 1:
            low = np.maximum(low, parts_of(cells, self.assumptions.coalition, self.moving & ~own_parts))
        return np.minimum(low, total), np.maximum(high, total)


class TableSearch:
    """Looks for whole tables in place of the true one, as long as effort is left; what is open then is undecided."""

    def __init__(self, table: AdjustedTable) -> None:
        cells = table.cells
        self._equations, self._total = cells.equations, cells.total
        self._programs = EFFORT // max(len(cells), 1)
        apart = np.flatnonzero(table.moving)
        below, above = (end[apart] - cells.total[apart] for end in table.sides)
        self.sole: Booleans = (cells.own_parts.contributors == 1) & (cells.own_parts.owners[:, 0] >= 0)
        self.moves = ShortMoves(cells.equations, self.sole, apart, below, above)

    def holds_a_table(self, low: Floats, high: Floats) -> bool:
        """Whether a whole table within these bounds was found; gaps are not looked at."""
        self._programs -= 1
        if self._programs < 0:
            return False
        try:
            found = whole_moves(self._equations, np.floor(self._total - low), np.floor(high - self._total))
        except UndecidedError:
            return False
        return found is not None


@dataclass(frozen=True, eq=False)
class Region:
    """What a reader cannot exclude: `least` to `most` of each cell, of held cells without the gap between two sides.

    held      : shape (c,), moved cells that the reader does not know
    low, high : of the side on which the truth is
    """

    table: AdjustedTable
    held: Booleans
    least: Floats
    most: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, table: AdjustedTable, readers: Booleans) -> "Region":
        parts = readers.any() and table.assumptions.own_parts and table.assumptions.nonnegative
        total, known = table.cells.total, readers & alone_in(table.cells, table.assumptions.coalition)
        least, most = (np.where(known, total, end) for end in table.bounds(readers if parts else None))
        held = table.moving & ~known
        below, above = table.sides
        low = np.where(held & ~table.rose, np.maximum(least, above), least)
        high = np.where(held & table.rose, np.minimum(most, below), most)
        return cls(table, held, least, most, np.minimum(low, total), np.maximum(high, total))

    def on_side(self, moved: Booleans, change: Integers) -> tuple[Floats, Floats]:
        """The bounds of all cells with these so far from the truth, or further, on the side on which it is."""
        total = self.table.cells.total
        low = np.where(moved & (change > 0), total + change, self.low)
        high = np.where(moved & (change < 0), total + change, self.high)
        return low, high

    def across(self, turned: Booleans) -> tuple[Floats, Floats]:
        """The bounds of all cells with these on the other side."""
        below, above = self.table.sides
        rose = self.table.rose
        low = np.where(turned, np.where(rose, np.maximum(above, self.least), self.least), self.low)
        high = np.where(turned, np.where(rose, self.most, np.minimum(below, self.most)), self.high)
        return low, high

    @property
    def two_sided(self) -> Booleans:
        """Shape (c,): which cells have values on the other side."""
        below, above = self.table.sides
        two: Booleans = np.where(self.table.rose, above <= self.most, below >= self.least)
        return two

    def allows(self, cell: int, change: int, search: TableSearch) -> bool | None:
        """Whether a cell can be so far from its truth, whatever the sides of the others; None when undecided."""
        total = self.table.cells.total
        try:
            found = search.moves.found(cell, change, np.floor(total - self.least), np.floor(self.most - total))
        except UndecidedError:
            return None
        return found is not None

"""An adjusted table, and what a reader of it cannot exclude: for each moved cell two sides with a gap between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import block_array, csr_array, diags_array

from sluice.tabular.alternatives.whole_moves import (
    NODES,
    UndecidedError,
    as_whole,
    is_feasible,
    is_infeasible,
    whole_moves,
)
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Contributions, Floats, Integers
from sluice.tabular.model.linear_solver import solver_of
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule, requirements_of

EFFORT = 2_000_000  # tables that are looked for, times their cells, at most
SINGLY = 20  # questions that are asked one by one, at most; further ones stay open


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
        return self.value - below, self.value + above

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

        own_parts : shape (c,), the moved cells whose largest contributor reads; in the others a reader has the second
                    largest part at most. None: nobody uses its part
        """
        cells, total = self.cells, self.cells.total.astype(np.float64)
        low, high = self.assumptions.bounds(cells)
        if self.cap is not None:
            near = cells.published & ~self.moving
            low = np.where(near, np.maximum(low, np.floor(self.value / (1 + self.cap / 100)) - 1), low)
            most = np.inf if self.cap >= 100 else np.ceil(self.value / (1 - self.cap / 100)) + 1
            high = np.where(near, np.minimum(high, most), high)
        if own_parts is not None and cells.largest.shape[1] > 1:
            low = np.maximum(low, np.where(self.moving & ~own_parts, cells.largest[:, 1], cells.largest[:, 0]))
        return np.minimum(low, total), np.maximum(high, total)


class Budget:
    """How much may still be tried; what is left open then is undecided."""

    def __init__(self, cells: int) -> None:
        self._questions, self._programs = SINGLY, EFFORT // max(cells, 1)

    def question(self) -> bool:
        """Whether one more question may be asked by itself."""
        self._questions -= 1
        return self._questions >= 0

    def program(self) -> bool:
        """Whether one more table may be looked for."""
        self._programs -= 1
        return self._programs >= 0


@dataclass(frozen=True, eq=False)
class Region:
    """What a reader cannot exclude: `least` to `most` of each cell, of held cells without the gap between two sides.

    held      : shape (c,), moved cells that the reader does not know
    low, high : of the side on which the truth is
    """

    table: AdjustedTable
    budget: Budget
    held: Booleans
    least: Floats
    most: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, table: AdjustedTable, readers: Booleans, budget: Budget) -> "Region":
        parts = readers.any() and table.assumptions.own_parts and table.assumptions.nonnegative
        total, known = table.cells.total, readers & (table.cells.contributors == 1)
        least, most = (np.where(known, total, end) for end in table.bounds(readers if parts else None))
        held = table.moving & ~known
        below, above = table.sides
        low = np.where(held & ~table.rose, np.maximum(least, above), least)
        high = np.where(held & table.rose, np.minimum(most, below), most)
        return cls(table, budget, held, least, most, np.minimum(low, total), np.maximum(high, total))

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

    def holds_a_table(self, low: Floats, high: Floats) -> bool:
        """Whether a whole table within these bounds was found."""
        if not self.budget.program():
            return False
        total = self.table.cells.total
        try:
            found = whole_moves(self.table.cells.equations, np.floor(total - low), np.floor(high - total))
        except UndecidedError:
            return False
        return found is not None

    def allows(self, cell: int, change: int) -> bool | None:
        """Whether a cell can be so far from its truth, whatever the sides of the others; None when undecided."""
        count, total = len(self.table.cells), self.table.cells.total
        down, up = np.floor(total - self.least), np.floor(self.most - total)
        if change < 0:
            up[cell] = change
        else:
            down[cell] = -change
        if down[cell] + up[cell] < 0:
            return False
        held = np.flatnonzero(self.held)
        below, above = (end[held] - total[held] for end in self.table.sides)
        far = 8.0 * max(float(np.abs(total).max()), 1.0)  # what nobody bounds goes no further
        down, up = np.minimum(down, far), np.minimum(up, far)
        choose = csr_array((np.ones(len(held)), (np.arange(len(held)), held)), shape=(len(held), count))
        rows: Any = [
            [self.table.cells.equations, None],
            [choose, -diags_array(far + np.maximum(up[held], 0) - below)],
            [choose, -diags_array(above + down[held] + far)],
        ]
        matrix = csr_array(block_array(rows, format="csr")) if len(held) else self.table.cells.equations
        nothing = np.zeros(self.table.cells.equations.shape[0])
        endless = np.full(len(held), np.inf)
        solver = solver_of(
            matrix,
            np.concatenate([nothing, -endless, -down[held] - far]),
            np.concatenate([nothing, below, endless]),
            lower=np.concatenate([-down, np.zeros(len(held))]),
            upper=np.concatenate([up, np.ones(len(held))]),
            whole=True,
            mip_max_nodes=NODES,
        )
        solver.run()
        if is_infeasible(solver):
            return False
        if not is_feasible(solver):
            return None
        found = as_whole(self.table.cells.equations, np.array(solver.getSolution().col_value)[:count])
        if found is None or (found < -down).any() or (found > up).any():
            return None
        return True if ((found[held] <= below) | (found[held] >= above)).all() else None

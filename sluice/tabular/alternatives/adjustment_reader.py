"""What a reader of an adjusted table who knows the method, the policy and which cells were moved cannot exclude.

Of each moved cell the truth is at least its level below the published figure or above it: two sides with a gap between
them, without an end, as the moves were drawn without one. The level is a function of the contributions, so the gap is
that of the truth that is looked at: of a cell of one contributor under p percent it ends at y / (1 + p) and y / (1 -
p). Sides belong together by the sums of the table, by caps on the other cells, and by what contributors know: a
candidate is a whole table.

Each moved cell must be possible at its level below and above the truth, or beyond. A candidate that takes many cells to
the other side, or further away on their own, proves that of all of them; where none does it is looked for in halves.

Source: this project's own; the attack on the two values that are left when all moves are of the same size is old.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.sparse import block_array, csr_array, diags_array

from sluice.tabular.alternatives.contributors_in_groups import Told, play_contributors
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

PARTS = 40  # of cells that are moved together, at most, for each question
EFFORT = 2_000_000  # tables that are looked for, times their cells, at most
SINGLY = 20  # questions that are asked one by one, at most; further ones stay open
GUESS = 0.5  # the largest chance of a right guess to within what is asked


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


@dataclass(frozen=True, eq=False)
class AdjustmentFinding:
    """What a reader can tell of the moved cells.

    failing   : shape (c,), of which somebody can tell more than is asked
    undecided : shape (c,), of which that stayed open
    """

    failing: Booleans
    undecided: Booleans


def read_adjustment(table: AdjustedTable) -> AdjustmentFinding:
    """Play everybody, and where the policy has contributors use what they know, each of them and several together.

    cost : for everybody, and for each play of `play_contributors`, a few linear programs of all cells
    """
    budget, nobody = _Budget(len(table.cells)), np.zeros(len(table.cells), dtype=bool)
    failing, undecided = _play(table, nobody, table.moving, budget, True)

    def contributors(readers: Booleans, asked: Booleans, alone: bool) -> Told:
        return _play(table, readers, asked, budget, alone)

    fails, open_ = play_contributors(table.cells, table.moving, table.assumptions.coalition, contributors)
    failing, undecided = failing | fails, undecided | open_
    if table.assumptions.coalition:
        failing |= table.moving & _near_to_the_largest(table)
    return AdjustmentFinding(failing, undecided & ~failing)


class _Budget:
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
class _Region:
    """What a reader cannot exclude: `least` to `most` of each cell, of held cells without the gap between two sides.

    held      : shape (c,), moved cells that the reader does not know
    low, high : of the side on which the truth is
    """

    table: AdjustedTable
    budget: _Budget
    held: Booleans
    least: Floats
    most: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, table: AdjustedTable, readers: Booleans, budget: _Budget) -> "_Region":
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


def _close(
    region: _Region, open_: Booleans, moved: Booleans, bounds: Callable[[Booleans], tuple[Floats, Floats]]
) -> None:
    """Close the questions about cells that a whole table moves together; where none moves all, in halves.

    open_  : shape (c,), changed in place
    bounds : of all cells, with some moved
    """
    waiting = [np.flatnonzero(moved)]
    for _ in range(PARTS):
        if not waiting:
            break
        part = waiting.pop(0)
        together = np.zeros(len(open_), dtype=bool)
        together[part] = True
        if len(part) and region.holds_a_table(*bounds(together)):
            open_[part] = False
        elif len(part) > 1:
            waiting += np.array_split(part, 2)


def _play(table: AdjustedTable, readers: Booleans, asked: Booleans, budget: _Budget, alone: bool) -> Told:
    """Of the cells that are asked about, which can be told too nearly, and of which that stayed open.

    readers : shape (c,), the cells whose largest contributors read: alone in a cell, they know it
    alone   : what stays open is asked cell by cell
    """
    region = _Region.of(table, readers, budget)
    total, needs = table.cells.total, table.requirements
    # Nobody asks for more than what is known beforehand leaves.
    lower = np.where(asked, np.minimum(needs.lower, np.maximum(total - region.least, 0)), 0).astype(np.int64)
    upper = np.where(asked, np.minimum(needs.upper, np.maximum(region.most - total, 0)), 0).astype(np.int64)
    open_down, open_up = lower > 0, upper > 0
    for open_, change in ((open_down, -lower), (open_up, upper)):
        within = (total + change >= region.low) & (total + change <= region.high)
        outward = table.rose == (change < 0)
        _close(region, open_, open_ & within & outward, partial(region.on_side, change=change))
        _close(region, open_, open_ & region.held & region.two_sided & ~outward, region.across)
        _close(region, open_, open_ & within & ~outward, partial(region.on_side, change=change))
    failing, undecided = np.zeros((2, len(total)), dtype=bool)
    for open_, change in ((open_down, -lower), (open_up, upper)):
        for cell in np.flatnonzero(open_):
            found = region.allows(int(cell), int(change[cell])) if alone and budget.question() else None
            failing[cell] |= found is False
            undecided[cell] |= found is None
    return failing, undecided


def _near_to_the_largest(table: AdjustedTable) -> Booleans:
    """Shape (c,): whether the largest contributor, who takes its part out, can tell too much of the others' together.

    It knows that the cell fell where below the gap nothing would be left for the others. Then it is left with values
    from the gap upwards without an end, as likely as the move was drawn, and guesses right with the chance of that.
    """
    cells, known = table.cells, table.cells.contributions
    if known.largest.shape[1] < 2 or not table.assumptions.own_parts:
        return np.zeros(len(cells), dtype=bool)
    own = known.largest[:, 0]
    rest = Contributions(known.total - own, known.contributors - 1, np.pad(known.largest[:, 1:], ((0, 0), (0, 1))))
    asked = np.zeros(len(cells), dtype=np.int64)
    for rule in table.rules:
        called = table.requirements.by_rule.get(rule.rule)
        if called is not None:
            asked = np.maximum(asked, np.where(called, rule.protection(rest, outsider=True), 0))
    asked = np.where(rest.total > 0, asked, 0)
    lower = np.minimum(asked, np.maximum(rest.total, 0)) if table.assumptions.nonnegative else asked
    below, above = table.sides
    least = cells.total - rest.total if table.assumptions.nonnegative else np.full(len(cells), -np.inf)
    # Downwards on its own side, or across the gap if that leaves the others anything; upwards there is no end.
    down = np.where(table.rose, True, (cells.total - lower >= above) | (below >= least))
    level = np.maximum(np.maximum(table.requirements.lower, table.requirements.upper), 1)
    guess = 1 - np.exp(-2 * asked / (table.spread * level))
    near: Booleans = (asked > 0) & ~down & (guess > GUESS)
    return near

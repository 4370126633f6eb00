"""How far from its true total an attacker must believe a cell possible who knows every cell to within an interval.

That is what is left to tell where values were changed, not suppressed: the method bounds each true total, totals add
up, and all are whole. Source: Salazar-González (2006), the attacker's problems.

One linear program takes many cells at once as far as is required; cells that it leaves behind get one of their own.
So what is found is proven by a whole table that an attacker cannot exclude, and what is not found is impossible.

Counts with noise: an intruder cannot exclude whole tables that add up, each count one that gives its figure. Noise is
looked up in a table that intruders may know, so each figure bounds the count behind it; true counts add up,
and together the figures bound each count more closely than its own does. Two of them. Anybody must be left as many
whole numbers of each sensitive cell as are required, and no proof that somebody is in it and that it is sensitive. Who
has a part in cells knows that these are at least as large, and is asked the same besides that; all contributors' parts
are taken together, which is more than any of them knows. Nobody knows to be alone in a cell: the figures do not tell.

Source: Salazar-González (2006), the attacker's problems; the intruders are this project's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sluice.tabular.alternatives.altered_cells import Disclosed
from sluice.tabular.alternatives.whole_moves import NODES, UndecidedError, as_whole, is_feasible, whole_moves
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Floats, Integers
from sluice.tabular.model.known_sums import propagated_bounds
from sluice.tabular.model.linear_solver import is_optimal, solver_of
from sluice.tabular.rules.intruders import sensitive_counts
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule

NEAR = 1e-6  # of a unit: the tolerance of linear programming
PROGRAMS = 30  # integer programs for a cell of its own, at most, in each direction; further ones are left undecided


def attacker_interval(
    equations: csr_array, total: Integers, low: Floats, high: Floats, lower: Integers, upper: Integers
) -> tuple[Floats, Floats]:
    """How far each cell may go down and up, as far as required, in tables that the attacker cannot exclude.

    low, high    : shape (c,), the interval in which the attacker knows each total; it holds the total; or infinite
    lower, upper : shape (c,), how far below and above its total each cell must be able to go; 0 is not looked at
    returns      : shapes (c,), at most lower and upper; less means that it cannot go further, and perhaps not
                   so far; NaN: undecided
    cost         : a linear program of all cells for each direction, and one for each cell that it leaves behind;
                   integer programs where their answers are not whole
    """
    # The ends of whole numbers are whole.
    room_down, room_up = np.floor(total - low + NEAR), np.floor(high - total + NEAR)
    if (room_down < 0).any() or (room_up < 0).any():
        raise ValueError("an interval does not hold the total")
    return _climb(equations, room_up, room_down, lower), _climb(equations, room_down, room_up, upper)


def _climb(equations: csr_array, down: Floats, up: Floats, required: Integers) -> Floats:
    """How far up each cell goes, at most as far as required, where all may move `down` and `up`."""
    reached = np.zeros(len(required))
    open_: Booleans = required > 0
    if not open_.any():
        return reached
    nothing = np.zeros(equations.shape[0])
    most = np.where(open_, np.minimum(up, required), up)
    together = solver_of(equations, nothing, nothing, lower=-down, upper=most, solver="ipm")
    while open_.any():
        moved = _farthest(together, np.where(open_, 1.0 / np.maximum(required, 1), 0.0))
        whole = as_whole(equations, moved)
        if whole is None:
            whole = _whole_moves_that_gain(equations, down, most, np.where(open_, 1.0 / np.maximum(required, 1), 0.0))
        if whole is None:
            break
        done = open_ & (whole >= required)
        if not done.any():
            break
        reached[done] = required[done]
        open_ &= ~done
    # One at a time what is left, from the last vertex.
    if open_.any():
        alone = solver_of(equations, nothing, nothing, lower=-down, upper=up, presolve="off", simplex_strategy=4)
    programs = 0
    for cell in np.flatnonzero(open_):
        if reached[cell] == required[cell]:
            continue
        alone.changeColBounds(int(cell), -down[cell], min(up[cell], required[cell]))
        moved = _farthest(alone, (np.arange(len(up)) == cell).astype(np.float64))
        whole = as_whole(equations, moved)
        if whole is not None:
            reached[cell] = min(max(int(whole[cell]), 0), required[cell])
            reached = np.where(open_ & (whole >= required), required, reached)
        elif moved[cell] < required[cell] - NEAR:
            reached[cell] = np.floor(moved[cell] + NEAR)  # at most: a whole table may not go as far
        elif programs == PROGRAMS:
            reached[cell] = np.nan
        else:
            programs += 1
            reached[cell] = _reached(equations, down, up, int(cell), int(required[cell]))
        alone.changeColBounds(int(cell), -down[cell], up[cell])
    return reached


def _reached(equations: csr_array, down: Floats, up: Floats, cell: int, required: int) -> float:
    """As far as required if a whole table goes so far, one less if none does, NaN when undecided."""
    far = down.copy()
    far[cell] = -required
    try:
        return required if whole_moves(equations, far, up) is not None else required - 1
    except UndecidedError:
        return float("nan")


def _whole_moves_that_gain(equations: csr_array, down: Floats, up: Floats, gain: Floats) -> Integers | None:
    """Whole moves that add up and gain much, though perhaps not most; None when none were found."""
    nothing = np.zeros(equations.shape[0])
    solver = solver_of(equations, nothing, nothing, lower=-down, upper=up, whole=True, mip_max_nodes=NODES // 10)
    solver.changeColsCost(len(gain), np.arange(len(gain), dtype=np.int32), -gain)
    solver.run()
    return as_whole(equations, np.array(solver.getSolution().col_value)) if is_feasible(solver) else None


def _farthest(solver: Any, gain: Floats) -> Floats:
    """Moves that add up and gain most; no move at all when the solver gives up, which proves nothing."""
    solver.changeColsCost(len(gain), np.arange(len(gain), dtype=np.int32), -gain)
    solver.run()
    return np.array(solver.getSolution().col_value) if is_optimal(solver) else np.zeros(len(gain))


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """Counts of which each published figure says between what its count lies; none is known to be empty.

    low, high : shape (c,), from the figures alone; not looked at where nothing is published
    rules     : that called cells sensitive
    """

    cells: Cells
    low: Floats
    high: Floats
    requirements: Requirements
    rules: Sequence[SensitivityRule]
    assumptions: Assumptions

    def bounds(self) -> tuple[Floats, Floats]:
        """Between what each count lies for anybody, by its figure, what is known beforehand and sums; shapes (c,)."""
        low, high = self.assumptions.bounds(self.cells, self.requirements.sensitive)
        seen = self.cells.published
        low = np.maximum(low, np.where(seen, self.low, -np.inf))
        return self._propagated(low, np.minimum(high, np.where(seen, self.high, np.inf)))

    def read(self) -> Disclosed:
        """Of which sensitive cells somebody can tell too much, and of which that stayed open; shapes (c,).

        cost : linear programs as in `attacker_interval`, an integer program where these are not whole
        """
        low, high = self.bounds()
        width = self._width
        if not (self.assumptions.coalition and self.assumptions.nonnegative):
            return self._play(low, high, width)
        part = self._parts()
        close = self._propagated(np.maximum(low, part), high)
        # Where contributors are left as much as anybody is to be, nobody else needs to be asked.
        told, left = self._play(*close, width)
        width = np.where(told | left, width, 0)
        failing, undecided = self._play(low, high, width)
        told, left = self._play(*close, np.where(failing, 0, self._left_by(part, width)))
        failing |= told
        return Disclosed(failing, (undecided | left) & ~failing)

    def told(self, low: Floats, high: Floats) -> Booleans:
        """Of which sensitive cells these intervals tell somebody too much, each by itself; shape (c,).

        low, high : shape (c,), besides what is known beforehand; the truth may lie outside
        """
        least, most = self.assumptions.bounds(self.cells, self.requirements.sensitive)
        total, low, high = self.cells.total, np.maximum(low, least), np.minimum(high, most)
        told = self._tells(total - low, high - total, self._width)
        if self.assumptions.coalition and self.assumptions.nonnegative:
            part = self._parts()
            told |= self._tells(total - np.maximum(low, part), high - total, self._left_by(part, self._width))
        return told & self.requirements.sensitive

    @property
    def _width(self) -> Integers:
        """How many whole numbers anybody is to be left of each cell, besides one."""
        needs = self.requirements
        return np.where(needs.sensitive, np.maximum(needs.sliding, needs.lower + needs.upper), 0)

    def _left_by(self, part: Integers, width: Integers) -> Integers:
        """Contributors are to be left less below than anybody: no more than their own parts leave."""
        left: Integers = width - np.maximum(self.requirements.lower - (self.cells.total - part), 0).clip(max=width)
        return left

    def _parts(self) -> Integers:
        """What the largest contributors of each cell know that it is at least."""
        cells = self.cells
        one: Integers = np.minimum(10**cells.decimals, cells.total)
        if not self.assumptions.own_parts:
            return one
        parts: Integers = np.maximum(one, cells.largest[:, : self.assumptions.coalition].sum(axis=1))
        return parts

    def _propagated(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        total = self.cells.total
        return propagated_bounds(self.cells.equations, np.minimum(low, total), np.maximum(high, total))

    def _play(self, low: Floats, high: Floats, width: Integers) -> Disclosed:
        """Which cells are not left `width` whole numbers besides one, or are surely of somebody and sensitive."""
        equations, total = self.cells.equations, self.cells.total
        beyond = self._beyond
        failing = self._tells(total - low, high - total, width)  # by their bounds alone
        open_ = (width > 0) & ~failing
        upper = np.maximum(beyond, self.requirements.upper)
        lower = np.maximum(width - upper, 0)
        # Most cells are open to both sides; the sum of both, or that a cell may be empty, is looked at for the rest.
        for asked in ((lower, upper), (np.maximum(width, np.where(beyond > 0, total, 0)), width + beyond)):
            if not open_.any():
                break
            asked_down, asked_up = (np.where(open_, side, 0) for side in asked)
            down, up = attacker_interval(equations, total, low, high, asked_down, asked_up)
            # Less than asked says how far it is not; how far it is is proven where all was reached.
            open_ &= self._tells(np.where(down == asked_down, down, 0), np.where(up == asked_up, up, 0), width)
        if not open_.any():
            return Disclosed(failing, open_)
        some_undecided = np.isnan(down) | np.isnan(up)
        failing |= open_ & ~some_undecided & self._tells(down, up, width)
        open_ &= ~failing
        asked_down, asked_up = (np.where(open_ & ~some_undecided, side, 0).astype(np.int64) for side in (down, up))
        down, up = attacker_interval(equations, total, low, high, asked_down, asked_up)
        proven = (down == asked_down) & (up == asked_up) & ~some_undecided
        return Disclosed(failing, open_ & ~proven)

    def _tells(self, down: Floats | Integers, up: Floats | Integers, width: Integers) -> Booleans:
        told: Booleans = (down + up < width) | ((up < self._beyond) & (down < self.cells.total))
        return told

    @cached_property
    def _beyond(self) -> Integers:
        """How far above each sensitive cell the least count is that is certainly safe."""
        least_safe = sensitive_counts(self.rules, 10**self.cells.decimals)[1]
        above = np.where(self.requirements.sensitive, np.maximum(least_safe - self.cells.total, 0), 0)
        return above.astype(np.int64)

"""What a reader of a rounded table cannot exclude: whole tables that add up, each cell near its figure.

Three readers. Anybody must believe each sensitive cell possible at its level below and above the truth. Who knows
which cells are sensitive, and their levels, knows that no multiple was taken that would have left less than that, and
so a little more; to it the cell must be as wide open as both levels together, wherever in that the truth is.
Contributors who are alone in cells know these, and have their own part of others.

Source: Salazar-González (2006), the attacker's problems; the readers are this project's own.
"""

from dataclasses import dataclass

import numpy as np

from sluice.tabular.alternatives.attacker_interval import NEAR, attacker_interval
from sluice.tabular.alternatives.contributors_in_groups import Told, alone_in, parts_of, play_contributors
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Floats, Integers
from sluice.tabular.rules.sensitivity import Requirements


@dataclass(frozen=True, eq=False)
class RoundedTable:
    """A rounded table beside the truth; every published cell is at most `open_` units from its figure."""

    cells: Cells
    value: Integers
    open_: int
    requirements: Requirements
    assumptions: Assumptions

    def bounds(self) -> tuple[Floats, Floats]:
        """Between what each total lies for anybody; shapes (c,)."""
        low, high = self.assumptions.bounds(self.cells)
        near = self.cells.published
        return np.maximum(low, np.where(near, self.value - self.open_, -np.inf)), np.minimum(
            high, np.where(near, self.value + self.open_, np.inf)
        )

    def read(self) -> Told:
        """Of which sensitive cells somebody can tell too much, and of which that stayed open; shapes (c,)."""
        needs, sensitive = self.requirements, self.requirements.sensitive
        low, high = self.bounds()
        failing, undecided = self._play(low, high, needs.lower, needs.upper, needs.sliding)
        seen = sensitive & self.cells.published
        knowing_low = np.where(seen, np.maximum(low, self.value - self.open_ + needs.lower), low)
        knowing_high = np.where(seen, np.minimum(high, self.value + self.open_ - needs.upper), high)
        # Cells that no rounding protects in full are found by the first reader; here they must hold the truth.
        total = self.cells.total
        knowing_low, knowing_high = np.minimum(knowing_low, total), np.maximum(knowing_high, total)
        nothing = np.zeros(len(total), dtype=np.int64)
        width = np.where(sensitive, needs.lower + needs.upper, 0)
        found = [(failing, undecided), self._play(knowing_low, knowing_high, nothing, nothing, width)]
        found.append(play_contributors(self.cells, sensitive, self.assumptions.coalition, self._contributors))
        failing = np.logical_or.reduce([told for told, _ in found])
        return failing, np.logical_or.reduce([left for _, left in found]) & ~failing

    def _contributors(self, readers: Booleans, asked: Booleans, alone: bool) -> Told:
        cells, needs, total = self.cells, self.requirements, self.cells.total
        low, high = self.bounds()
        if self.assumptions.own_parts and self.assumptions.nonnegative and cells.largest.shape[1] > 1:
            others = needs.sensitive & ~readers
            low = np.maximum(low, parts_of(cells, self.assumptions.coalition, others))
        known = readers & alone_in(cells, self.assumptions.coalition)
        low, high = np.where(known, total, np.minimum(low, total)), np.where(known, total, high)
        # Nobody asks for more than one's own part of a cell leaves.
        lower = np.where(asked, np.minimum(needs.lower, total - low), 0).astype(np.int64)
        return self._play(low, high, lower, np.where(asked, needs.upper, 0), np.zeros(len(total), dtype=np.int64))

    def _play(self, low: Floats, high: Floats, lower: Integers, upper: Integers, sliding: Integers) -> Told:
        equations, total = self.cells.equations, self.cells.total
        down, up = attacker_interval(equations, total, low, high, lower, upper)
        undecided = np.isnan(down) | np.isnan(up)
        wide = sliding > np.nan_to_num(down) + np.nan_to_num(up) + NEAR
        if wide.any():
            # The sum of both sides may be reached where a side asks for less; it is looked at for these cells alone.
            more = np.where(wide, sliding, 0)
            far_down, far_up = attacker_interval(equations, total, low, high, more, more)
            undecided |= wide & (np.isnan(far_down) | np.isnan(far_up))
            wide &= sliding > np.nan_to_num(far_down) + np.nan_to_num(far_up) + NEAR
        failing: Booleans = (down < lower) | (up < upper) | (wide & ~undecided)
        return failing, undecided & ~failing

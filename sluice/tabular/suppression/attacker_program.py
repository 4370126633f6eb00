"""The attacker's problem: how far from its value a sensitive cell can lie, given what is suppressed, wholly or in part.

Source: Fischetti and Salazar-González (2001), section 2: maximise y_p over A y = 0 with each y_i within x_i times what
attackers believe possible of cell i. Its dual is a combination of the sums; any such combination limits y_p, whoever
found it.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sluice.tabular.model.cells import Floats
from sluice.tabular.model.linear_solver import is_optimal, solver_of
from sluice.tabular.suppression.unknown_cells import UnknownCells

_DENOMINATOR = 27720  # of every fraction with 12 or less below the line: multipliers are such fractions, nearly always
_FINE = 2**24


class AttackerProgram:
    """The problem over some sums and some unknowns; the others do not change. Changes are in units of the level.

    rows     : which sums
    at       : shape (k,), which unknowns take part, in rising order
    openness : shape (k,), 0 to 1, how far each is suppressed
    """

    def __init__(self, unknowns: UnknownCells, rows: NDArray[np.intp], at: NDArray[np.intp], openness: Floats) -> None:
        self._unknowns, self._rows, self.at = unknowns, rows, at
        self._openness = openness
        nothing = np.zeros(len(rows))
        self._solver = solver_of(unknowns.rows[rows][:, at], nothing, nothing, presolve="off")
        self._solver.setOptionValue("simplex_strategy", 4)  # primal: the last answer stays feasible when levels change
        self._all = np.arange(len(at), dtype=np.int32)

    @cached_property
    def _touched(self) -> NDArray[np.intp]:
        return np.unique(self._unknowns.rows[self._rows].indices).astype(np.intp)

    def furthest(
        self, target: int, side: int, level: float, cap: float, most: float, known: NDArray[np.intp]
    ) -> tuple[float, Floats, Floats, Floats]:
        """The largest change of the target on one side, 1 or -1, and what proves it.

        cap     : no change is larger than `cap` levels
        most    : nor the target's than so many
        known   : unknowns that these attackers know
        returns : the change; shape (k,), all changes; shape (k,), the openness that each needs; the multipliers of the
                  sums
        """
        at = int(np.searchsorted(self.at, target))
        down = np.minimum(self._unknowns.down[self.at] / level, cap)
        up = np.minimum(self._unknowns.up[self.at] / level, cap)
        low, high = -down * self._openness, up * self._openness
        shut = np.searchsorted(self.at, known)
        shut = shut[(shut < len(self.at)) & (self.at[np.minimum(shut, len(self.at) - 1)] == known)]
        low[shut] = high[shut] = 0
        room = (self._unknowns.up if side > 0 else self._unknowns.down)[target] / level
        low[at], high[at] = (0, min(room, most)) if side > 0 else (-min(room, most), 0)
        self._solver.changeColsBounds(len(self._all), self._all, low, high)
        self._solver.changeColCost(at, -float(side))
        self._solver.run()
        if not is_optimal(self._solver):
            self._solver.clearSolver()
            self._solver.run()
        self._solver.changeColCost(at, 0.0)
        solution = self._solver.getSolution()
        change = np.array(solution.col_value)
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = np.where(change > 0, change / up, np.where(change < 0, -change / down, 0))
        return side * float(change[at]), change, np.nan_to_num(needed), np.array(solution.row_dual)

    def limits(self, multipliers: Floats, target: int, side: int, level: float, known: NDArray[np.intp]) -> Floats:
        """What the suppression of each unknown lets the target change, at most, in levels and at most 1; shape (u,).

        For whole x, the target changes by a level only if these, times x, add up to 1: that is so for any multipliers,
        as 0 times a sum is 0. Multipliers are rounded to fractions so that their combinations are exact.
        """
        whole = np.rint(multipliers * _DENOMINATOR)
        if np.abs(whole - multipliers * _DENOMINATOR).max(initial=0) < 1e-2:
            multipliers = whole
            unit = _DENOMINATOR
        else:
            multipliers = np.rint(multipliers * _FINE)
            unit = _FINE
        touched = self._touched
        by = (multipliers @ self._unknowns.rows[self._rows][:, touched]) / unit
        by[np.searchsorted(touched, target)] += side
        by[np.isin(touched, known)] = 0
        with np.errstate(invalid="ignore"):
            room = np.where(by > 0, by * self._unknowns.up[touched], -by * self._unknowns.down[touched])
        limits = np.zeros(len(self._unknowns))
        limits[touched] = np.minimum(np.where(by == 0, 0, room) / level, 1)
        return limits

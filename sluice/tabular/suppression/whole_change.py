"""Changes in whole units: what a linear program answers is no table that anybody believes where it is a fraction.

The basic solutions of two-dimensional tables are whole (they are flows); those of others mostly are. Of one that is
not, a multiple may be; in the last resort, unknowns are fixed at whole numbers one by one ("diving" in Achterberg 2007,
section 9.2), and where this fails, an integer program decides.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, hstack, vstack

from sluice.tabular.model.cells import Codes, Floats
from sluice.tabular.model.linear_solver import is_optimal, solver_of

_MULTIPLES = (2, 3, 4, 6)
_NEAR = 1e-3  # units, from a whole number
_STILL = 1e-7  # levels; what moves less is at rest
_SOME = 150, 400  # cells of an integer program besides those that move, at first
_MOST = 5000  # cells of one at all
_NODES = 100
_ROUNDINGS = 200  # of one unknown each


@dataclass(frozen=True, eq=False)
class WholeBlock:
    """The sums between s unknowns, and how far each may move.

    level         : how far the targets, together, shall move upwards at least; a multiple of the unit
    unit          : what every change is a multiple of
    price         : shape (s,), of moving each by a level
    gains, losses : shape (s,), how far each may move, in levels
    start         : shape (s + 1,), the entries of each unknown in `row` and `sign`
    targets       : positions of the targets
    """

    level: int
    unit: int
    price: Floats
    gains: Floats
    losses: Floats
    start: Codes
    row: Codes
    sign: Floats
    targets: NDArray[np.intp]

    def whole(self, change: Floats) -> Floats | None:
        """Shape (s,), in units: a change like this one, which is in levels, that is whole; None when none was found."""
        parts = self.level // self.unit
        for times in (1, *_MULTIPLES):
            found = np.rint(times * parts * change)
            near = np.abs(found - times * parts * change).max(initial=0) < _NEAR + _STILL * times * parts
            if near and self._holds(found):
                return found * self.unit
        return None

    def _holds(self, change: Floats) -> bool:
        """Whether a change, in parts of a level, keeps every sum and stays within the bounds."""
        parts = self.level // self.unit
        off = np.bincount(self.row, weights=self.sign * np.repeat(change, np.diff(self.start)), minlength=1)
        if off.any() or change[self.targets].sum() < parts:
            return False
        slack = 1e-9 * parts
        return bool((change <= self.gains * parts + slack).all() and (change >= -self.losses * parts - slack).all())

    def by_program(self, change: Floats) -> Floats | None:
        """Such a change by rounding one unknown after the other; else by an integer program, over few, then over more.

        cost : up to seconds
        """
        moved = np.abs(change) > _STILL
        order = np.lexsort((self.price, ~moved))
        found = self._by_rounding()
        for most in (*(int(moved.sum()) + some for some in _SOME), _MOST):
            if found is not None or most > _MOST:
                break
            found = self._programmed(np.sort(order[:most]))
            if most >= len(order):
                break
        return found

    def _by_rounding(self) -> Floats | None:
        """The cheapest change, and again with what is nearest to a whole number fixed there, until all is whole."""
        count = len(self.price)
        solver = self._solver(np.arange(count), whole=False)
        solver.run()
        for _ in range(_ROUNDINGS):
            if not is_optimal(solver):
                return None
            change = np.array(solver.getSolution().col_value)
            change = change[:count] - change[count:]
            found = np.rint(change)
            off = np.abs(change - found)
            if off.max() < _NEAR:
                return found * self.unit if self._holds(found) else None
            at = int(np.where(off < _NEAR, np.inf, off).argmin())
            for value in (found[at], found[at] + np.copysign(1, change[at] - found[at])):
                up, down = max(value, 0.0), max(-value, 0.0)
                solver.changeColBounds(at, up, up)
                solver.changeColBounds(count + at, down, down)
                solver.run()
                if is_optimal(solver):
                    break
        return None

    def _solver(self, inside: NDArray[np.intp], whole: bool, **options: Any) -> Any:
        """The program of what these gain and what they lose, in parts of a level."""
        parts, count = self.level // self.unit, len(inside)
        shape = int(self.row.max(initial=0)) + 1, len(self.price)
        matrix = csc_array((self.sign, self.row, self.start), shape=shape)[:, inside]
        target = csr_array(np.isin(inside, self.targets)[None, :].astype(np.float64))
        rows = csr_array(vstack([hstack([matrix, -matrix]), hstack([target, -target])]))
        least = np.zeros(rows.shape[0])
        most = np.zeros(rows.shape[0])
        least[-1], most[-1] = parts, np.inf
        limits = np.minimum(np.concatenate([self.gains[inside], self.losses[inside]]) * parts, 1e6 * parts)
        price = np.tile(self.price[inside], 2)
        return solver_of(rows, least, most, price, np.zeros(2 * count), np.rint(limits), whole=whole, **options)

    def _programmed(self, inside: NDArray[np.intp]) -> Floats | None:
        import highspy

        count = len(inside)
        solver = self._solver(inside, whole=True, mip_max_improving_sols=1, mip_max_nodes=_NODES)
        solver.run()
        if solver.getInfo().primal_solution_status != int(highspy.SolutionStatus.kSolutionStatusFeasible):
            return None
        values = np.rint(solver.getSolution().col_value)
        change = np.zeros(len(self.price))
        change[inside] = values[:count] - values[count:]
        return change * self.unit if self._holds(change) else None

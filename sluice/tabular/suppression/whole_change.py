"""Changes in whole units: what a linear program answers is no table that anybody believes where it is a fraction.

The basic solutions of two-dimensional tables are whole (they are flows); those of others mostly are. Large levels and
bounds are multiples of a unit whose halves, thirds and quarters are whole as well. Of a solution that is not whole all
the same, a multiple may be, or another near it (`BlockProgram`); in the last resort, an integer program decides.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, hstack, vstack

from sluice.tabular.model.cells import Codes, Floats
from sluice.tabular.model.linear_solver import solver_of

_MULTIPLES = (2, 3, 4, 6)
NEAR = 1e-3  # units, from a whole number
STILL = 1e-7  # levels; what moves less is at rest
_SOME = 150, 400  # cells of an integer program besides those that move, at first
_MOST = 5000  # cells of one at all
_NODES = 100


@dataclass(frozen=True, eq=False)
class WholeBlock:
    """The sums between s unknowns, and how far each may move.

    level         : how far the targets, together, shall move upwards at least; a multiple of the unit
    unit          : what the level and the bounds are multiples of
    price         : shape (s,), of moving each by a level
    gains, losses : shape (s,), how far each may move, in levels; infinite, or a multiple of the unit
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
        """Shape (s,): a change like this one, which is in levels, that is whole; None when none was found."""
        for times in (1, *_MULTIPLES):
            exact = times * self.level * change
            found = np.rint(exact)
            if np.abs(found - exact).max(initial=0) < NEAR + STILL * times * self.level and self._holds(found):
                return found
        return None

    def _holds(self, change: Floats) -> bool:
        """Whether a whole change keeps every sum and stays within the bounds."""
        off = np.bincount(self.row, weights=self.sign * np.repeat(change, np.diff(self.start)), minlength=1)
        if off.any() or change[self.targets].sum() < self.level:
            return False
        most, least = np.rint(self.gains * self.level), -np.rint(self.losses * self.level)
        return bool((change <= most).all() and (change >= least).all())

    def by_program(self, change: Floats) -> Floats | None:
        """Such a change by an integer program, over few unknowns, then over more.

        cost : up to seconds
        """
        moved = np.abs(change) > STILL
        order = np.lexsort((self.price, ~moved))
        for most in (*(int(moved.sum()) + some for some in _SOME), _MOST):
            found = self._programmed(np.sort(order[:most])) if most <= _MOST else None
            if found is not None or most >= len(order):
                return found
        return None

    def _solver(self, inside: NDArray[np.intp]) -> Any:
        """The integer program of what these gain and what they lose, in parts of a level."""
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
        return solver_of(
            rows, least, most, price, np.zeros(2 * count), np.rint(limits),
            whole=True, mip_max_improving_sols=1, mip_max_nodes=_NODES,
        )  # fmt: skip

    def _programmed(self, inside: NDArray[np.intp]) -> Floats | None:
        import highspy

        count = len(inside)
        solver = self._solver(inside)
        solver.run()
        if solver.getInfo().primal_solution_status != int(highspy.SolutionStatus.kSolutionStatusFeasible):
            return None
        values = np.rint(solver.getSolution().col_value)
        change = np.zeros(len(self.price))
        change[inside] = (values[:count] - values[count:]) * self.unit
        return change if self._holds(change) else None

"""Feasibility intervals: between the least and the most that each unpublished cell can be, as anybody can compute.

Source: Fischetti and Salazar-González (2001), section 2, the attacker's two linear programs for each cell.
"""

import numpy as np
from scipy.sparse import csr_array

from sluice.ground.errors import DataError
from sluice.ground.parallel_jobs import each_in_threads
from sluice.tabular.model.cells import Floats
from sluice.tabular.model.known_sums import Indices, components, computable

_WHOLE = 1e-6  # and a thousandth of it of the number: a solver's rounding error
_NODES = 500  # of branch and bound, until an integer program counts as unsolved
_NEAR = 1e-9  # relative to the numbers of an equation: further apart, its parts do not add up


class TotalsDoNotAddError(DataError):
    """What is published contradicts itself; `equation` is the row of the first sum that cannot hold."""

    def __init__(self, equation: int) -> None:
        super().__init__(f"totals that do not add: equation {equation} cannot hold with what is published")
        self.equation = equation


class UnsolvedError(Exception):
    """A linear program that the solver did not finish."""


class FeasibleRegion:
    """All values that a set of cells can take, and a solver that keeps its last basis from question to question.

    matrix       : shape (e, c), sums between the cells
    known        : shape (e,), what each row adds up to
    lower, upper : shape (c,), bounds of the cells; may be infinite
    """

    def __init__(self, matrix: csr_array, known: Floats, lower: Floats, upper: Floats) -> None:
        import highspy

        self._highspy = highspy
        self.matrix, self.known, self.lower, self.upper = matrix, known, lower, upper
        finite = [np.abs(a[np.isfinite(a)]).max(initial=0.0) for a in (known, lower, upper)]
        self._scale = max(1.0, max(finite) / 1e7)  # keeps the solver's absolute tolerance, 1e-7, above rounding errors
        model = highspy.HighsLp()
        rows, columns = matrix.shape
        model.num_col_, model.num_row_ = columns, rows
        model.col_cost_ = np.zeros(columns)
        model.col_lower_, model.col_upper_ = lower / self._scale, upper / self._scale
        model.row_lower_ = model.row_upper_ = known / self._scale
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = matrix.indptr
        model.a_matrix_.index_ = matrix.indices
        model.a_matrix_.value_ = matrix.data
        self._solver = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, setting in (("output_flag", False), ("threads", 1), ("presolve", "off"), ("solver", "simplex")):
            self._solver.setOptionValue(option, setting)
        self._solver.passModel(model)

    def bound(self, cells: Indices, lower: Floats, upper: Floats) -> None:
        """Change the bounds of some cells."""
        self._solver.changeColsBounds(len(cells), cells.astype(np.int32), lower / self._scale, upper / self._scale)

    def extreme(self, cell: int, sign: int) -> tuple[float, Floats]:
        """The least (sign -1) or most (sign +1) that a cell can be, infinite for no bound, and a point where it is so.

        raises : UnsolvedError when the solver ends without an optimum; ValueError when no values fit at all
        """
        self._solver.changeColCost(cell, -float(sign))
        self._solver.run()
        status = self._solver.getModelStatus()  # before the costs change: that resets it
        point = np.asarray(self._solver.getSolution().col_value)
        self._solver.changeColCost(cell, 0.0)
        kinds = self._highspy.HighsModelStatus
        if status == kinds.kOptimal:
            return float(point[cell]) * self._scale, point * self._scale
        if status == kinds.kInfeasible:
            raise ValueError("no values fit")
        if status in (kinds.kUnbounded, kinds.kUnboundedOrInfeasible):
            return sign * np.inf, point * self._scale
        raise UnsolvedError(f"the solver ended with {status}")

    def whole_extreme(self, cell: int, sign: int) -> float:
        """The same end if all cells are whole numbers: by a bounded integer program where the answer has fractions.

        raises : UnsolvedError when branch and bound gives up, ValueError when no whole numbers fit
        """
        end, point = self.extreme(cell, sign)
        whole = np.rint(point)
        near = bool((np.abs(point - whole) <= _WHOLE * np.maximum(1, np.abs(point) / 1e3)).all())
        if not np.isfinite(end) or (near and not (self.matrix @ whole - self.known).any()):
            return float(np.rint(end))
        highs = self._highspy
        model = self._solver.getLp()
        model.integrality_ = [highs.HighsVarType.kInteger] * len(point)
        model.col_lower_, model.col_upper_ = self.lower, self.upper
        model.row_lower_ = model.row_upper_ = self.known
        costs = np.zeros(len(point))
        costs[cell] = -float(sign)
        model.col_cost_ = costs
        solver = highs.Highs()
        for option, setting in (("output_flag", False), ("threads", 1), ("mip_max_nodes", _NODES)):
            solver.setOptionValue(option, setting)
        solver.passModel(model)
        solver.run()
        status = solver.getModelStatus()
        if status == highs.HighsModelStatus.kInfeasible:
            raise ValueError("no whole numbers fit")
        if status != highs.HighsModelStatus.kOptimal:
            raise UnsolvedError(f"the solver ended with {status}")
        return float(np.rint(np.asarray(solver.getSolution().col_value)[cell]))

    def contradiction(self) -> int:
        """Of an empty region, the first row that must be broken when as little as possible is."""
        from scipy.optimize import linprog
        from scipy.sparse import eye_array, hstack

        rows, columns = self.matrix.shape
        eye = eye_array(rows, format="csr")
        found = linprog(  # type: ignore[call-overload]
            np.r_[np.zeros(columns), np.ones(2 * rows)],
            A_eq=hstack([self.matrix, eye, -eye]),
            b_eq=self.known,
            bounds=[*zip(self.lower, self.upper, strict=True), *[(0, None)] * (2 * rows)],
        )
        broken = found.x[columns : columns + rows] + found.x[columns + rows :]
        return int(np.argmax(broken > broken.max() / 2))


def feasibility_intervals(
    equations: csr_array,
    value: Floats,
    which: Indices,
    lower: Floats,
    upper: Floats,
    workers: int = 1,
    whole: bool = False,
) -> tuple[Floats, Floats]:
    """The least and the most that each of some cells can be, given the published values, the sums and the bounds.

    equations    : shape (e, c), +1 at a sum and -1 at its parts
    value        : shape (c,), NaN where it is not published
    which        : positions of those cells
    lower, upper : shape (c,), bounds known beforehand; infinite for none
    whole        : all cells are whole numbers, so the ends are as well
    returns      : two arrays of the shape of `which`; NaN where the solver did not finish
    raises       : TotalsDoNotAddError when the published values contradict each other or the bounds
    cost         : two linear programs for each such cell, over the unpublished cells that hang together with it
    """
    matrix, size_of = csr_array(equations), abs(csr_array(equations))
    value = np.asarray(value, dtype=np.float64)
    known = np.nan_to_num(value)
    size = size_of @ np.abs(known)
    gap = matrix @ known
    free = np.isnan(value)
    counts = size_of @ free.astype(np.float64)
    wrong = np.flatnonzero((counts == 0) & (np.abs(gap) > _NEAR * np.maximum(size, 1)))
    if len(wrong):
        raise TotalsDoNotAddError(int(wrong[0]))
    low, high = np.where(free, lower, value), np.where(free, upper, value)
    for cell, row, sign in computable(matrix, free):
        amount = -sign * float((matrix[[row], :] @ known)[0])
        slack = _NEAR * max(size[row], abs(amount), 1)
        if not low[cell] - slack <= amount <= high[cell] + slack:
            raise TotalsDoNotAddError(int(row))
        known[cell] = low[cell] = high[cell] = amount
        free[cell] = False
    right = -(matrix @ np.where(free, 0.0, known))
    wrong = np.flatnonzero((size_of @ free.astype(np.float64) == 0) & (np.abs(right) > _NEAR * np.maximum(size, 1)))
    if len(wrong):
        raise TotalsDoNotAddError(int(wrong[0]))
    label = components(matrix, free)
    which = np.asarray(which)
    groups = [which[free[which] & (label[which] == part)] for part in np.unique(label[which[free[which]]])]

    def solve(group: Indices) -> None:
        members = np.flatnonzero(free & (label == label[group[0]]))
        within = matrix[:, members]
        rows = np.flatnonzero(np.diff(within.indptr))
        region = FeasibleRegion(within[rows], right[rows], lower[members], upper[members])
        try:
            for cell in group:
                at = int(np.searchsorted(members, cell))
                low[cell], high[cell] = (_extreme(region, at, sign, whole) for sign in (-1, 1))
        except ValueError:
            raise TotalsDoNotAddError(int(rows[region.contradiction()])) from None

    list(each_in_threads(solve, groups, workers))
    return low[which], high[which]


def _extreme(region: FeasibleRegion, cell: int, sign: int, whole: bool) -> float:
    try:
        return region.whole_extreme(cell, sign) if whole else region.extreme(cell, sign)[0]
    except UnsolvedError:
        return np.nan

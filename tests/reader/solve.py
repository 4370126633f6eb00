"""Between which whole numbers a suppressed cell lies, for somebody with certain bounds: linear, then integer programs.

Points that were found stay: each is a table of whole numbers that fits all that is known, and shows for every cell at
once that its value there is possible. Who knows more may use those points that fit what it knows.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from tests.reader.published import Booleans, Integers, Published

Floats = NDArray[np.float64]

UNBOUNDED = 2**60
_EXACT = 1e9  # below it, whole numbers and the solver's tolerance keep apart
_SECONDS = 10.0  # for one integer program


@dataclass(frozen=True)
class Interval:
    """What is proven: no value below `low` or above `high` fits. `tight` where tables of whole numbers attain both."""

    low: int
    high: int
    tight: bool


class Solver:
    """All tables that fit what is published and the bounds.

    lower, upper : shape (c,), of the suppressed cells, whole numbers; UNBOUNDED for none
    """

    def __init__(self, published: Published, lower: Integers, upper: Integers) -> None:
        free = ~published.known
        rest = -(published.equations @ np.where(free, 0, published.value))
        matrix = published.equations[:, np.flatnonzero(free)].tocsr()
        label = connected_components(matrix.T @ matrix, directed=False)[1] if free.any() else np.zeros(0, dtype=int)
        self._of: dict[int, tuple[_Part, int]] = {}
        unknown = np.flatnonzero(free)
        for component in np.unique(label):
            inside = np.flatnonzero(label == component)
            within = matrix[:, inside].tocsr()
            rows = np.flatnonzero(np.diff(within.indptr))
            members = unknown[inside]
            part = _Part(within[rows], np.rint(rest[rows]).astype(np.int64), lower[members], upper[members])
            for at, cell in enumerate(members.tolist()):
                self._of[cell] = part, at

    def interval(
        self, cell: int, more: Mapping[int, tuple[int, int]] | None = None, enough: tuple[int, int] | None = None
    ) -> Interval:
        """The least and the most that a suppressed cell can be.

        more   : tighter bounds of some suppressed cells, for somebody who knows more
        enough : stop, with bounds that are too wide, as soon as tables are known with these values or beyond
        """
        part, at = self._of[cell]
        known = {self._of[c][1]: ends for c, ends in (more or {}).items() if self._of[c][0] is part}
        return part.interval(at, known, enough)

    def together(self, cell: int, other: int) -> bool:
        """Whether what one suppressed cell is may depend on the other."""
        return self._of[cell][0] is self._of[other][0]


class _Part:
    """Suppressed cells that hang together."""

    def __init__(self, matrix: csr_array, right: Integers, lower: Integers, upper: Integers) -> None:
        self.matrix, self.right, self.lower, self.upper = matrix, right, lower, upper
        self.points = np.zeros((0, len(lower)), dtype=np.int64)
        self._size = matrix.shape[1]
        self._scale = max(1.0, float(np.abs(right).max(initial=0)) / 1e7) if not self.is_whole else 1.0
        self._linear = self._model(whole=False)
        self._integer: highspy.Highs | None = None
        self._bounds: dict[int, tuple[int, int]] = {}

    @property
    def is_whole(self) -> bool:
        """Whether numbers are small enough for integer programs."""
        return bool(np.abs(self.right).max(initial=0) < _EXACT)

    def _model(self, whole: bool) -> highspy.Highs:
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = self.matrix.shape
        model.col_cost_ = np.zeros(self._size)
        model.col_lower_, model.col_upper_ = (self._ends(each) for each in (self.lower, self.upper))
        model.row_lower_ = model.row_upper_ = self.right / self._scale
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_, model.a_matrix_.index_ = self.matrix.indptr, self.matrix.indices
        model.a_matrix_.value_ = self.matrix.data
        if whole:
            model.integrality_ = [highspy.HighsVarType.kInteger] * self._size
        solver = highspy.Highs()
        for option, value in (("output_flag", False), ("threads", 1), ("time_limit", highspy.kHighsInf)):
            solver.setOptionValue(option, value)
        if whole:
            solver.setOptionValue("mip_rel_gap", 0.0)
        else:
            solver.setOptionValue("presolve", "off")
        solver.passModel(model)
        return solver

    def _ends(self, bounds: Integers) -> Floats:
        return np.where(np.abs(bounds) < UNBOUNDED, bounds / self._scale, np.where(bounds > 0, np.inf, -np.inf))

    def interval(self, at: int, known: Mapping[int, tuple[int, int]], enough: tuple[int, int] | None) -> Interval:
        fits = np.ones(len(self.points), dtype=bool)
        for other, (low, high) in known.items():
            fits &= (self.points[:, other] >= low) & (self.points[:, other] <= high)
        seen = self.points[fits, at]
        if enough and len(seen) and seen.min() <= enough[0] and seen.max() >= enough[1]:
            return Interval(int(seen.min()), int(seen.max()), False)
        self._bound(known)
        low, low_attained = self._end(at, -1, int(seen.min()) if len(seen) else None, enough and enough[0])
        high, high_attained = self._end(at, 1, int(seen.max()) if len(seen) else None, enough and enough[1])
        return Interval(low, high, low_attained and high_attained)

    def _bound(self, known: Mapping[int, tuple[int, int]]) -> None:
        new = {a: (max(low, int(self.lower[a])), min(high, int(self.upper[a]))) for a, (low, high) in known.items()}
        gone = {a: (int(self.lower[a]), int(self.upper[a])) for a in self._bounds if a not in new}
        changed = gone | {a: ends for a, ends in new.items() if self._bounds.get(a) != ends}
        self._bounds = new
        if changed:
            which = np.array(list(changed), dtype=np.int32)
            low, high = (self._ends(np.array(ends, dtype=np.int64)) for ends in zip(*changed.values(), strict=True))
            for solver in (self._linear, self._integer):
                if solver is not None:
                    solver.changeColsBounds(len(which), which, low, high)

    def _end(self, at: int, sign: int, seen: int | None, enough: int | None) -> tuple[int, bool]:
        """The outermost value that is proven possible, or not excluded, and whether some table attains it."""
        if enough is not None and seen is not None and sign * seen >= sign * enough:
            return seen, False
        value, point = self._solve(self._linear, at, sign)
        if value is None:
            return sign * UNBOUNDED, True
        if not self.is_whole:
            return round(value), True
        bound = int(np.floor(value + 1e-6)) if sign > 0 else int(np.ceil(value - 1e-6))
        if seen == bound or self._keep(point)[at] == bound:
            return bound, True
        if self._integer is None:
            self._integer = self._model(whole=True)
            self._integer.setOptionValue("time_limit", _SECONDS)
            whole = self._integer
            for column, (low, high) in self._bounds.items():
                whole.changeColBounds(column, *(float(e) for e in self._ends(np.array([low, high]))))
        value, point = self._solve(self._integer, at, sign)
        if value is None:
            return bound, False
        bound = int(np.floor(value + 1e-6)) if sign > 0 else int(np.ceil(value - 1e-6))
        return bound, bool(self._keep(point)[at] == bound)

    def _solve(self, solver: highspy.Highs, at: int, sign: int) -> tuple[float | None, Floats]:
        """The proven bound, None for none, and a point."""
        solver.changeColCost(at, -float(sign))
        solver.run()
        kinds, status = highspy.HighsModelStatus, solver.getModelStatus()
        if status == kinds.kUnknown:  # the basis of the program before was a dead end
            solver.clearSolver()
            solver.run()
            status = solver.getModelStatus()
        point = np.asarray(solver.getSolution().col_value) * self._scale
        info = solver.getInfo()
        bound = info.mip_dual_bound if solver is self._integer else info.objective_function_value
        solver.changeColCost(at, 0.0)
        if status == kinds.kInfeasible:
            raise ValueError("no table fits: what is known contradicts itself")
        if status in (kinds.kUnbounded, kinds.kUnboundedOrInfeasible) or not np.isfinite(bound):
            return None, point
        assert status in (kinds.kOptimal, kinds.kTimeLimit), status
        return -sign * bound * self._scale, point

    def _keep(self, point: Floats) -> Integers:
        """Keep a point if it is a table of whole numbers within everybody's bounds; else values that nobody has."""
        nobody = np.full(self._size, -UNBOUNDED, dtype=np.int64)
        if len(point) != self._size:
            return nobody
        whole = np.rint(point).astype(np.int64)
        fits = np.abs(point - whole).max() < 1e-5 and (self.matrix @ whole == self.right).all()
        if not (fits and (whole >= self.lower).all() and (whole <= self.upper).all()):
            return nobody
        self.points = np.vstack([self.points, whole])
        return whole


def suppressed(published: Published) -> Booleans:
    """Shape (c,): cells that are listed without a value."""
    return np.array([word not in ("published", "withheld") for word in published.word])

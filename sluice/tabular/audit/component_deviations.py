"""Proofs that a cell of a large component is open: short deviations in whole units, found over the whole component."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sluice.tabular.audit.proven_interval import ProvenInterval, Question
from sluice.tabular.audit.whole_deviation import whole_multiple, whole_nearby
from sluice.tabular.model.cells import Booleans, Floats
from sluice.tabular.model.known_sums import Indices

_AVOIDED = 5  # times as dear: cells that a contributor knows
_LEAST, _MOST = 1e-6, 1e6  # of what the cell shall move: no price is for less room than that, and no cell has more
_NOTHING = 1e-9  # of the same: what moves less is at rest
_OFF = 1e-7  # of the same: what a sum may be off by, or a bound


class ComponentDeviations:
    """Deviations of n cells within e sums; keeps the solver, and what it found both ways.

    rows         : shape (e, n)
    members      : shape (n,), which cells these are, in rising order
    lower, upper : shape (n,), how far each may move; whole numbers or infinite
    avoid        : shape (n,), the cells that deviations leave alone if they can
    """

    def __init__(self, rows: csr_array, members: Indices, lower: Floats, upper: Floats, avoid: Booleans) -> None:
        self._rows, self._members, self._lower, self._upper = rows, members, lower, upper
        self._cheapest = CheapestDeviation(rows, avoid)
        self._found: dict[int, list[tuple[Indices, Floats]]] = {}  # cell -> cells that move with it, and how far

    def both_ways(self, question: Question) -> ProvenInterval | None:
        """An answer by one deviation that may be turned round: by one that was found for others, if it holds here.

        cost : a linear program, and a small integer program where its answer has fractions
        """
        found = self._found.setdefault(question.cell, [])
        for moved, change in found:
            if _fits(question, moved, change):
                return ProvenInterval.by_turning(int(np.searchsorted(moved, question.cell)), moved, change)
        lower, upper = question.limits(self._members, self._lower, self._upper)
        room = np.minimum(-lower, upper)
        whole = self._whole(question.cell, 1, max(question.need.widest, 1.0), -room, room)
        if whole is None:
            return None
        inside = np.flatnonzero(whole)
        moved, change = self._members[inside], whole[inside]
        found.append((moved, change))
        return ProvenInterval.by_turning(int(np.searchsorted(moved, question.cell)), moved, change)

    def each_way(self, question: Question) -> ProvenInterval | None:
        """An answer by a deviation up and another down, as far as the question asks for both."""
        need = question.need
        lower, upper = question.limits(self._members, self._lower, self._upper)
        ways: list[Floats] = []
        found = ProvenInterval.by_both(question.cell, self._members, ways)
        for sign, asked in ((1, need.upper), (-1, need.lower)):
            wanted = float(np.ceil(asked if need.lower + need.upper > 0 else need.sliding))
            if wanted <= 0 or need.met(found.below, found.above):
                continue
            way = self._whole(question.cell, sign, wanted, lower, upper)
            if way is not None:
                ways.append(way)
                found = ProvenInterval.by_both(question.cell, self._members, ways)
            elif asked > 0:
                return None
        return found if need.met(found.below, found.above) else None

    def _whole(self, cell: int, sign: int, wanted: float, lower: Floats, upper: Floats) -> Floats | None:
        """A whole deviation that moves a cell up (sign 1) or down by a whole number; shape (n,)."""
        at = int(np.searchsorted(self._members, cell))
        down, up = (-lower, upper) if sign > 0 else (upper, -lower)
        change = self._cheapest.change(at, wanted, down, up)
        if change is None:
            return None
        whole = whole_multiple(sign * change, self._rows, lower, upper)
        return whole_nearby(sign * change, at, self._rows, lower, upper) if whole is None else whole


def _fits(question: Question, moved: Indices, change: Floats) -> bool:
    """Whether a deviation answers a question, turned round as well."""
    far = np.abs(change)
    lower, upper = question.limits(moved, -far, far)
    enough = float(far[np.searchsorted(moved, question.cell)])
    return question.need.met(enough, enough) and bool((lower <= -far).all() and (upper >= far).all())


class CheapestDeviation:
    """The cheapest deviations of n cells within e sums that move one: sparse linear programs; keeps the solver.

    Its answers are short, so that few contributors know a cell of one, and it is quicker than the ends of the interval:
    the solver starts at rest, where nothing moves, and only has to mend what the moved cell breaks. It proves a cell
    open; where it finds nothing, a deviation may still be possible downwards and another upwards.

    matrix : shape (e, n)
    avoid  : shape (n,), the cells that deviations leave alone if they can
    """

    def __init__(self, matrix: csr_array, avoid: Booleans) -> None:
        import highspy

        self._matrix, self._weight = matrix, np.where(avoid, _AVOIDED, 1.0)
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        options: dict[str, Any] = {"output_flag": False, "threads": 1, "presolve": "off", "solver": "simplex"}
        for option, setting in (options | {"primal_feasibility_tolerance": 1e-9}).items():
            self._solver.setOptionValue(option, setting)
        sums, cells = matrix.shape
        columns = matrix.tocsc()
        starts = np.concatenate([columns.indptr[:-1], columns.indptr + columns.nnz]).astype(np.int32)
        rows, signs = np.tile(columns.indices, 2).astype(np.int32), np.concatenate([columns.data, -columns.data])
        nothing, right = np.zeros(2 * cells), np.zeros(sums)
        self._solver.passModel(
            2 * cells, sums, len(rows), 1, 1, 0.0, nothing, nothing, nothing, right, right,
            starts, rows, signs, np.zeros(2 * cells, dtype=np.int32),
        )  # fmt: skip

    def change(self, cell: int, wanted: float, down: Floats, up: Floats) -> Floats | None:
        """How far each cell moves when one moves up by `wanted`; None when nothing was found.

        down, up : shape (n,), how far each cell may move at most, 0 or more; the same for a deviation that may be
                   turned round
        returns  : shape (n,), in fractions
        cost     : 15 ms for 15,000 cells in 11,000 sums
        """
        cells = len(up)
        room = np.minimum(np.concatenate([up, down]) / wanted, _MOST)
        if room[cell] < 1:
            return None
        price = np.tile(self._weight, 2) / np.clip(room, _LEAST, 1)
        price /= price.max()
        lower, upper = np.zeros(2 * cells), room.copy()
        lower[cell] = upper[cell] = 1
        upper[cells + cell] = 0
        every = np.arange(2 * cells, dtype=np.int32)
        self._solver.clearSolver()
        self._solver.changeColsBounds(len(every), every, lower, upper)
        self._solver.changeColsCost(len(every), every, price)
        self._solver.run()
        if self._solver.getModelStatus() != self._optimal:
            return None
        found = np.asarray(self._solver.getSolution().col_value)
        change = found[:cells] - found[cells:]
        change[np.abs(change) <= _NOTHING] = 0
        outside = (change > room[:cells] + _OFF) | (change < -room[cells:] - _OFF)
        if np.abs(self._matrix @ change).max(initial=0) > _OFF or outside.any():
            return None
        if change[cell] < 1 - _OFF:
            return None
        scaled: Floats = change * wanted
        return scaled

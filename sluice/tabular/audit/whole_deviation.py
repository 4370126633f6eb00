"""Deviations in whole units, which alone are possible to somebody who knows in which unit a table is published.

A linear program answers in fractions: that a cell may lie anywhere from 1 to 1.5 is no proof that it may be 2. Where it
does not move far enough for the need, the attack succeeds; where it does, a multiple of the answer is whole if there is
room; else a bounded integer program decides, or nothing is decided. The methods that protect have a solver of whole
units of their own (`sluice/tabular/alternatives/whole_moves.py`), twins on purpose: the audit shares no code with what
it judges, so that a mistake in one does not hide in the other.

Source: Fischetti and Salazar-González (2001), section 2, for the deviations of linear programs; that they must be whole
is this project's own.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sluice.tabular.audit.proven_interval import ProvenInterval, Question
from sluice.tabular.model.cells import Floats
from sluice.tabular.model.feasibility_interval import FeasibleRegion, UnsolvedError
from sluice.tabular.model.known_sums import Indices

MULTIPLES = (1, 2, 3, 4, 5, 6, 8, 10, 12)  # denominators that the vertices of tables of few dimensions have
_NODES = 500  # of branch and bound, until an integer program counts as undecided
_FURTHEST = 1e7  # units; no integer program looks at deviations beyond
_APART = 2  # units; no further from fractions a whole deviation is looked for near them
_NOISE = 1e-6  # units, and a thousandth of it of what moves: a solver's rounding error


def whole_part(amount: float) -> float:
    """Of 0 or more, in fractions as a solver found it: the largest whole number up to it."""
    return float(np.floor(amount + _NOISE * max(1.0, amount / 1e3)))


def whole_multiple(change: Floats, rows: csr_array, lower: Floats, upper: Floats) -> Floats | None:
    """The least multiple of a deviation that is whole, keeps every sum exactly and stays within bounds, if any does.

    change       : shape (n,)
    rows         : shape (e, n), the sums
    lower, upper : shape (n,), whole numbers or infinite
    """
    for times in MULTIPLES:
        exact = times * change
        made = np.rint(exact)
        if (np.abs(exact - made) > 1e-5 + 1e-7 * np.abs(exact)).any():
            continue
        if (made >= lower).all() and (made <= upper).all() and not (rows @ made).any():
            return made
    return None


def whole_nearby(change: Floats, cell: int, rows: csr_array, lower: Floats, upper: Floats) -> Floats | None:
    """A whole deviation of the cells that a fractional one moves, by nearly as much; that of one cell is rounded down.

    For a deviation that fits its bounds only once, so that no multiple does.

    change       : shape (n,)
    cell         : the position of that one
    rows         : shape (e, n), the sums
    lower, upper : shape (n,), whole numbers or infinite
    returns      : shape (n,); None where that cell does not move, and where nothing was found, which does not prove
                   that there is none
    cost         : a bounded integer program over the cells that move, each with a few values
    """
    if not change[cell]:
        return None
    moved = np.flatnonzero(change)
    near, at = change[moved], int(np.searchsorted(moved, cell))
    low = np.maximum(lower[moved], np.floor(near) - _APART)
    high = np.minimum(upper[moved], np.ceil(near) + _APART)
    far = whole_part(float(np.abs(near[at])))
    if far <= 0 or (low > high).any():
        return None
    sign = 1 if near[at] > 0 else -1
    low[at] = high[at] = sign * far
    among = rows[:, moved]
    found, _ = WholeDeviations(among[np.flatnonzero(np.diff(among.indptr))], low, high).furthest(at, sign, far)
    if found is None:
        return None
    made = np.zeros(len(change))
    made[moved] = found
    return made


class WholeDeviations:
    """An integer program over n cells within e sums.

    rows         : shape (e, n)
    lower, upper : shape (n,), how far each cell may move; whole numbers or infinite
    """

    def __init__(self, rows: csr_array, lower: Floats, upper: Floats) -> None:
        import highspy

        self._rows = rows
        self._lower, self._upper = np.maximum(lower, -_FURTHEST), np.minimum(upper, _FURTHEST)
        model: Any = highspy.HighsLp()
        model.num_row_, model.num_col_ = rows.shape
        model.col_cost_ = np.zeros(rows.shape[1])
        model.col_lower_, model.col_upper_ = self._lower, self._upper
        model.row_lower_ = model.row_upper_ = np.zeros(rows.shape[0])
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = rows.indptr, rows.indices, rows.data
        model.integrality_ = [highspy.HighsVarType.kInteger] * rows.shape[1]
        self._model, self._highspy = model, highspy

    def furthest(self, cell: int, sign: int, most: float) -> tuple[Floats | None, bool]:
        """A deviation that moves a cell as far as it can up (sign 1) or down, at most by `most`; whether it is the end.

        None where nothing was found. That the end was not reached says nothing of how far the cell can move.
        """
        model, ends = self._model, (self._lower.copy(), self._upper.copy())
        ends[0][cell] = max(ends[0][cell], 0.0 if sign > 0 else -most)
        ends[1][cell] = min(ends[1][cell], most if sign > 0 else 0.0)
        model.col_lower_, model.col_upper_ = ends
        cost = np.zeros(len(ends[0]))
        cost[cell] = -sign
        model.col_cost_ = cost
        solver: Any = self._highspy.Highs()  # type: ignore[no-untyped-call]
        options = {"output_flag": False, "threads": 1, "mip_max_nodes": _NODES, "mip_abs_gap": 0.5}
        for option, setting in options.items():
            solver.setOptionValue(option, setting)
        solver.passModel(model)
        solver.run()
        proven = bool(solver.getModelStatus() == self._highspy.HighsModelStatus.kOptimal)
        found = np.asarray(solver.getSolution().col_value)
        if len(found) != len(cost):
            return None, proven
        made = np.rint(found)
        if (self._rows @ made).any() or (made < ends[0]).any() or (made > ends[1]).any():
            return None, False
        return made, proven


class CellPrograms:
    """Programs over n cells within e sums; keeps the solver.

    rows         : shape (e, n)
    members      : shape (n,), which cells these are, in rising order
    lower, upper : shape (n,), how far each may move
    """

    def __init__(self, rows: csr_array, members: Indices, lower: Floats, upper: Floats) -> None:
        self._rows, self._members, self._lower, self._upper = rows, members, lower, upper
        self._region = FeasibleRegion(rows, np.zeros(rows.shape[0]), lower, upper)

    def ends(self, question: Question) -> ProvenInterval:
        """How far the cell can move if fractions of a unit count, as far as that is of interest."""
        down, up = self._extremes(question)
        if down is None or up is None:
            return ProvenInterval.by_both(question.cell, self._members, [], complete=False)
        return ProvenInterval.by_both(question.cell, self._members, [down, up])

    def decide(self, question: Question) -> ProvenInterval:
        """How far the cell can move in whole units. Not complete where the solver, or its branch and bound, gave up."""
        need, at = question.need, int(np.searchsorted(self._members, question.cell))
        extremes = self._extremes(question)
        if extremes[0] is None or extremes[1] is None:
            return ProvenInterval.by_both(question.cell, self._members, [], complete=False)
        widest = [whole_part(float(np.abs(way[at]))) for way in extremes]
        if not need.met(*widest):
            found = ProvenInterval.by_both(question.cell, self._members, list(extremes))
            return ProvenInterval(widest[0], widest[1], found.support, found.drop)
        lower, upper = question.limits(self._members, self._lower, self._upper)
        ways: list[Floats] = []
        complete = True
        found = ProvenInterval.by_both(question.cell, self._members, ways)
        for sign, wanted, way in ((1, need.upper, extremes[1]), (-1, need.lower, extremes[0])):
            most = float(np.ceil(max(wanted, need.sliding)))
            if most <= 0 or (wanted <= 0 and need.met(found.below, found.above)):
                continue
            whole = whole_multiple(way, self._rows, lower, upper)
            if whole is None:
                whole = whole_nearby(way, at, self._rows, lower, upper)
            if whole is None:
                whole, ended = WholeDeviations(self._rows, lower, upper).furthest(at, sign, most)
                complete &= ended
            ways += [] if whole is None else [whole]
            found = ProvenInterval.by_both(question.cell, self._members, ways)
        enough = need.met(found.below, found.above)
        return ProvenInterval(found.below, found.above, found.support, found.drop, complete or enough)

    def _extremes(self, question: Question) -> tuple[Floats, Floats] | tuple[None, None]:
        """Points down and up as far as is of interest, in fractions of a unit; none where the solver gave up."""
        members, need = self._members, question.need
        at = int(np.searchsorted(members, question.cell))
        lower, upper = question.limits(members, self._lower, self._upper)
        lower, upper = lower.copy(), upper.copy()
        lower[at] = max(lower[at], -float(np.ceil(max(need.lower, need.sliding))))
        upper[at] = min(upper[at], float(np.ceil(max(need.upper, need.sliding))))
        changed = np.flatnonzero((lower != self._lower) | (upper != self._upper))
        self._region.bound(changed, lower[changed], upper[changed])
        try:
            return self._region.extreme(at, -1)[1], self._region.extreme(at, 1)[1]
        except (UnsolvedError, ValueError):
            return None, None
        finally:
            self._region.bound(changed, self._lower[changed], self._upper[changed])

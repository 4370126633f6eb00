"""Linear and integer programs over some suppressed cells: the ends of an interval, and whole deviations that reach far.

The linear program says how far a cell can move at most: not far enough for the need, and the attack succeeds. Only a
deviation in whole units proves that it does not.
"""

import numpy as np
from scipy.sparse import csr_array

from sluice.tabular.audit.proven_interval import ProvenInterval, Question
from sluice.tabular.audit.whole_deviation import WholeDeviations, whole_multiple, whole_nearby, whole_part
from sluice.tabular.model.cells import Floats
from sluice.tabular.model.feasibility_interval import FeasibleRegion, UnsolvedError
from sluice.tabular.model.known_sums import Indices


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

"""Proofs that a cell of a large component is open: short deviations in whole units, found over the whole component."""

import numpy as np
from scipy.sparse import csr_array

from sluice.tabular.audit.cheapest_deviation import CheapestDeviation
from sluice.tabular.audit.proven_interval import ProvenInterval, Question
from sluice.tabular.audit.whole_deviation import whole_multiple, whole_nearby
from sluice.tabular.model.cells import Booleans, Floats
from sluice.tabular.model.known_sums import Indices


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

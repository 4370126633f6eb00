"""How much of a suppressed cell's feasibility interval is proven: how far above and below its value it can lie.

Everything is said as a deviation from the true values: deviations that add up to nothing in every sum, that leave alone
what the attacker knows and that stay within the bounds are exactly what the attacker cannot tell from the truth.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sluice.tabular.audit.cheapest_deviation import CheapestDeviation
from sluice.tabular.model.cells import Booleans, Floats
from sluice.tabular.model.feasibility_interval import FeasibleRegion, UnsolvedError
from sluice.tabular.model.known_sums import Indices

_SIZES = np.array([60, 200, 500])  # cells that the compiled search looks at, one attempt after another
_LARGE = 1000  # cells; a component of more is no longer cheap to look at as a whole
_MOST = 200  # cells that one of its answers may move
_NOTHING = 1e-7  # a smaller deviation is a rounding error of the solver


@dataclass(frozen=True)
class Need:
    """What must stay possible for a cell: so much below, so much above, and so wide an interval."""

    lower: float
    upper: float
    sliding: float

    @property
    def widest(self) -> float:
        """So far both ways is enough."""
        return max(self.lower, self.upper, self.sliding / 2)

    def met(self, below: float, above: float) -> bool:
        """Whether an interval is wide enough, but for what a solver rounds (a thousandth, or a millionth)."""
        return below >= _nearly(self.lower) and above >= _nearly(self.upper) and below + above >= _nearly(self.sliding)


@dataclass(frozen=True)
class Question:
    """How far can `cell` move while the cells `known` stay?"""

    cell: int
    need: Need
    known: Indices
    shy: bool = False  # prefer answers that move no cell of `avoid`


@dataclass(frozen=True)
class ProvenInterval:
    """What was found: at least so far below and above, by moving the cells of `support`.

    complete : whether the search ended: an interval that is too narrow is then the whole of it
    """

    below: float
    above: float
    support: Indices
    complete: bool = True


def _nearly(amount: float) -> float:
    return amount - max(1e-3, 1e-6 * amount)


class SuppressedCells:
    """The unknown cells of a pattern and the sums between them, ready for questions.

    equations    : shape (e, c)
    free         : shape (c,), the cells that are neither published nor computable
    lower, upper : shape (c,), how far each may move down (0 or less) and up
    label        : shape (c,), the component of each cell
    avoid        : shape (c,), the cells that answers to shy questions leave alone if they can
    """

    def __init__(
        self,
        equations: csr_array,
        free: Booleans,
        lower: Floats,
        upper: Floats,
        label: NDArray[np.int32],
        avoid: Booleans,
    ) -> None:
        self.lower, self.upper, self.label = lower, upper, label
        self._cells = np.flatnonzero(free)
        within = equations[:, self._cells]
        self._within = within[np.flatnonzero(np.diff(within.indptr) > 0)]
        by_cell = self._within.T.tocsr()
        self._arrays = (
            self._within.indptr.astype(np.int64),
            self._within.indices.astype(np.int64),
            self._within.data.astype(np.float64),
            by_cell.indptr.astype(np.int64),
            by_cell.indices.astype(np.int64),
            lower[self._cells],
            upper[self._cells],
        )
        self._avoid = avoid[self._cells]

    def intervals(self, questions: Sequence[Question], workers: int = 1) -> list[ProvenInterval]:
        """The answers, in the order of the questions: near each cell first, over its whole component where that fails.

        cost : some small dense programs for each question; where they fail, a large sparse one, or three
        """
        found: dict[int, ProvenInterval] = {}
        with ThreadPoolExecutor(workers) as pool:
            every = np.arange(len(questions))
            for answers in pool.map(lambda part: self._nearby(questions, part), np.array_split(every, workers)):
                found.update(answers)
            places: dict[int, list[int]] = {}
            for place, question in enumerate(questions):
                if place not in found:
                    places.setdefault(int(self.label[question.cell]), []).append(place)
            parts = [part[start::workers] for part in places.values() for start in range(min(workers, len(part)))]
            solved = pool.map(lambda part: self._by_programs([questions[place] for place in part]), parts)
            for part, intervals in zip(parts, solved, strict=True):
                found.update(zip(part, intervals, strict=True))
        return [found[place] for place in range(len(questions))]

    def _nearby(self, questions: Sequence[Question], part: Indices) -> dict[int, ProvenInterval]:
        """Those questions of a part that the compiled search can answer."""
        from sluice.tabular.audit.deviation_kernel import search

        if not len(part):
            return {}
        mine = [questions[place] for place in part]
        known = [np.searchsorted(self._cells, question.known) for question in mine]
        width, moved, support = search(
            np.searchsorted(self._cells, [question.cell for question in mine]),
            np.array([max(question.need.widest, 1.0) for question in mine]),
            np.cumsum([0, *(len(cells) for cells in known)]),
            np.concatenate(known).astype(np.int64),
            self._avoid,
            np.array([question.shy for question in mine]),
            *self._arrays,
            _SIZES,
            _MOST,
        )
        return {
            int(part[at]): ProvenInterval(width[at], width[at], self._cells[support[at, : moved[at]]])
            for at in np.flatnonzero(moved)
        }

    def _by_programs(self, questions: Sequence[Question]) -> list[ProvenInterval]:
        """By linear programs: the ends of the interval, which a large component is spared as far as that goes.

        There, a deviation both ways is looked for first, then what the part around the cell decides.
        """
        inside = np.flatnonzero(self.label[self._cells] == self.label[questions[0].cell])
        deviation = self._deviation(inside) if len(inside) > _LARGE else None
        whole = None
        answers = []
        for question in questions:
            interval = None
            if deviation:
                interval = self._both_ways(deviation, inside, question) or self._around(question)
            if interval is None:
                whole = whole or self._region(inside, every=True)
                interval = self._ask(whole, inside, question)
            answers.append(interval)
        return answers

    def _deviation(self, inside: Indices) -> CheapestDeviation:
        members = self._cells[inside]
        room = np.minimum(-self.lower[members], self.upper[members])
        return CheapestDeviation(self._rows_of(inside, every=True), room, self._avoid[inside])

    def _both_ways(self, deviation: CheapestDeviation, inside: Indices, question: Question) -> ProvenInterval | None:
        members, widest = self._cells[inside], max(question.need.widest, 1.0)
        known = np.flatnonzero(np.isin(members, question.known))
        moved = deviation.moved(int(np.searchsorted(members, question.cell)), widest, known)
        return None if moved is None else ProvenInterval(widest, widest, members[moved])

    def _around(self, question: Question) -> ProvenInterval | None:
        """What the cells around one prove; None where they do not decide.

        With the equations among them alone they can move at least as far as in truth; with every equation that they
        stand in, and all other cells at rest, at most as far.
        """
        from sluice.tabular.audit.deviation_kernel import neighbourhood

        near = neighbourhood(int(np.searchsorted(self._cells, question.cell)), _LARGE, *self._arrays[:5])
        relaxed = self._ask(self._region(near, every=False), near, question)
        if not relaxed.complete or not question.need.met(relaxed.below, relaxed.above):
            return relaxed if relaxed.complete else None
        confined = self._ask(self._region(near, every=True), near, question)
        return confined if confined.complete and question.need.met(confined.below, confined.above) else None

    def _region(self, inside: Indices, every: bool) -> FeasibleRegion:
        within, members = self._rows_of(inside, every), self._cells[inside]
        return FeasibleRegion(within, np.zeros(within.shape[0]), self.lower[members], self.upper[members])

    def _rows_of(self, inside: Indices, every: bool) -> csr_array:
        """Some cells, at positions in `_cells`: every equation that they stand in, or those among them alone."""
        within = self._within[:, inside]
        counts = np.diff(within.indptr)
        return within[np.flatnonzero(counts > 0 if every else (counts > 0) & (counts == np.diff(self._within.indptr)))]

    def _ask(self, region: FeasibleRegion, inside: Indices, question: Question) -> ProvenInterval:
        members, need = self._cells[inside], question.need
        at = int(np.searchsorted(members, question.cell))
        known = np.flatnonzero(np.isin(members, question.known))
        lower, upper = self.lower[members], self.upper[members]
        region.bound(known, np.zeros(len(known)), np.zeros(len(known)))
        enough = max(need.lower, need.sliding), max(need.upper, need.sliding)
        region.bound(np.array([at]), np.maximum(lower[[at]], -enough[0]), np.minimum(upper[[at]], enough[1]))
        interval = _between(region, at, members)
        region.bound(known, lower[known], upper[known])
        region.bound(np.array([at]), lower[[at]], upper[[at]])
        return interval


def _between(region: FeasibleRegion, at: int, members: Indices) -> ProvenInterval:
    try:
        low, down = region.extreme(at, -1)
        high, up = region.extreme(at, 1)
    except (UnsolvedError, ValueError):
        return ProvenInterval(0.0, 0.0, members[:0], complete=False)
    moved = (np.abs(down) > _NOTHING * max(1.0, -low)) | (np.abs(up) > _NOTHING * max(1.0, high))
    return ProvenInterval(-low, high, members[moved])

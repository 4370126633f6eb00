"""The unknown cells of a pattern, and how far one can move: near it first, then within all that hangs together."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sluice.ground.parallel_jobs import each_in_threads
from sluice.ground.progress import counted
from sluice.tabular.audit.component_deviations import ComponentDeviations
from sluice.tabular.audit.proven_interval import NOTHING_NEEDED, ProvenInterval, Question
from sluice.tabular.audit.whole_deviation import CellPrograms
from sluice.tabular.model.cells import Floats
from sluice.tabular.model.known_sums import Indices

_SIZES = np.array([60, 200, 500])  # cells that the compiled search looks at, one attempt after another
_LARGE = 1000  # cells; a component of more is no longer cheap to look at as a whole
_MOST = 200  # cells that one of its answers may move

_Way = tuple[Indices, Floats, float]  # cells in rising order, how far each moves, how many times as far it may go


class SuppressedCells:
    """The unknown cells of a pattern and the sums between them, ready for questions.

    equations    : shape (e, c)
    free         : shape (c,), the cells that are neither published nor computable
    lower, upper : shape (c,), how far each may move down (0 or less) and up; whole numbers or infinite
    label        : shape (c,), the component of each cell
    spare        : shape (c,), how far answers to shy questions move it down at most, if they can; below 0: not at all
    """

    def __init__(
        self,
        equations: csr_array,
        free: NDArray[np.bool_],
        lower: Floats,
        upper: Floats,
        label: NDArray[np.int32],
        spare: Floats,
    ) -> None:
        self._lower, self._upper, self._label = lower, upper, label
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
        )
        self._spare = spare[self._cells]

    def intervals(self, questions: Sequence[Question], workers: int = 1) -> list[ProvenInterval]:
        """The answers, in the order of the questions: near each cell first, over its whole component where that fails.

        cost : some small dense programs for each question; where they fail, a large sparse one, or three; and where
               these answer in fractions without room for more, a bounded integer program
        """
        found = {at: NOTHING_NEEDED for at, question in enumerate(questions) if question.need.nothing}
        open_ = np.array([at for at in range(len(questions)) if at not in found], dtype=np.intp)
        shares = np.array_split(open_, workers)
        for answers in each_in_threads(lambda part: self._nearby(questions, part), shares, workers):
            found.update(answers)
        places: dict[int, list[int]] = {}
        for place, question in enumerate(questions):
            if place not in found:
                places.setdefault(int(self._label[question.cell]), []).append(place)
        parts = [part[start::workers] for part in places.values() for start in range(min(workers, len(part)))]
        solved = each_in_threads(lambda part: self._by_programs([questions[place] for place in part]), parts, workers)
        for part, intervals in zip(parts, counted(solved, "linear programs", len(parts)), strict=True):
            found.update(zip(part, intervals, strict=True))
        return [found[place] for place in range(len(questions))]

    def _nearby(self, questions: Sequence[Question], part: Indices) -> dict[int, ProvenInterval]:
        """Those questions of a part that the compiled search can answer: by one deviation both ways, or by two."""
        found: dict[int, ProvenInterval] = {}
        wanted = {int(place): max(questions[place].need.widest, 1.0) for place in part}
        for place, (support, change, fits) in self._search(questions, wanted, 0).items():
            at = int(np.searchsorted(support, questions[place].cell))
            found[place] = ProvenInterval.by_turning(at, support, change, fits)
        left = {place: questions[place].need for place in wanted if place not in found}
        either = {place: float(np.ceil(need.sliding)) for place, need in left.items() if not need.lower + need.upper}
        raised = {place: need.upper for place, need in left.items() if need.upper > 0}
        up = self._search(questions, {**raised, **either}, 1)
        lowered = {
            place: need.lower for place, need in left.items() if need.lower > 0 and (place in up or not need.upper)
        }
        down = self._search(questions, {**lowered, **{at: far for at, far in either.items() if at not in up}}, -1)
        for place, need in left.items():
            ways = [ways[place] for ways in (up, down) if place in ways]
            if ways:
                interval = _joined(questions[place].cell, ways)
                if need.met(interval.below, interval.above):
                    found[place] = interval
        return found

    def _search(self, questions: Sequence[Question], wanted: dict[int, float], sense: int) -> dict[int, _Way]:
        """What the compiled search finds, of questions by their places; see `deviation_kernel.search`."""
        from sluice.tabular.audit.deviation_kernel import search

        if not wanted:
            return {}
        mine = [questions[place] for place in wanted]
        fits, moved, support, change = search(
            np.searchsorted(self._cells, [question.cell for question in mine]),
            np.ceil(np.array(list(wanted.values()))),
            np.full(len(mine), sense, dtype=np.int64),
            np.cumsum([0, *(len(question.limited) for question in mine)]),
            np.searchsorted(self._cells, np.concatenate([question.limited for question in mine])).astype(np.int64),
            np.concatenate([question.lower for question in mine]),
            np.concatenate([question.upper for question in mine]),
            np.array([question.shy for question in mine]),
            self._spare,
            *self._arrays,
            self._lower[self._cells],
            self._upper[self._cells],
            _SIZES,
            _MOST,
        )
        ways: dict[int, _Way] = {}
        for at, place in enumerate(wanted):
            if moved[at]:
                order = np.argsort(support[at, : moved[at]])
                ways[place] = self._cells[support[at, order]], change[at, order], float(fits[at])
        return ways

    def _by_programs(self, questions: Sequence[Question]) -> list[ProvenInterval]:
        """By linear and integer programs over the whole component, which a large one is spared as far as that goes.

        There, a deviation both ways is looked for first, then what the part around the cell decides, then a deviation
        each way.
        """
        inside = np.flatnonzero(self._label[self._cells] == self._label[questions[0].cell])
        if len(inside) <= _LARGE:
            programs = self._programs(inside, every=True)
            return [programs.decide(question) for question in questions]
        rows = self._rows_of(inside, every=True)
        members = self._cells[inside]
        deviations = ComponentDeviations(
            rows, members, self._lower[members], self._upper[members], self._spare[inside] < 0
        )
        whole = None
        answers = []
        for question in questions:
            interval = deviations.both_ways(question) or self._around(question) or deviations.each_way(question)
            if interval is None:
                whole = whole or self._programs(inside, every=True)
                interval = whole.decide(question)
            answers.append(interval)
        return answers

    def _around(self, question: Question) -> ProvenInterval | None:
        """What the cells around one prove; None where they do not decide.

        With the equations among them alone they can move at least as far as in truth; with every equation that they
        stand in, and all other cells at rest, at most as far.
        """
        from sluice.tabular.audit.deviation_kernel import neighbourhood

        near = neighbourhood(int(np.searchsorted(self._cells, question.cell)), _LARGE, *self._arrays)
        relaxed = self._programs(near, every=False).ends(question)
        if not relaxed.complete or not question.need.met(relaxed.below, relaxed.above):
            return relaxed if relaxed.complete else None
        confined = self._programs(near, every=True).decide(question)
        return confined if question.need.met(confined.below, confined.above) else None

    def _programs(self, inside: Indices, every: bool) -> CellPrograms:
        members = self._cells[inside]
        return CellPrograms(self._rows_of(inside, every), members, self._lower[members], self._upper[members])

    def _rows_of(self, inside: Indices, every: bool) -> csr_array:
        """Some cells, at positions in `_cells`: every equation that they stand in, or those among them alone."""
        within = self._within[:, inside]
        counts = np.diff(within.indptr)
        return within[np.flatnonzero(counts > 0 if every else (counts > 0) & (counts == np.diff(self._within.indptr)))]


def _joined(cell: int, ways: Sequence[_Way]) -> ProvenInterval:
    """By a deviation up, or down, or one of each."""
    members = np.unique(np.concatenate([support for support, _, _ in ways]))
    spread = np.zeros((len(ways), len(members)))
    for row, (support, change, _) in zip(spread, ways, strict=True):
        row[np.searchsorted(members, support)] = change
    return ProvenInterval.by_both(cell, members, list(spread), stretch=min(fits for _, _, fits in ways))

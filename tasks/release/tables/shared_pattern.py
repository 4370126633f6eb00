"""Several measures of the same records with one pattern of suppressed cells: turnover and employees of firms.

A pattern that is safe for a measure stays safe when more is suppressed. So each measure is protected in turn beside
what the others suppressed, until none suppresses more. What is listed is the same for all, so that none tells of
another which cells are empty; and as no cell is suppressed of one measure alone, none bounds another where both are
known to go together. What a measure suppressed for the sake of cells that are hidden otherwise now, and anybody can
compute, is published in the end: it hides nothing, and would look like a breach.

Nothing here knows of a release: the cells of each measure, what is asked of them and earlier editions in, a pattern
out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from scipy.sparse import csr_array

from sluice.ground.errors import DataError
from sluice.ground.sentence import Saying, Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.tabular.audit.proofs import Proof
from sluice.tabular.model.cells import Booleans, Cells, Floats, Status, Statuses
from sluice.tabular.model.feasibility_interval import feasibility_intervals
from sluice.tabular.model.known_sums import determined
from sluice.tabular.suppression.effort import Progress
from tasks.release.tables.protection import ProtectionRequest
from tasks.release.tables.protection_method import SecondarySuppression
from tasks.release.tables.published_cells import PublishedCells
from tasks.release.tables.sums_of_editions import SumOfEditions
from tasks.release.tables.suppressed_tables import SuppressedCells, suppress_cells
from tasks.release.tables.table_editions import EditionPair

_SAYS = Sentences(
    "measures",
    told="In no cell does {part} exceed {whole}. A reader who knows this relation can compute {cells:count,_value} of "
    "{whole} more closely than the rules allow. Suppress more cells (a_priori), or publish only one of the two. If "
    "readers cannot know the relation, a person may accept it.",
    not_decided="In no cell does {part} exceed {whole}. For {cells:count,_value} of {whole}, it was not decided how "
    "closely a reader who knows this relation can compute it.",
    none="A reader who knows that one measure is part of another cannot compute a protected value more closely.",
)
_NEAR = 1e-6


@dataclass(frozen=True, eq=False)
class MeasuredCells:
    """The cells of one measure, and what is asked of them; kept and beside: see `suppress_cells`."""

    cells: Cells
    request: ProtectionRequest
    kept: Booleans | None = None
    beside: Sequence[EditionPair | SumOfEditions] = ()

    @property
    def first(self) -> Booleans:
        """What is suppressed in any case."""
        return np.zeros(len(self.cells), dtype=bool) if self.kept is None else self.kept


def suppress_together(
    measures: Mapping[str, MeasuredCells],
    method: SecondarySuppression,
    workers: int = 1,
    progress: Progress | None = None,
) -> dict[str, SuppressedCells]:
    """One pattern for all measures, found as the module says; a cell costs its share of each.

    measures : by name, of the same cells; of one, this is `suppress_cells`
    raises   : DataError, also where a cell must be published of one measure and suppressed of another
    cost     : that of the single measures, two to four times
    """
    if len(measures) == 1:
        ((name, of),) = measures.items()
        found = suppress_cells(
            of.cells, of.request, method, kept=of.first, beside=of.beside, workers=workers, progress=progress
        )
        return {name: found}
    costs = [each.request.manual.cost for each in measures.values()]
    scale = max(1.0, *(float(cost.sum()) for cost in costs))
    cost = np.sum([each / max(float(each.sum()), 1e-9) for each in costs], axis=0) * scale
    listed = next(iter(measures.values())).cells.published
    hidden = listed & np.logical_or.reduce(
        [each.request.requirements.sensitive | each.first for each in measures.values()]
    )
    made: dict[str, SuppressedCells] = {}
    while True:
        before = hidden
        for name, of in measures.items():
            request = replace(of.request, manual=replace(of.request.manual, cost=cost))
            found = suppress_cells(
                of.cells, request, method, kept=hidden, beside=of.beside, workers=workers, progress=progress
            )
            now = _suppressed(found.published.status)
            if (lost := hidden & ~now & request.manual.forbidden).any():
                cell = of.cells.name(int(np.flatnonzero(lost)[0]))
                raise DataError(f"{cell} must be published of {name} and suppressed of another measure.")
            # a cell that an earlier edition published of this measure is suppressed for the sake of another
            hidden = hidden | now
            made[name] = replace(found, bound=None, first=None)  # of the search beside the others' cells alone
        if np.array_equal(hidden, before):
            told = _told_anyway(measures, made, hidden)
            return {
                name: found.published_again(told, measures[name].request) if told.any() else found
                for name, found in made.items()
            }


def _told_anyway(
    measures: Mapping[str, MeasuredCells], made: Mapping[str, SuppressedCells], hidden: Booleans
) -> Booleans:
    """Shape (c,): what is suppressed although its sums tell it, and nobody asks for it. No proof moves such a cell."""
    may: Booleans = hidden & ~np.logical_or.reduce(
        [of.request.requirements.sensitive | of.first for of in measures.values()]
    )
    for found in made.values():
        for proof in found.proofs:
            may[proof.cells] = False
    if not may.any():
        return may
    told, _ = determined(next(iter(measures.values())).cells.equations, hidden)
    may &= told
    return may


def one_pattern(measures: Mapping[str, MeasuredCells], made: Mapping[str, SuppressedCells]) -> SuppressedCells:
    """The pattern that all share: a cell is primary that is sensitive by some measure, in which no file tells."""
    first = next(iter(made.values()))
    if len(made) == 1:
        return first
    hidden = np.logical_or.reduce([_suppressed(each.published.status) for each in made.values()])
    sensitive = np.logical_or.reduce([each.request.requirements.sensitive for each in measures.values()])
    kind = np.where(sensitive, Status.PRIMARY, Status.SECONDARY)
    status = np.where(hidden, kind, first.published.status).astype(np.uint8)
    proofs = [proof for each in made.values() for proof in each.proofs]
    return replace(first, published=PublishedCells(status), proofs=proofs)


def judge_parts(
    measures: Mapping[str, MeasuredCells], status: Statuses, workers: int = 1, proofs: Sequence[Proof] = ()
) -> list[Finding]:
    """A finding for each measure that is in no cell more than another, as exports are of turnover, where a reader who
    knows that works out a sensitive value of the other more closely than it is protected.

    What is left, turnover at home, has the same sums and the same pattern, so that the two vary apart from each other:
    an interval of turnover is that of exports and of what is left together.

    status : shape (c,), of the pattern that all share
    proofs : that the search for it found; each is checked, none is believed
    cost   : that of a look at the proofs; four linear programs for each sensitive cell that they leave
    """
    found = []
    for part, whole in permutations(measures, 2):
        told, open_ = _told_by_part(measures[part].cells, measures[whole], status, workers, proofs)
        # Whoever accepts what is told has not decided what is open, so each is a finding of its own.
        for verdict, cells, says in ((Verdict.REVIEW, told, _SAYS.told), (Verdict.UNKNOWN, open_, _SAYS.not_decided)):
            if cells:
                found.append(_finding(verdict, says(part=part, whole=whole, cells=cells), f"{part}, {whole}"))
    return found or [_finding(Verdict.PASS, _SAYS.none())]


def _finding(verdict: Verdict, says: Saying, scope: str = "") -> Finding:
    return Finding(rule="measures", verdict=verdict, stage="masked", scope=scope, **as_fields(says))


def _told_by_part(
    part: Cells, whole: MeasuredCells, status: Statuses, workers: int, proofs: Sequence[Proof] = ()
) -> tuple[int, int]:
    """Of how many sensitive cells too much is told, and of how many it is not decided; none where it is no part."""
    cells, asked = whole.cells, whole.request.requirements
    decimals = max(part.decimals, cells.decimals)
    less, more = (each.total.astype(np.float64) * 10.0 ** (decimals - each.decimals) for each in (part, cells))
    which = np.flatnonzero(asked.sensitive & _suppressed(status))
    if not len(which) or (less < 0).any() or (more < less).any():
        return 0, 0
    unit = 10.0 ** (decimals - cells.decimals)
    below, above = _shown_by(proofs, cells, (less, more - less), status)
    which = which[(below < asked.lower * unit)[which] | (above < asked.upper * unit)[which]]
    low, high, none = np.zeros(len(which)), np.zeros(len(which)), np.zeros(len(cells))
    for total in (less, more - less) if len(which) else ():
        value = np.where(status == Status.PUBLISHED, total, np.nan)
        ends = feasibility_intervals(cells.equations, value, which, none, none + np.inf, workers)
        low, high = low + ends[0], high + ends[1]
    slack = _NEAR * np.maximum(1, more[which])
    near = (low > more[which] - asked.lower[which] * unit + slack) | (
        high < more[which] + asked.upper[which] * unit - slack
    )
    return int(near.sum()), int((np.isnan(low) | np.isnan(high)).sum())


def _shown_by(
    proofs: Sequence[Proof], cells: Cells, parts: tuple[Floats, Floats], status: Statuses
) -> tuple[Floats, Floats]:
    """Shape (c,) each: how far below and above its value a cell may certainly be, by deviations of the whole, of which
    each part makes as much as leaves none of its own cells below 0."""
    below, above = np.zeros(len(cells)), np.zeros(len(cells))
    given = [(proof.cells, proof.change) for proof in proofs if len(proof.cells)]
    if not given:
        return below, above
    moved, change = (np.concatenate([each[at] for each in given]) for at in (0, 1))
    start = np.cumsum([0, *(len(each) for each, _ in given)])
    sums = abs(csr_array((change, moved, start), shape=(len(given), len(cells))) @ cells.equations.T)
    largest = np.maximum.reduceat(np.abs(change), start[:-1])
    holds = np.asarray(sums.sum(axis=1)).ravel() <= _NEAR * largest
    holds &= np.logical_and.reduceat(_suppressed(status)[moved], start[:-1])
    of = np.repeat(np.arange(len(given)), np.diff(start))
    for turned in (1, -1):
        size = turned * change
        times = np.zeros(len(given))
        for total in parts:
            room = np.divide(total[moved], -size, out=np.full(len(size), np.inf), where=size < 0)
            times += np.minimum.reduceat(room, start[:-1])
        times[~holds | ~np.isfinite(times)] = 0.0
        np.maximum.at(below, moved, np.maximum(-size * times[of], 0.0))
        np.maximum.at(above, moved, np.maximum(size * times[of], 0.0))
    return below, above


def refuse_other_cells(cells: Mapping[str, Cells], contributors: bool = False) -> None:
    """Raise DataError unless all measures are of the same cells.

    contributors : and have as many contributors in each, as where these numbers are published beside all
    """
    (first, given), *others = cells.items()
    for name, other in others:
        if not (np.array_equal(given.codes, other.codes) and np.array_equal(given.published, other.published)):
            raise DataError(
                f"'{name}' has records in other cells than '{first}', as values are missing; complete them, or protect "
                "each measure by itself."
            )
        if contributors and not np.array_equal(given.contributors, other.contributors):
            raise DataError(
                f"'{name}' has other numbers of contributors than '{first}', as values are missing, and one number is "
                "published beside both; complete them, or leave form.tell_contributors out."
            )


def _suppressed(status: Statuses) -> Booleans:
    return np.isin(status, (Status.PRIMARY, Status.SECONDARY))

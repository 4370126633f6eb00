"""Tables that are protected by suppressing cells, beside an earlier edition or for the first time, with their proofs.

Nothing here knows of a release: cells, what is asked of them and an edition in, what is published of them out. The
vault keeps the proofs for the audit, which believes none and checks each.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from sluice.ground.errors import DataError
from sluice.ground.sentence import percent
from sluice.tabular.audit.proofs import Proof
from sluice.tabular.model.cells import Booleans, Cells, Codes, Status, Statuses
from sluice.tabular.suppression.effort import Effort, Progress
from tasks.release.tables.protection import ProtectionRequest, protect_cells, suppression_search
from tasks.release.tables.protection_method import SecondarySuppression
from tasks.release.tables.published_cells import PublishedCells
from tasks.release.tables.sums_of_editions import SumOfEditions
from tasks.release.tables.table_editions import EditionPair


@dataclass(frozen=True, eq=False)
class SuppressedCells:
    """What is published, the proofs of its safety alone that the search found, and the least cost that it proved.

    cost    : of the suppressed cells; nothing of cells that somebody prefers to see suppressed, or that are withheld
    first   : of the first safe pattern; None without a budget of time, and beside an earlier edition
    stopped : whether the budget ended the search
    """

    published: PublishedCells
    cost: float
    proofs: Sequence[Proof] = ()
    bound: float | None = None
    first: float | None = None
    stopped: bool = False

    def published_again(self, which: Booleans, request: ProtectionRequest) -> "SuppressedCells":
        """The same with suppressed cells published, shape (c,), that no proof moves."""
        status = np.where(which, Status.PUBLISHED, self.published.status).astype(np.uint8)
        return replace(self, published=replace(self.published, status=status), cost=_cost(status, request))

    @property
    def optimality(self) -> str | None:
        """What time made of the first safe pattern; how far this one is from the least cost. None: not known."""
        said = [sentence for sentence in (self._course, self._gap) if sentence]
        return " ".join(said) or None

    @property
    def _course(self) -> str | None:
        if self.first is None:
            return None
        saved = 1 - self.cost / self.first if self.first > 0 else 0.0
        end = "then time ran out: more may make it cheaper" if self.stopped else "the search ended before its time did"
        return f"The search made its first safe pattern {percent(saved)} cheaper; {end}."

    @property
    def _gap(self) -> str | None:
        if self.bound is None:
            return None
        gap = 1 - self.bound / self.cost if self.cost > 0 else 0.0
        least = percent(1 - gap)
        return f"It is proven that every safe pattern costs at least {least} of this one: a gap of {percent(gap)}."


def suppress_cells(
    cells: Cells,
    request: ProtectionRequest,
    method: SecondarySuppression,
    *,
    kept: Booleans,
    beside: Sequence[EditionPair | SumOfEditions] = (),
    workers: int = 1,
    progress: Progress | None = None,
) -> SuppressedCells:
    """A pattern that is safe, also for whoever has the earlier editions.

    kept     : shape (c,), what that suppressed, as far as nobody asks for its publication
    beside   : these and earlier editions as one system, each of them
    progress : of the search
    raises   : DataError when what is asked cannot be had
    """
    proofs: Sequence[Proof] = ()
    bound: float | None = None
    first, stopped = None, False
    effort = Effort.of(method.seconds, time.monotonic, progress)
    for system in beside:
        status = system.protected(suppression_search(method.mode), request, kept, workers, effort)
        kept = kept | (status == Status.PRIMARY) | (status == Status.SECONDARY)
    if not beside:
        suppressed = kept & ~request.manual.forbidden
        made = protect_cells(cells, request, method.mode, suppressed=suppressed, workers=workers, effort=effort)
        status, proofs, bound = made.status, made.certificates, made.bound
        if method.seconds is not None and made.first is not None:
            first, stopped = _cost(made.first, request), made.stopped
    published = PublishedCells(status)
    if method.intervals:
        published = PublishedCells.with_intervals(cells, status, request, workers)
    if method.synthetic:
        published = published.with_synthetic_values(cells, request.assumptions)
    return SuppressedCells(published, _cost(status, request), proofs, bound, first, stopped)


def _cost(status: Statuses, request: ProtectionRequest) -> float:
    counted = ((status == Status.PRIMARY) | (status == Status.SECONDARY)) & ~request.manual.preferred
    return float(request.manual.cost[counted].sum())


@dataclass(frozen=True, eq=False)
class KeptProof:
    """Deviations, of shape (s,), of the cells at these positions, of shape (s,)."""

    cells: Codes
    change: NDArray[np.float64]


def proofs_as_bytes(proofs: Sequence[Proof]) -> bytes:
    """One after the other; the same proofs give the same bytes."""
    held = BytesIO()
    start = np.cumsum([0, *(len(proof.cells) for proof in proofs)], dtype=np.int64)
    cells = np.concatenate([np.zeros(0, np.int32), *(proof.cells for proof in proofs)]).astype(np.int32)
    change = np.concatenate([np.zeros(0), *(proof.change for proof in proofs)]).astype(np.float64)
    np.savez_compressed(held, start=start, cells=cells, change=change)
    return held.getvalue()


def read_proofs(path: Path) -> list[KeptProof]:
    """What `proofs_as_bytes` wrote. Raises DataError for another file."""
    try:
        with np.load(path, allow_pickle=False) as held:
            start, cells, change = held["start"], held["cells"], held["change"]
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        raise DataError(f"{path}: does not hold the proofs of a protection") from None
    return [
        KeptProof(cells[begin:end], change[begin:end])
        for begin, end in zip(start[:-1].tolist(), start[1:].tolist(), strict=True)
    ]

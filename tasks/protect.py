"""Protect: blank the sensitive cells and as many others as it takes, or change values; write all that would appear."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice.custody.states import State
from sluice.errors import DataError
from sluice.settings import settings
from sluice.tabular.alternatives.altered_cells import AlteredCells
from sluice.tabular.audit.proofs import Proof
from sluice.tabular.audit.published_intervals import published_intervals
from sluice.tabular.model.cells import Cells, Status
from tasks import proofs
from tasks.altered_tables import alter
from tasks.case import Release
from tasks.release.tables.protection import ProtectionRequest, protect_cells, suppression_search
from tasks.shown import Shown
from tasks.step import step
from tasks.table_editions import carried_forward, nearest_edition
from tasks.table_files import table_files
from tasks.table_request import request_on
from tasks.table_terms import SecondarySuppression
from tasks.tabulate import Tabulated, read_tabulated


@dataclass(frozen=True)
class Promise:
    """What a method that changes values says of itself: how many sensitive cells it judged, and how many fail."""

    failing: int
    attempted: int
    completed: int
    says: str

    @classmethod
    def of(cls, altered: AlteredCells) -> "Promise":
        return cls(len(altered.failing), altered.attempted, altered.completed, altered.says)


@dataclass(frozen=True)
class Protected:
    """The files of all tables, as staged in the vault, and what they show."""

    sha256: str  # of the list of the files
    files: dict[str, str]  # name -> SHA-256
    shown: str  # SHA-256 of what is shown of every cell
    cells: int
    promise: Promise | None  # None where cells are suppressed: the audit plays the attackers
    proofs: str | None  # SHA-256 of those that the search found, for the audit to check; None where it keeps none


@step
def protect(release: Release, tabulated: Tabulated) -> Protected:
    """The same cells under the same documents give the same pattern and the same bytes."""
    case, vault = release.case, release.case.workspace.vault
    cells = read_tabulated(release, tabulated)
    request = request_on(release, tabulated, cells)
    promise: Promise | None = None
    found: Sequence[Proof] = ()
    if isinstance(case.definition.protection, SecondarySuppression):
        shown, found = _suppressed(release, cells, request)
    else:
        altered = alter(release, cells, request)
        promise, shown = Promise.of(altered), _altered(cells, altered)
    files = {
        file: vault.keep_bytes(content, f".{file.rpartition('.')[2]}")
        for file, content in table_files(case, cells, shown)
    }
    listed = vault.keep_bytes(json.dumps(files, sort_keys=True).encode(), ".json")
    kept = vault.keep_bytes(shown.to_bytes(), ".npz")
    release.record(State.MASKED, data=listed, cells=tabulated.sha256, shown=kept, rows=len(cells))
    proven = vault.keep_bytes(proofs.to_bytes(found), ".npz") if found else None
    return Protected(listed, files, kept, len(cells), promise, proven)


def _suppressed(release: Release, cells: Cells, request: ProtectionRequest) -> tuple[Shown, Sequence[Proof]]:
    wanted, manual = release.case.definition.protection, request.manual
    kept = carried_forward(release, cells) if wanted.carry_forward else np.zeros(len(cells), dtype=bool)
    beside = nearest_edition(release, cells)
    found: Sequence[Proof] = ()
    if beside:
        status = beside.protected(suppression_search(wanted.mode), request, kept, settings().workers)
    else:
        made = protect_cells(
            cells, request, wanted.mode, suppressed=kept & ~manual.forbidden, workers=settings().workers
        )
        status, found = made.status, made.certificates
    if not wanted.intervals:
        return Shown(status), found
    reach = published_intervals(
        cells, status, request.requirements, request.assumptions.nonnegative, workers=settings().workers
    )
    blank = (status == Status.PRIMARY) | (status == Status.SECONDARY)
    open_ = blank & ~(np.isfinite(reach.low) & np.isfinite(reach.high))
    if open_.any():
        raise DataError(
            f"intervals cannot be published: nothing bounds {int(open_.sum())} suppressed cells, such as "
            f"{cells.name(int(np.flatnonzero(open_)[0]))}. Leave 'intervals' out."
        )
    low, high = (np.where(blank, np.nan_to_num(end), 0).astype(np.int64) for end in (reach.low, reach.high))
    return Shown(status, interval=(low, high)), found


def _altered(cells: Cells, altered: AlteredCells) -> Shown:
    """A cell that became 0 is not listed: it looks like an empty one, which nobody stands in."""
    unlisted = ~cells.published | (altered.value == 0)
    return Shown(np.where(unlisted, Status.WITHHELD, Status.PUBLISHED).astype(np.uint8), altered.value)

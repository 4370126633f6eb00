"""The cells of a release of tables as the vault keeps them: as tabulated, what is asked of each, and what is published.

The policy's rules ask, and beforehand people.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TypeAlias
from zipfile import BadZipFile

import numpy as np

from policies.waivers import waived_cells
from schemas.contract import Contract
from sluice.custody.ledger_entry import last
from sluice.custody.states import State
from sluice.ground.errors import DataError
from sluice.sources.table_cells import read_asking, read_cells
from sluice.tabular.alternatives.additive_multiples import feasible_table
from sluice.tabular.alternatives.altered_cells import AlteredCells
from sluice.tabular.audit.published_intervals import published_intervals
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Integers, Status, Statuses
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.suppression.manual_status import manual_rows
from tasks.release.documented_release import Release
from tasks.release.release_documents import Documents
from tasks.release.tables.definition import TablesDefinition
from tasks.release.tables.feasibility_checks import dimension_of
from tasks.release.tables.protection import ProtectionRequest
from tasks.release.tables.protection_method import SecondarySuppression

TablesDocuments: TypeAlias = Documents[TablesDefinition]
TablesRelease: TypeAlias = Release[TablesDocuments]


@dataclass(frozen=True)
class StagedCells:
    """The cells of all tables, by the SHA-256 of their file in the vault.

    place : of the measure among several, whose cells one file holds
    """

    sha256: str
    cells: int
    place: int = 0


def read_staged_cells(release: TablesRelease, staged: StagedCells) -> Cells:
    """The cells, hashed again before they are read."""
    path = release.vault.verify(staged.sha256, ".npz")
    return cells_in(path, release.product.definition, release.product.contract, staged.place)


def cells_in(path: Path, definition: TablesDefinition, contract: Contract, place: int = 0) -> Cells:
    """The cells that were kept in a file, of the tables of a definition. Raises DataError for another file.

    place : of the measure among several
    """
    tables = [table.dimensions for table in definition.tables]
    cells = read_cells(path, dimensions_of(definition, contract), tables, place)
    return cells if definition.measure.requested is None else replace(cells, asking=read_asking(path, place))


@dataclass(frozen=True, eq=False)
class OfMeasure:
    """One measure of a release: the release as if its definition had no other, and the cells.

    name : of its variable; '' of the number of records
    """

    name: str
    release: TablesRelease
    staged: StagedCells
    cells: Cells

    @property
    def request(self) -> ProtectionRequest:
        """What is asked of the cells, see `request_of`."""
        return request_of(self.release, self.cells)

    def published(self, common: "PublishedCells", request: ProtectionRequest) -> "PublishedCells":
        """What is published of this measure, by the pattern of all: primary is what is sensitive by this one."""
        others = (common.status == Status.PRIMARY) & ~request.requirements.sensitive
        return replace(common, status=np.where(others, Status.SECONDARY, common.status).astype(np.uint8))


def measures_of(release: TablesRelease, staged: StagedCells) -> list[OfMeasure]:
    """Each measure of a release by itself. Raises DataError when the vault does not hold the cells as they were."""
    found = []
    for place, (name, definition) in enumerate(release.product.definition.by_measure.items()):
        policy = definition.stricter(release.product.policy)
        alone = replace(release, product=replace(release.product, definition=definition, policy=policy))
        at = replace(staged, place=place)
        found.append(OfMeasure(name, alone, at, read_staged_cells(alone, at)))
    return found


def by_column(measures: Sequence[OfMeasure]) -> dict[str, Cells]:
    """The cells under the names of the columns of their values in a published file."""
    if len(measures) == 1:
        return {"value": measures[0].cells}
    return {of.name: of.cells for of in measures}


def dimensions_of(definition: TablesDefinition, contract: Contract) -> list[Dimension]:
    """The dimensions of all tables, in the order of the definition."""
    return [dimension_of(dimension, contract, definition.cells is not None) for dimension in definition.dimensions]


@dataclass(frozen=True, eq=False)
class PublishedCells:
    """For each of c cells of the tables.

    status   : shape (c,), a `Status` each
    value    : shape (c,), published in place of the totals, in their units; None where the totals are
    interval : from and to, each of shape (c,), published of suppressed cells; None where none is
    synthetic : shape (c,), drawn for suppressed cells; None where none is
    """

    status: Statuses
    value: Integers | None = None
    interval: tuple[Integers, Integers] | None = None
    synthetic: Integers | None = None

    @classmethod
    def of_altered(cls, cells: Cells, value: Integers) -> "PublishedCells":
        """All cells with changed values. One that became 0 is not listed: it looks like an empty one."""
        unlisted = ~cells.published | (value == 0)
        return cls(np.where(unlisted, Status.WITHHELD, Status.PUBLISHED).astype(np.uint8), value)

    @classmethod
    def with_intervals(
        cls, cells: Cells, status: Statuses, request: ProtectionRequest, workers: int
    ) -> "PublishedCells":
        """A pattern with the interval of each suppressed cell that anybody could compute.

        raises : DataError where nothing bounds a cell
        """
        known = request.assumptions
        least = 0 if known.counts is None else 10**cells.decimals
        found = published_intervals(cells, status, request.requirements, known.nonnegative, least, workers=workers)
        suppressed = (status == Status.PRIMARY) | (status == Status.SECONDARY)
        unbounded = suppressed & ~(np.isfinite(found.low) & np.isfinite(found.high))
        if unbounded.any():
            raise DataError(
                f"intervals cannot be published: nothing bounds {int(unbounded.sum())} suppressed cells, such as "
                f"{cells.name(int(np.flatnonzero(unbounded)[0]))}. Leave 'intervals' out."
            )
        low, high = (np.where(suppressed, np.nan_to_num(end), 0).astype(np.int64) for end in (found.low, found.high))
        return cls(status, interval=(low, high))

    def with_synthetic_values(self, cells: Cells, assumptions: Assumptions) -> "PublishedCells":
        """The same, with a value for each suppressed cell that fits all that is published, drawn from that alone.

        raises : DataError where nothing bounds a cell, or no whole values were found
        """
        suppressed = (self.status == Status.PRIMARY) | (self.status == Status.SECONDARY)
        least = np.full(len(cells), 0.0 if assumptions.nonnegative else -np.inf)
        if assumptions.counts is not None:
            least[suppressed] = 10**cells.decimals  # a cell that is listed is not empty
        hidden = self.status != Status.PUBLISHED
        found = feasible_table(cells.equations, cells.total, hidden, suppressed, least, np.full(len(cells), np.inf))
        return replace(self, synthetic=np.where(suppressed, found, 0))

    def to_bytes(self) -> bytes:
        """As the vault keeps it; the same cells give the same bytes."""
        held = BytesIO()
        arrays: dict[str, Statuses | Integers] = {"status": self.status.astype(np.uint8)}
        if self.value is not None:
            arrays["value"] = self.value
        if self.interval is not None:
            arrays["low"], arrays["high"] = self.interval
        if self.synthetic is not None:
            arrays["synthetic"] = self.synthetic
        np.savez_compressed(held, allow_pickle=False, **arrays)
        return held.getvalue()

    @classmethod
    def read(cls, path: Path) -> "PublishedCells":
        """What `to_bytes` wrote. Raises DataError for another file."""
        try:
            with np.load(path, allow_pickle=False) as held:
                arrays = {name: held[name] for name in held.files}
            interval = (arrays["low"], arrays["high"]) if "low" in arrays else None
            return cls(arrays["status"], arrays.get("value"), interval, arrays.get("synthetic"))
        except (OSError, EOFError, ValueError, KeyError, BadZipFile):
            raise DataError(f"{path}: does not hold what is published of tables") from None


@dataclass(frozen=True)
class MethodStatement:
    """What a method that changes values says of itself: how many sensitive cells it looked at, and how many fail.

    concern : what a person must decide on before such values are published; None where nothing is
    """

    failing: int
    attempted: int
    completed: int
    says: str
    concern: str | None = None

    @classmethod
    def of(cls, altered: AlteredCells) -> "MethodStatement":
        return cls(len(altered.failing), altered.attempted, altered.completed, altered.says, altered.concern)


@dataclass(frozen=True)
class ProtectedTables:
    """The files of all tables, and what is published of every cell."""

    sha256: str  # of the list of the files
    files: dict[str, str]  # name -> SHA-256
    published_cells: str  # SHA-256
    statement: MethodStatement | None  # None where cells are suppressed: the audit plays the attackers
    proofs: str | None  # SHA-256 of those that the search found, for the audit to check; None where it keeps none
    optimality: str | None = None  # how far the suppressed cells are from the cheapest safe pattern; None: not known

    @property
    def hashes(self) -> Mapping[str, str]:
        return {"data": self.sha256}


def staged_and_published_cells(release: TablesRelease) -> tuple[StagedCells, Cells, PublishedCells]:
    """The cells of a release that was protected, of the first measure where there are several, and what is to be
    published of them. Raises SluiceError."""
    masked = last(release.entries(), State.MASKED)
    assert masked is not None
    staged = StagedCells(masked.body["cells"], masked.body["rows"])
    published = PublishedCells.read(release.vault.verify(masked.body["published_cells"], ".npz"))
    return staged, read_staged_cells(release, staged), published


def request_of(release: TablesRelease, cells: Cells) -> ProtectionRequest:
    """Judge all cells by the policy, and apply the a-priori file. Raises DataError where the two contradict."""
    definition, policy = release.product.definition, release.product.policy
    protection = definition.protection
    pattern = protection if isinstance(protection, SecondarySuppression) else SecondarySuppression()
    return ProtectionRequest.of(
        cells,
        policy.table_rules,
        replace(
            policy.table_attackers.assumptions(definition.measure.measure),
            statuses=definition.form.tell_primary and isinstance(protection, SecondarySuppression),
        ),
        rows=manual_rows(pattern.a_priori, [d.name for d in cells.dimensions], cells.decimals),
        cost=pattern.cost,
        manual_percent=pattern.manual_percent,
        waive=partial(
            waived_cells,
            waivers=policy.waivers,
            release_name=definition.name,
            today=datetime.now(UTC).date(),
            submitter=definition.owner,
        ),
    )

"""Protected tables, as staged in the vault."""

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.custody.ledger import last
from sluice.custody.states import State
from sluice.tabular.alternatives.altered_cells import AlteredCells
from sluice.tabular.model.cells import Cells
from tasks.release.tables.cells import StagedCells, TablesRelease, read_staged_cells
from tasks.release.tables.published_cells import PublishedCells


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
    """The cells of a release that was protected, and what is to be published of them. Raises SluiceError."""
    masked = last(release.entries(), State.MASKED)
    assert masked is not None
    staged = StagedCells(masked.body["cells"], masked.body["rows"])
    published = PublishedCells.read(release.vault.verify(masked.body["published_cells"], ".npz"))
    return staged, read_staged_cells(release, staged), published

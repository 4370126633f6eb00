"""The cells of a release of tables, as tabulated and kept in the vault."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from schemas.contract import Contract
from sluice.sources.table_cells import read_cells
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from tasks.release.documents import Documents
from tasks.release.release import Release
from tasks.release.tables.definition import TablesDefinition
from tasks.release.tables.fit import dimension_of

TablesDocuments: TypeAlias = Documents[TablesDefinition]
TablesRelease: TypeAlias = Release[TablesDocuments]


@dataclass(frozen=True)
class StagedCells:
    """The cells of all tables, by the SHA-256 of their file in the vault."""

    sha256: str
    cells: int


def read_staged_cells(release: TablesRelease, staged: StagedCells) -> Cells:
    """The cells, hashed again before they are read."""
    path = release.vault.verify(staged.sha256, ".npz")
    return cells_in(path, release.product.definition, release.product.contract)


def cells_in(path: Path, definition: TablesDefinition, contract: Contract) -> Cells:
    """The cells that were kept in a file, of the tables of a definition. Raises DataError for another file."""
    return read_cells(path, dimensions_of(definition, contract), [table.dimensions for table in definition.tables])


def dimensions_of(definition: TablesDefinition, contract: Contract) -> list[Dimension]:
    """The dimensions of all tables, in the order of the definition."""
    return [dimension_of(dimension, contract) for dimension in definition.dimensions]

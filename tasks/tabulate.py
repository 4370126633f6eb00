"""Tabulate: from the staged records to every cell of the tables, kept in the vault."""

from dataclasses import dataclass
from pathlib import Path

from schemas.contract import Contract
from sluice.sources.cells_file import cells_bytes, read_cells
from sluice.sources.table_cells import aggregate_file
from sluice.tabular.model.aggregation import LARGEST_KEPT
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from tasks.case import Release
from tasks.definition import TablesDefinition
from tasks.step import step
from tasks.tables_fit import dimension_of, measure_of


@dataclass(frozen=True)
class Tabulated:
    """The cells of all tables, as staged in the vault."""

    sha256: str
    cells: int


@step
def tabulate(release: Release) -> Tabulated:
    """Add up the staged records in DuckDB. Memory does not grow with the number of records."""
    case = release.case
    vault, policy, wanted = case.workspace.vault, case.policy, case.definition.measure.requested
    needed = (rule.sensitivity().largest_needed for rule in policy.table_rules)
    with vault.scratch(".duckdb") as scratch:
        found = aggregate_file(
            vault.verify(release.data.sha256, ".parquet"),
            dimensions_of(case.definition, case.contract),
            measure_of(case.definition, case.contract),
            scratch=scratch,
            tables=[table.dimensions for table in case.definition.tables],
            withheld={each.variable: (*each.withheld, *each.withheld_levels) for each in case.definition.dimensions},
            kept=max(LARGEST_KEPT, policy.table_attackers.coalition, *needed),
            requested=(wanted.variable, wanted.value) if wanted else None,
        )
    return Tabulated(vault.keep_bytes(cells_bytes(found.cells, found.asking), ".npz"), len(found.cells))


def read_tabulated(release: Release, tabulated: Tabulated) -> Cells:
    """The cells, hashed again before they are read."""
    path = release.case.workspace.vault.verify(tabulated.sha256, ".npz")
    return cells_of(path, release.case.definition, release.case.contract)


def cells_of(path: Path, definition: TablesDefinition, contract: Contract) -> Cells:
    """The cells that were kept in a file, of the tables of a definition. Raises DataError for another file."""
    return read_cells(path, dimensions_of(definition, contract), [table.dimensions for table in definition.tables])


def dimensions_of(definition: TablesDefinition, contract: Contract) -> list[Dimension]:
    """The dimensions of all tables, in the order of the definition."""
    return [dimension_of(dimension, contract) for dimension in definition.dimensions]

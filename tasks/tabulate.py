"""Tabulate: from the staged records to every cell of the tables, kept in the vault."""

from sluice.sources.table_cells import aggregate_file, cells_bytes
from sluice.tabular.model.aggregation import LARGEST_KEPT
from tasks.release.tables.feasibility_checks import measure_of
from tasks.release.tables.published_cells import StagedCells, TablesRelease, dimensions_of
from tasks.step import step


@step
def tabulate(release: TablesRelease) -> StagedCells:
    """Add up the staged records in DuckDB. Memory does not grow with the number of records."""
    vault, policy, definition = release.vault, release.product.policy, release.product.definition
    contract, requested = release.product.contract, definition.measure.requested
    needed = (rule.largest_needed for rule in policy.table_rules)
    with vault.scratch(".duckdb") as scratch:
        found = aggregate_file(
            vault.verify(release.data.sha256, ".parquet"),
            dimensions_of(definition, contract),
            measure_of(definition, contract),
            scratch=scratch,
            tables=definition.linked,
            withheld=definition.withheld,
            kept=max(LARGEST_KEPT, policy.table_attackers.coalition, *needed),
            requested=(requested.variable, requested.value) if requested else None,
        )
    return StagedCells(vault.keep_bytes(cells_bytes(found.cells, found.asking), ".npz"), len(found.cells))

"""Tabulate and protect: every cell of the tables from the staged records, and what of them would be published.

Protection suppresses sensitive cells and as many others as it takes, or changes values, and writes all that would
appear. The audit (`tasks.table_audit`) believes nothing of it.
"""

import json
from collections.abc import Sequence

import numpy as np
import pandas as pd

from sluice.custody.states import State
from sluice.ground.errors import DataError
from sluice.ground.values import plain_array, trimmed_texts
from sluice.publication.records_file import read_typed
from sluice.settings import settings
from sluice.sources.table_cells import aggregate_file, cells_bytes
from sluice.tabular.alternatives.altered_cells import AlteredCells
from sluice.tabular.audit.proofs import Proof
from sluice.tabular.model.aggregation import LARGEST_KEPT
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.column_values import is_missing
from sluice.tabular.model.measure import NOBODY
from tasks.release.running_step import SearchLog
from tasks.release.tables.aggregated_cells import WantedCells, cells_added_up
from tasks.release.tables.altered_tables import KeyedRecords, alter_cells
from tasks.release.tables.feasibility_checks import measure_of
from tasks.release.tables.protection import ProtectionRequest
from tasks.release.tables.protection_method import Alteration, SecondarySuppression
from tasks.release.tables.published_cells import (
    MethodStatement,
    OfMeasure,
    ProtectedTables,
    PublishedCells,
    StagedCells,
    TablesRelease,
    by_column,
    dimensions_of,
    measures_of,
)
from tasks.release.tables.shared_pattern import MeasuredCells, one_pattern, refuse_other_cells, suppress_together
from tasks.release.tables.specification import CellsAddedUp
from tasks.release.tables.sums_of_editions import declared_sums
from tasks.release.tables.suppressed_tables import SuppressedCells, proofs_as_bytes
from tasks.release.tables.table_editions import carried_forward, nearest_edition
from tasks.release.tables.table_files import table_files
from tasks.step import step


@step
def tabulate(release: TablesRelease) -> StagedCells:
    """Add up the staged records in DuckDB. Memory does not grow with the number of records."""
    vault, policy, definition = release.vault, release.product.policy, release.product.definition
    if definition.cells is not None:
        return _of_cells(release, definition.cells)
    contract, requested = release.product.contract, definition.measure.requested
    asked = definition.stricter(policy)
    kept = max(LARGEST_KEPT, asked.table_attackers.coalition, *(rule.largest_needed for rule in asked.table_rules))
    found = {}
    for name, each in definition.by_measure.items():
        with vault.scratch(".duckdb") as scratch:
            found[name] = aggregate_file(
                vault.verify(release.data.sha256, ".parquet"),
                dimensions_of(definition, contract),
                measure_of(each, contract),
                scratch=scratch,
                tables=definition.linked,
                withheld=definition.withheld,
                kept=kept,
                requested=requested.asked if requested else None,
            )
    refuse_other_cells({name: each.cells for name, each in found.items()}, definition.tells_contributors)
    known = {name: each.stricter(policy).table_attackers for name, each in definition.by_measure.items()}
    held = cells_bytes(*((known[name].known_weights(each.cells), each.asking) for name, each in found.items()))
    return StagedCells(vault.keep_bytes(held, ".npz"), len(next(iter(found.values())).cells))


def _of_cells(release: TablesRelease, named: CellsAddedUp) -> StagedCells:
    """The staged cells that came added up. Errors name a cell by its codes, and no figure."""
    vault, contract, definition = release.vault, release.product.contract, release.product.definition
    policy = definition.stricter(release.product.policy)
    wanted = WantedCells(
        named, measure_of(definition, contract), list(policy.table_rules), policy.table_attackers.coalition,
        definition.linked, definition.withheld, figures=False,
    )  # fmt: skip
    dimensions = dimensions_of(definition, contract)
    columns = [*(each.name for each in dimensions), *wanted.columns]
    staged = read_typed(vault.verify(release.data.sha256, ".parquet"), release.staged_variables, columns)
    texts = {name: trimmed_texts(plain_array(staged[name])).fill_null("").to_pylist() for name in columns}
    cells, _ = cells_added_up(pd.DataFrame(texts, dtype="str"), dimensions, wanted)
    return StagedCells(vault.keep_bytes(cells_bytes((cells, cells.asking or NOBODY)), ".npz"), len(cells))


@step
def protect(release: TablesRelease, staged: StagedCells) -> ProtectedTables:
    """The same cells under the same documents give the same pattern and the same bytes, unless seconds are given."""
    product, vault = release.product, release.vault
    measures = measures_of(release, staged)
    cells, method = measures[0].cells, product.definition.protection
    statement: MethodStatement | None = None
    proofs: Sequence[Proof] = ()
    optimality: str | None = None
    if isinstance(method, SecondarySuppression):
        made = _suppressed(measures, method)
        published, proofs, optimality = made.published, made.proofs, made.optimality
    else:
        changed = altered(release, cells, measures[0].request, method)
        statement, published = MethodStatement.of(changed), PublishedCells.of_altered(cells, changed.value)
    files = {
        file: vault.keep_bytes(content, f".{file.rpartition('.')[2]}")
        for file, content in table_files(product, by_column(measures), published)
    }
    listed = vault.keep_bytes(json.dumps(files, sort_keys=True).encode(), ".json")
    kept = vault.keep_bytes(published.to_bytes(), ".npz")
    proven = vault.keep_bytes(proofs_as_bytes(proofs), ".npz") if proofs else None
    release.record(
        State.MASKED,
        data=listed,
        cells=staged.sha256,
        published_cells=kept,
        proofs=proven,
        rows=len(cells),
        seed=release.seed_name if vault.has_seed(release.seed_name) else None,
    )
    return ProtectedTables(listed, files, kept, statement, proven, optimality)


def _suppressed(measures: Sequence[OfMeasure], method: SecondarySuppression) -> SuppressedCells:
    """A pattern that is safe also for whoever has the nearest earlier edition, and those that add up with it."""
    asked = {}
    for of in measures:
        release, cells = of.release, of.cells
        kept = carried_forward(release, cells) if method.carry_forward else np.zeros(len(cells), dtype=bool)
        pair = nearest_edition(release, cells)
        beside = [*((pair,) if pair else ()), *declared_sums(release, cells)]
        secret = release.vault.pseudonym("suppression", release.product.contract.dataset)
        asked[of.name] = MeasuredCells(cells, of.request.with_secret_costs(cells, secret), kept, beside)
    return one_pattern(asked, suppress_together(asked, method, settings().workers, SearchLog("protect")))


def altered(release: TablesRelease, cells: Cells, request: ProtectionRequest, method: Alteration) -> AlteredCells:
    """The cells with other values, as the method of the definition gives them: the same at every call."""
    return alter_cells(
        cells,
        request,
        method,
        is_count=release.product.definition.measure.variable is None,
        rng=lambda: np.random.default_rng(release.seeds().plan),
        records=lambda: _keyed_records(release, cells),
    )


def _keyed_records(release: TablesRelease, cells: Cells) -> KeyedRecords:
    """A record's keys come from its contributor and its record key: they are always the same."""
    definition, contract = release.product.definition, release.product.contract
    measure = measure_of(definition, contract)
    method = definition.protection.method
    names = [measure.contributor] if measure.contributor else list(contract.record_key)
    if not names:
        raise DataError(f"{method} needs a contributor, or a record_key in the contract, to know a record again.")
    frame = read_typed(release.vault.verify(release.data.sha256, ".parquet"), release.staged_variables)
    secret = release.vault.pseudonym(method, contract.dataset).encode()
    if measure.value is not None:  # amounts are those of records, counts those of contributors
        frame = frame[~is_missing(frame[measure.value])]
        names = list(dict.fromkeys([*names, *contract.record_key]))
    return KeyedRecords.of(frame, cells.dimensions, measure, names, secret)

"""Protect: suppress sensitive cells and as many others as it takes, or change values; write all that would appear.

Tabulate: from the staged records to every cell of the tables, kept in the vault.

Audit: play the attackers against the very files that would be published, whatever made them.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sluice.custody.states import State
from sluice.ground.errors import DataError
from sluice.ground.verdict import Finding
from sluice.publication.records_file import read_typed
from sluice.settings import settings
from sluice.sources.table_cells import aggregate_file, cells_bytes
from sluice.tabular.alternatives.altered_cells import AlteredCells
from sluice.tabular.audit.audit import Audit
from sluice.tabular.audit.proofs import Proof
from sluice.tabular.model.aggregation import LARGEST_KEPT
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.column_values import is_missing
from tasks.release.findings import findings_of
from tasks.release.progress import SearchLog
from tasks.release.tables.alteration import KeyedRecords, alter_cells
from tasks.release.tables.editions import carried_forward, compare_with_earlier_editions, nearest_edition
from tasks.release.tables.feasibility_checks import measure_of
from tasks.release.tables.files_of_records import TablesBesideFiles, compare_with_files
from tasks.release.tables.judgement import (
    TablesEvaluation,
    check_cells,
    judge_audit,
    judge_files,
    judge_statement,
    summarise_tables,
)
from tasks.release.tables.other_measures import compare_with_other_measures, judge_contributor_numbers
from tasks.release.tables.protection import ProtectionRequest, audit_cells
from tasks.release.tables.protection_method import Alteration, SecondarySuppression
from tasks.release.tables.published_cells import (
    MethodStatement,
    ProtectedTables,
    PublishedCells,
    StagedCells,
    TablesRelease,
    dimensions_of,
    read_staged_cells,
    request_of,
)
from tasks.release.tables.suppressed_cells import SuppressedCells, proofs_as_bytes, read_proofs, suppress_cells
from tasks.release.tables.table_files import problems_of, table_files
from tasks.step import step


@step
def protect(release: TablesRelease, staged: StagedCells) -> ProtectedTables:
    """The same cells under the same documents give the same pattern and the same bytes, unless seconds are given."""
    product, vault = release.product, release.vault
    cells = read_staged_cells(release, staged)
    request = request_of(release, staged, cells)
    method = product.definition.protection
    statement: MethodStatement | None = None
    proofs: Sequence[Proof] = ()
    optimality: str | None = None
    if isinstance(method, SecondarySuppression):
        made = _suppressed(release, cells, request, method)
        published, proofs, optimality = made.published, made.proofs, made.optimality
    else:
        changed = altered(release, cells, request, method)
        statement, published = MethodStatement.of(changed), PublishedCells.of_altered(cells, changed.value)
    files = {
        file: vault.keep_bytes(content, f".{file.rpartition('.')[2]}")
        for file, content in table_files(product, cells, published)
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


def _suppressed(
    release: TablesRelease, cells: Cells, request: ProtectionRequest, method: SecondarySuppression
) -> SuppressedCells:
    """A pattern that is safe also for whoever has the nearest earlier edition."""
    kept = carried_forward(release, cells) if method.carry_forward else np.zeros(len(cells), dtype=bool)
    pair = nearest_edition(release, cells)
    request = request.with_secret_costs(cells, release.vault.pseudonym("suppression", release.product.contract.dataset))
    workers = settings().workers
    return suppress_cells(cells, request, method, kept=kept, pair=pair, workers=workers, progress=SearchLog("protect"))


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


@step
def tabulate(release: TablesRelease) -> StagedCells:
    """Add up the staged records in DuckDB. Memory does not grow with the number of records."""
    vault, policy, definition = release.vault, release.product.policy, release.product.definition
    contract, requested = release.product.contract, definition.measure.requested
    needed = (rule.sensitivity().largest_needed for rule in policy.table_rules)
    with vault.scratch(".duckdb") as scratch:
        found = aggregate_file(
            vault.verify(release.data.sha256, ".parquet"),
            dimensions_of(definition, contract),
            measure_of(definition, contract),
            scratch=scratch,
            tables=[table.dimensions for table in definition.tables],
            withheld={each.variable: (*each.withheld, *each.withheld_levels) for each in definition.dimensions},
            kept=max(LARGEST_KEPT, policy.table_attackers.coalition, *needed),
            requested=(requested.variable, requested.value) if requested else None,
        )
    return StagedCells(vault.keep_bytes(cells_bytes(found.cells, found.asking), ".npz"), len(found.cells))


@step
def audit(release: TablesRelease, staged: StagedCells, protected: ProtectedTables) -> TablesEvaluation:
    """The verdict on the files, by the same requirements as the protection and by nothing that it says of itself.

    Proofs that the protection found are checked first, by plain arithmetic; what they do not show is searched for.
    """
    product, vault, statement = release.product, release.vault, protected.statement
    cells = read_staged_cells(release, staged)
    request = request_of(release, staged, cells)
    published = PublishedCells.read(vault.verify(protected.published_cells, ".npz"))
    proofs = read_proofs(vault.verify(protected.proofs, ".npz")) if protected.proofs else []
    outcome: list[Audit] = []

    def read_back() -> list[Finding]:
        files = {file: vault.verify(sha256, Path(file).suffix) for file, sha256 in protected.files.items()}
        problems = problems_of(product, files, cells, published)
        if published.synthetic is not None:
            drawn = published.with_synthetic_values(cells, request.assumptions).synthetic
            if drawn is None or not np.array_equal(drawn, published.synthetic):
                problems.append("The synthetic values are not those that the published cells alone give.")
        return [judge_files(problems)]

    def attack() -> list[Finding]:
        if statement:
            return [judge_statement(statement)]
        outcome.append(audit_cells(cells, published.status, request, proofs, settings().workers))
        return [judge_audit(outcome[0])]

    def numbers() -> list[Finding]:
        return judge_contributor_numbers(cells, published.status, request, settings().workers)

    findings = [
        *check_cells(cells, request, release.product.policy.formula_cells),
        *findings_of("table_files", "masked", read_back),
        *findings_of("table_audit", "masked", attack),
        *(findings_of("contributor_numbers", "masked", numbers) if product.definition.tells_contributors else ()),
        *findings_of(
            "earlier_editions",
            "masked",
            lambda: compare_with_earlier_editions(release, cells, published, request, settings().workers),
        ),
        *findings_of(
            "other_measures",
            "masked",
            lambda: compare_with_other_measures(release, cells, published, request, settings().workers),
        ),
        *findings_of(
            "records_and_tables",
            "masked",
            lambda: compare_with_files(release, TablesBesideFiles.of_release(release, cells, published, request)),
        ),
    ]
    summaries = summarise_tables(
        product.definition.tables,
        cells,
        published,
        request,
        product.policy.minimum_cell,
        statement,
        outcome[0] if outcome else None,
        settings().workers,
        protected.optimality,
    )
    return TablesEvaluation(tuple(findings), tuple(summaries))

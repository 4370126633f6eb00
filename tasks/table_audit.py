"""Audit: play the attackers against the very files that would be published, whatever made them."""

from pathlib import Path

import numpy as np

from sluice.ground.verdict import Finding
from sluice.settings import settings
from sluice.tabular.audit.pattern_audit import Audit
from tasks.release.crashed_measures import findings_of
from tasks.release.tables.files_of_records import TablesBesideFiles, compare_with_files
from tasks.release.tables.other_measures import compare_with_other_measures, judge_contributor_numbers
from tasks.release.tables.protection import audit_cells
from tasks.release.tables.published_cells import (
    ProtectedTables,
    PublishedCells,
    StagedCells,
    TablesRelease,
    read_staged_cells,
    request_of,
)
from tasks.release.tables.suppressed_tables import read_proofs
from tasks.release.tables.table_editions import compare_with_earlier_editions
from tasks.release.tables.table_files import problems_of
from tasks.release.tables.table_findings import (
    TablesEvaluation,
    check_cells,
    judge_audit,
    judge_files,
    judge_statement,
    summarise_tables,
)
from tasks.step import step


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

"""Audit: play the attackers against the very files that would be published, whatever made them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sluice.ground.verdict import Finding
from sluice.report.table_summary import TableSummary
from sluice.settings import settings
from sluice.tabular.audit.pattern_audit import Audit
from sluice.tabular.audit.proofs import Proof
from tasks.release.crashed_measures import findings_of
from tasks.release.tables.files_of_records import TablesBesideFiles, compare_with_files
from tasks.release.tables.other_measures import compare_with_other_measures, judge_contributor_numbers
from tasks.release.tables.protection import ProtectionRequest, audit_cells
from tasks.release.tables.published_cells import (
    OfMeasure,
    ProtectedTables,
    PublishedCells,
    StagedCells,
    TablesRelease,
    by_column,
    measures_of,
)
from tasks.release.tables.shared_pattern import MeasuredCells, judge_parts
from tasks.release.tables.suppressed_tables import read_proofs
from tasks.release.tables.table_editions import compare_with_earlier_editions
from tasks.release.tables.table_files import problems_of
from tasks.release.tables.table_findings import (
    TablesEvaluation,
    check_cells,
    judge_audit,
    judge_cells_added_up,
    judge_files,
    judge_statement,
    of_measure,
    summarise_tables,
)
from tasks.step import step


@step
def audit(release: TablesRelease, staged: StagedCells, protected: ProtectedTables) -> TablesEvaluation:
    """The verdict on the files, by the same requirements as the protection and by nothing that it says of itself.

    Proofs that the protection found are checked first, by plain arithmetic; what they do not show is searched for.
    """
    vault, measures = release.vault, measures_of(release, staged)
    requests = [of.request for of in measures]
    common = PublishedCells.read(vault.verify(protected.published_cells, ".npz"))
    proofs = read_proofs(vault.verify(protected.proofs, ".npz")) if protected.proofs else []

    def read_back() -> list[Finding]:
        files = {file: vault.verify(sha256, Path(file).suffix) for file, sha256 in protected.files.items()}
        problems = problems_of(release.product, files, by_column(measures), common)
        if common.synthetic is not None:
            drawn = common.with_synthetic_values(measures[0].cells, requests[0].assumptions).synthetic
            if drawn is None or not np.array_equal(drawn, common.synthetic):
                problems.append("The synthetic values are not those that the published cells alone give.")
        return [judge_files(problems)]

    findings: list[Finding] = []
    for of, request in zip(measures, requests, strict=True):
        checked = check_cells(of.cells, request, release.product.policy.formula_cells)
        findings += of_measure(checked, of.name) if len(measures) > 1 else checked
    findings += judge_cells_added_up(release.product.definition)
    findings += findings_of("table_files", "masked", read_back)
    if len(measures) > 1:
        together = {of.name: MeasuredCells(of.cells, request) for of, request in zip(measures, requests, strict=True)}
        findings += findings_of(
            "measures", "masked", lambda: judge_parts(together, common.status, settings().workers, proofs)
        )
    summaries: list[TableSummary] = []
    for of, request in zip(measures, requests, strict=True):
        found = _attacked(of, request, common, protected, proofs, len(measures) > 1)
        findings += of_measure(found.findings, of.name) if len(measures) > 1 else found.findings
        summaries += found.tables
    return TablesEvaluation(tuple(findings), tuple(summaries))


def _attacked(
    of: OfMeasure,
    request: ProtectionRequest,
    common: PublishedCells,
    protected: ProtectedTables,
    proofs: Sequence[Proof],
    one_of_several: bool,
) -> TablesEvaluation:
    """What attackers learn of one measure, and from other publications.

    common : what is published, of all measures
    """
    release, cells, statement = of.release, of.cells, protected.statement
    product, published = release.product, of.published(common, request)
    outcome: list[Audit] = []

    def attack() -> list[Finding]:
        if statement:
            return [judge_statement(statement)]
        outcome.append(audit_cells(cells, published.status, request, proofs, settings().workers))
        return [judge_audit(outcome[0])]

    def numbers() -> list[Finding]:
        return judge_contributor_numbers(cells, published.status, request, settings().workers)

    findings = [
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
        common,
        request,
        product.policy.minimum_cell,
        statement,
        outcome[0] if outcome else None,
        settings().workers,
        protected.optimality,
        of.name if one_of_several else None,
    )
    return TablesEvaluation(tuple(findings), tuple(summaries))

"""Audit: play the attackers against the very files that would be published, whatever made them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sluice.report.table_summary import TableSummary, summarise
from sluice.settings import settings
from sluice.tabular.audit.audit import Audit
from sluice.tabular.audit.single_cell_attacks import in_words
from sluice.tabular.model.cells import Cells, Contributions, Status, in_table
from sluice.tabular.rules.sensitivity import Requirements
from sluice.verdict import Finding, Verdict
from tasks import proofs
from tasks.case import Release
from tasks.protect import Promise, Protected
from tasks.release.findings import findings_of
from tasks.release.tables.protection import ProtectionRequest, audit_cells
from tasks.shown import Shown
from tasks.step import step
from tasks.table_editions import against_earlier_editions
from tasks.table_files import problems_of
from tasks.table_request import request_on
from tasks.tabulate import Tabulated, read_tabulated

_BREACHES_TOLD = 5


@dataclass(frozen=True)
class Audited:
    """Aggregates only: they travel between tasks and into the report."""

    findings: tuple[Finding, ...]
    tables: tuple[TableSummary, ...]


@step
def audit(release: Release, tabulated: Tabulated, protected: Protected) -> Audited:
    """The verdict on the files, by the same requirements as the protection and by nothing that it says of itself.

    Proofs that the protection found are checked first, by plain arithmetic; what they do not show is searched for.
    """
    cells = read_tabulated(release, tabulated)
    request = request_on(release, tabulated, cells)
    vault = release.case.workspace.vault
    shown = Shown.read(vault.verify(protected.shown, ".npz"))
    found = proofs.read(vault.verify(protected.proofs, ".npz")) if protected.proofs else []
    asked, outcome = request.requirements, []

    def played() -> list[Finding]:
        if protected.promise:
            return [_promised(protected.promise)]
        outcome.append(audit_cells(cells, shown.status, request, found, settings().workers))
        return [_finding(outcome[0])]

    findings = [*_by_rule(asked, len(cells)), *request.findings]
    findings += findings_of("table_files", "masked", lambda: [_files_say_no_more(release, protected, cells, shown)])
    findings += findings_of("table_audit", "masked", played)
    findings += findings_of(
        "earlier_editions",
        "masked",
        lambda: against_earlier_editions(release, cells, shown, request, settings().workers),
    )
    return Audited(tuple(findings), tuple(_summaries(release, cells, shown, request, protected.promise, outcome)))


def _by_rule(asked: Requirements, cells: int) -> list[Finding]:
    """What each rule says of the unprotected cells; reported."""
    return [
        Finding(
            rule=rule,
            verdict=Verdict.FAIL if found.any() else Verdict.PASS,
            stage="original",
            says=f"{int(found.sum()):,} of {cells:,} cells may not be published by this rule.",
            observed=float(found.sum()),
            attempted=cells,
            completed=cells,
            binding=False,
        )
        for rule, found in asked.by_rule.items()
    ]


def _finding(outcome: Audit) -> Finding:
    if outcome.breaches:
        told = " ".join(breach.says for breach in outcome.breaches[:_BREACHES_TOLD])
        verdict, says = Verdict.FAIL, f"{len(outcome.breaches):,} sensitive values can be worked out: {told}"
    elif outcome.safe:
        verdict = Verdict.PASS
        says = f"None of {outcome.attempted:,} attacks on the blanks succeeds, by readers or by those who contribute."
    else:
        open_ = outcome.attempted - outcome.completed
        verdict, says = Verdict.UNKNOWN, f"{open_:,} of {outcome.attempted:,} attacks could not be decided."
    return Finding(
        rule="table_audit",
        verdict=verdict,
        stage="masked",
        says=says,
        observed=float(len(outcome.breaches)),
        limit=0,
        attempted=outcome.attempted,
        completed=outcome.completed,
    )


def _files_say_no_more(release: Release, protected: Protected, cells: Cells, shown: Shown) -> Finding:
    """Whether the files, read back, hold the pattern and the values that are judged, and no others."""
    vault = release.case.workspace.vault
    files = {file: vault.verify(sha256, Path(file).suffix) for file, sha256 in protected.files.items()}
    problems = problems_of(release.case, files, cells, shown)
    return Finding(
        rule="table_files",
        verdict=Verdict.FAIL if problems else Verdict.PASS,
        stage="masked",
        says=" ".join(problems) or "The files hold what was judged, and nothing of a suppressed cell.",
    )


def _promised(promise: Promise) -> Finding:
    """What a method that changes values found out of itself: whether any sensitive cell can be told too nearly."""
    verdict, says = Verdict.PASS, promise.says
    if promise.failing:
        verdict = Verdict.FAIL
        says = f"{promise.failing:,} of {promise.attempted:,} sensitive cells can be told too nearly. {says}"
    elif promise.completed < promise.attempted:
        verdict = Verdict.UNKNOWN
        left = promise.attempted - promise.completed
        says = f"{left:,} of {promise.attempted:,} sensitive cells were not judged. {says}"
    return Finding(
        rule="table_audit",
        verdict=verdict,
        stage="masked",
        says=says,
        observed=float(promise.failing),
        limit=0,
        attempted=promise.attempted,
        completed=promise.completed,
    )


def _summaries(
    release: Release,
    cells: Cells,
    shown: Shown,
    request: ProtectionRequest,
    promise: Promise | None,
    played: Sequence[Audit],
) -> Iterator[TableSummary]:
    """What the report tells of each table. What attackers learn is told in numbers of cells."""
    outcome, status = played[0] if played else None, shown.status
    for table in release.case.definition.tables:
        inside = in_table(cells, table.dimensions)
        told = cells.contributions
        contributions = Contributions(told.total[inside], told.contributors[inside], told.largest[inside])
        hidden = inside & (status != Status.PUBLISHED)
        low, high = cells.total.astype(np.float64), cells.total.astype(np.float64)
        low[hidden], high[hidden] = 0.0, np.inf
        if outcome is not None:
            proven = hidden & ~np.isnan(outcome.lower)
            low[proven], high[proven] = outcome.lower[proven], outcome.upper[proven]
        yield summarise(
            cells,
            status,
            request.requirements,
            table.name,
            table.dimensions,
            release.case.policy.minimum_cell,
            outcome,
            statements=[promise.says] if promise else (),
            before=in_words(contributions),
            now=() if promise else in_words(contributions, low[inside], high[inside]),
        )

"""What is found of protected tables: by the rules on the unprotected cells, and by playing the attackers.

Nothing here knows of a release: cells and what is asked of them in, findings and figures out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from policies.formula_cells import FormulaCells, formula_codes
from sluice.report.table_summary import TableSummary, summarise
from sluice.tabular.audit.audit import Audit
from sluice.tabular.audit.learned_intervals import learned_intervals
from sluice.tabular.audit.single_cell_attacks import doubt_wanted, in_words
from sluice.tabular.model.cells import Booleans, Cells, Contributions, Floats, in_table
from sluice.verdict import Finding, Verdict
from tasks.release.tables.layout import WantedTable
from tasks.release.tables.protected_tables import MethodStatement
from tasks.release.tables.protection import ProtectionRequest
from tasks.release.tables.published_cells import PublishedCells

_MOST_BREACHES = 5  # in words


@dataclass(frozen=True)
class TablesEvaluation:
    """Aggregates only: they travel between tasks and into the report."""

    findings: tuple[Finding, ...]
    tables: tuple[TableSummary, ...]


def check_cells(cells: Cells, request: ProtectionRequest, formulas: FormulaCells) -> list[Finding]:
    """What each rule says of the unprotected cells, which does not decide; and of those that people want published."""
    by_rule = [
        Finding(
            rule=rule,
            verdict=Verdict.FAIL if found.any() else Verdict.PASS,
            stage="original",
            says=f"{int(found.sum()):,} of {len(cells):,} cells may not be published by this rule.",
            observed=float(found.sum()),
            attempted=len(cells),
            completed=len(cells),
            binding=False,
        )
        for rule, found in request.requirements.by_rule.items()
    ]
    return [*by_rule, *formula_codes(cells.dimensions, formulas), *request.findings]


def judge_audit(outcome: Audit) -> Finding:
    """Whether any attack on the pattern succeeds."""
    if outcome.breaches:
        first = " ".join(breach.says for breach in outcome.breaches[:_MOST_BREACHES])
        verdict, says = Verdict.FAIL, f"{len(outcome.breaches):,} sensitive values can be worked out: {first}"
    elif outcome.safe:
        verdict = Verdict.PASS
        says = f"None of {outcome.attempted:,} attacks on the suppressed cells succeeds, by readers or contributors."
    else:
        open_ = outcome.attempted - outcome.completed
        verdict, says = Verdict.UNKNOWN, f"{open_:,} of {outcome.attempted:,} attacks could not be decided."
    return _finding(verdict, says, len(outcome.breaches), outcome.attempted, outcome.completed)


def judge_statement(statement: MethodStatement) -> Finding:
    """Whether any sensitive cell can be estimated too closely, as a method that changes values says of itself."""
    verdict, says, attempted = Verdict.PASS, statement.says, statement.attempted
    if statement.failing:
        verdict = Verdict.FAIL
        says = f"{statement.failing:,} of {attempted:,} sensitive cells can be estimated too closely. {says}"
    elif statement.completed < attempted:
        verdict = Verdict.UNKNOWN
        says = f"{attempted - statement.completed:,} of {attempted:,} sensitive cells were not judged. {says}"
    elif statement.concern:
        verdict, says = Verdict.REVIEW, f"{statement.concern} {says}"
    return _finding(verdict, says, statement.failing, attempted, statement.completed)


def judge_files(problems: Sequence[str]) -> Finding:
    """Whether the files, read back, hold the pattern and the values that are judged, and no others."""
    return Finding(
        rule="table_files",
        verdict=Verdict.FAIL if problems else Verdict.PASS,
        stage="masked",
        says=" ".join(problems) or "The files hold what was judged, and nothing of a suppressed cell.",
    )


def summarise_tables(
    tables: Sequence[WantedTable],
    cells: Cells,
    published: PublishedCells,
    request: ProtectionRequest,
    minimum_cell: int,
    statement: MethodStatement | None,
    outcome: Audit | None,
    workers: int = 1,
    optimality: str | None = None,
) -> Iterator[TableSummary]:
    """What the report says of each table. What attackers learn is given in numbers of cells.

    statement : of a method that changes values
    outcome   : of the audit, where there was one and it came to its end
    workers   : threads
    optimality: how far the suppressed cells are from the cheapest safe pattern, in a sentence
    """
    known = cells.contributions
    learned = None if statement or outcome is None else _learned(cells, published, request, workers)
    for table in tables:
        inside = in_table(cells, table.dimensions)
        contributions = Contributions(known.total[inside], known.contributors[inside], known.largest[inside])
        yield summarise(
            cells,
            published.status,
            request.requirements,
            table.name,
            table.dimensions,
            minimum_cell,
            outcome,
            published.value,
            statements=[said for said in (statement.says if statement else None, optimality) if said],
            before=in_words(contributions),
            now=() if learned is None else _now(contributions, learned, inside),
        )


_Intervals = tuple[Floats, Floats, Booleans]  # see `learned_intervals`


def _learned(cells: Cells, published: PublishedCells, request: ProtectionRequest, workers: int) -> _Intervals:
    return learned_intervals(
        cells,
        published.status,
        request.requirements,
        request.rules,
        request.assumptions,
        doubt_wanted(cells.contributions),
        workers,
    )


def _now(contributions: Contributions, learned: _Intervals, inside: Booleans) -> list[str]:
    low, high, decided = learned
    said, left = in_words(contributions, low[inside], high[inside]), int((~decided[inside]).sum())
    of = "1 suppressed cell" if left == 1 else f"{left:,} suppressed cells"
    return [*said, f"Of {of} it was not decided what can be learned."] if left else said


def _finding(verdict: Verdict, says: str, failing: int, attempted: int, completed: int) -> Finding:
    return Finding(
        rule="table_audit",
        verdict=verdict,
        stage="masked",
        says=says,
        observed=float(failing),
        limit=0,
        attempted=attempted,
        completed=completed,
    )

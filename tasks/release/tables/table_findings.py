"""What is found of protected tables: by the rules on the unprotected cells, and by playing the attackers.

Nothing here knows of a release: cells and what is asked of them in, findings and figures out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from policies.formula_cells import FormulaCells, formula_codes
from sluice.ground.declaration import Declaration
from sluice.ground.sentence import Saying, Sentence, Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.report.table_summary import TableSummary, summarise
from sluice.tabular.audit.pattern_audit import Audit
from sluice.tabular.audit.published_intervals import learned_intervals
from sluice.tabular.audit.single_cell_attacks import doubt_wanted, in_words
from sluice.tabular.model.cells import Booleans, Cells, Contributions, Floats, in_table
from tasks.release.tables.protection import ProtectionRequest
from tasks.release.tables.published_cells import MethodStatement, PublishedCells
from tasks.release.tables.specification import TableSpecification, WantedTable

_BY_RULE = Sentence("cells.not_published", "{cells:,} of {of:,} cells may not be published by this rule.")
_TABLE_AUDIT = Sentences(
    "table_audit",
    worked_out="{values:,} sensitive values can be worked out: {first}",
    safe="None of {attacks:,} attacks on the suppressed cells succeeds, by readers or contributors.",
    not_decided="{open:,} of {attacks:,} attacks could not be decided.",
    too_close="{failing:,} of {of:,} sensitive cells can be estimated too closely. ",
    not_judged="{cells:,} of {of:,} sensitive cells were not judged. ",
    of_method="{says}",
    concern="{concern} ",
)
_CELLS_ADDED_UP = Sentence(
    "cells_added_up.untold",
    "These data are cells, and not records: who contributes to several of them is not told. Each contributor was taken "
    "to be in one cell of the lowest level, so nobody played whoever is alone in several, nor holdings.",
)
_LINKED = Sentence(
    "cells_added_up.linked",
    " In several tables a contributor is known again by the size of its contributions, so those of equal sizes may be "
    "mistaken for each other.",
)
_NO_LARGEST = Sentence(
    "cells_added_up.no_largest", " Without the largest contributions one contributor was taken to have all of a cell."
)
_TABLE_FILES = Sentences(
    "table_files",
    problems="{problems}",
    as_judged="The files hold what was judged, and nothing of a suppressed cell.",
)

_OF_MEASURE = Sentence("measures.concerns", " This concerns {measure}.")

_MOST_BREACHES = 5  # in words


TABLE_AUDIT = (
    Declaration(
        "table_audit",
        helps="Attackers can work out sensitive cells: suppress further cells of the equations that the finding names, "
        "merge categories, or protect the tables again under the same assumptions as the audit.",
        needs="Give the audit more time or smaller tables, so that every attack is decided: split linked tables, or "
        "suppress more cells.",
    ),
    Declaration(
        "cells_added_up",
        helps="Give the records, with the contributor and the holding of each; or let somebody decide who knows that "
        "no contributor is in several cells, or accepts that those who are learn more of the others.",
    ),
    Declaration(
        "measures",
        helps="One measure is never more than another, and tells its sensitive values to whoever knows that: suppress "
        "further cells (a_priori), publish one of the two, or let somebody decide who knows what readers know.",
    ),
    Declaration(
        "table_files",
        helps="The files are not what was judged: write them again from the protected tables, and do not edit them by "
        "hand.",
    ),
)


@dataclass(frozen=True)
class TablesEvaluation:
    """Aggregates only: they travel between tasks and into the report."""

    findings: tuple[Finding, ...]
    tables: tuple[TableSummary, ...]


def of_measure(findings: Sequence[Finding], name: str) -> list[Finding]:
    """The same findings, which say of which of several measures they are."""
    return [
        each.adding(_OF_MEASURE(measure=name)).model_copy(update={"scope": ", ".join(filter(None, (name, each.scope)))})
        for each in findings
    ]


def check_cells(cells: Cells, request: ProtectionRequest, formulas: FormulaCells) -> list[Finding]:
    """What each rule says of the unprotected cells, which does not decide; and of those that people want published."""
    by_rule = [
        Finding(
            rule=rule,
            verdict=Verdict.FAIL if found.any() else Verdict.PASS,
            stage="original",
            **as_fields(_BY_RULE(cells=int(found.sum()), of=len(cells))),
            observed=float(found.sum()),
            attempted=len(cells),
            completed=len(cells),
            binding=False,
        )
        for rule, found in request.requirements.by_rule.items()
    ]
    return [*by_rule, *formula_codes(cells.dimensions, formulas), *request.findings]


def judge_cells_added_up(definition: TableSpecification) -> list[Finding]:
    """What of cells that come added up cannot be judged, so that a person decides; nothing of records."""
    if definition.cells is None:
        return []
    says = _CELLS_ADDED_UP()
    if len(definition.tables) > 1:
        says += _LINKED()
    if definition.measure.variable is not None and not definition.cells.largest:
        says += _NO_LARGEST()
    return [Finding(rule="cells_added_up", verdict=Verdict.REVIEW, stage="masked", **as_fields(says))]


def judge_audit(outcome: Audit) -> Finding:
    """Whether any attack on the pattern succeeds."""
    if outcome.breaches:
        first = " ".join(breach.says for breach in outcome.breaches[:_MOST_BREACHES])
        verdict, says = Verdict.FAIL, _TABLE_AUDIT.worked_out(values=len(outcome.breaches), first=first)
    elif outcome.safe:
        verdict = Verdict.PASS
        says = _TABLE_AUDIT.safe(attacks=outcome.attempted)
    else:
        open_ = outcome.attempted - outcome.completed
        verdict, says = Verdict.UNKNOWN, _TABLE_AUDIT.not_decided(open=open_, attacks=outcome.attempted)
    return _finding(verdict, says, len(outcome.breaches), outcome.attempted, outcome.completed)


def judge_statement(statement: MethodStatement) -> Finding:
    """Whether any sensitive cell can be estimated too closely, as a method that changes values says of itself."""
    verdict, says, attempted = Verdict.PASS, _TABLE_AUDIT.of_method(says=statement.says), statement.attempted
    if statement.failing:
        verdict = Verdict.FAIL
        says = _TABLE_AUDIT.too_close(failing=statement.failing, of=attempted) + says
    elif statement.completed < attempted:
        verdict = Verdict.UNKNOWN
        says = _TABLE_AUDIT.not_judged(cells=attempted - statement.completed, of=attempted) + says
    elif statement.concern:
        verdict, says = Verdict.REVIEW, _TABLE_AUDIT.concern(concern=statement.concern) + says
    return _finding(verdict, says, statement.failing, attempted, statement.completed)


def judge_files(problems: Sequence[str]) -> Finding:
    """Whether the files, read back, hold the pattern and the values that are judged, and no others."""
    return Finding(
        rule="table_files",
        verdict=Verdict.FAIL if problems else Verdict.PASS,
        stage="masked",
        **as_fields(_TABLE_FILES.problems(problems=" ".join(problems)) if problems else _TABLE_FILES.as_judged()),
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
    measure: str | None = None,
) -> Iterator[TableSummary]:
    """What the report says of each table. What attackers learn is given in numbers of cells.

    statement : of a method that changes values
    outcome   : of the audit, where there was one and it came to its end
    workers   : threads
    optimality: how far the suppressed cells are from the cheapest safe pattern, in a sentence
    measure   : of several that share a pattern, whose cells these are
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
            measure=measure,
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


def _finding(verdict: Verdict, says: Saying, failing: int, attempted: int, completed: int) -> Finding:
    return Finding(
        rule="table_audit",
        verdict=verdict,
        stage="masked",
        **as_fields(says),
        observed=float(failing),
        limit=0,
        attempted=attempted,
        completed=completed,
    )

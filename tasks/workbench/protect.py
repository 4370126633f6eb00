"""A protected table, outside any release: cells from records, protected as a release would protect them, and judged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from policies.waivers import Waiver, waived_cells
from sluice.ground.errors import DataError
from sluice.ground.sentence import Sentence, as_fields
from sluice.ground.verdict import Finding, Verdict, decide
from sluice.publication.pattern_file import codes_of
from sluice.publication.published_table import in_decimals
from sluice.tabular.audit.pattern_audit import Audit
from sluice.tabular.editions.joint_editions import carried
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status, Statuses
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.rules.intruders import status_tells_more
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule
from sluice.tabular.suppression.effort import Progress
from sluice.tabular.suppression.manual_status import MANUAL, manual_rows
from tasks.release.tables.altered_tables import alter_cells
from tasks.release.tables.protection import ProtectionRequest, audit_cells
from tasks.release.tables.protection_method import Alteration, Protection, SecondarySuppression
from tasks.release.tables.published_cells import MethodStatement, PublishedCells
from tasks.release.tables.suppressed_tables import suppress_cells
from tasks.release.tables.table_editions import EditionPair
from tasks.release.tables.table_findings import judge_audit, judge_statement
from tasks.workbench.cells_files import read_cells, refuse_taken_names, refuse_unfit_output, write_cells
from tasks.workbench.draw import Draw
from tasks.workbench.previous_pattern import PreviousPattern
from tasks.workbench.seed_file import secret_seed_of
from tasks.workbench.tabular_file import read_text, with_points
from tasks.workbench.tabulation import Tabulated, attackers, records_in, refuse_no_rules, tabulate
from tasks.workbench.waivers_file import read_waivers

_NOTHING_SHARED = Sentence(
    "earlier_editions.nothing_shared",
    "No cell of {name} has the same value here, so nothing was compared. If its values were changed (rounded, with "
    "noise), their joint disclosure is unknown: somebody who knows both must decide.",
)
_TOLD = {"rule", "says", "code", "data", "notes", "scope", "binding", "waiver"}  # of a finding, beside its verdict


@dataclass(frozen=True, eq=False)
class ProtectedTable:
    """What may be published of the cells, and what was found of it.

    findings  : on the table, on the edition before it and on waivers; together they are the verdict
    audit     : of a pattern of suppressed cells; None where values were changed
    statement : what a method that changes values says of itself; None where cells are suppressed
    bound     : optimise mode: no safe pattern costs less
    first     : with a budget of time: what the first safe pattern cost
    stopped   : whether the budget ended the search
    files     : that were written
    """

    tabulated: Tabulated
    method: Protection
    request: ProtectionRequest
    published: PublishedCells
    findings: tuple[Finding, ...]
    audit: Audit | None = None
    statement: MethodStatement | None = None
    bound: float | None = None
    cost: float | None = None
    first: float | None = None
    stopped: bool = False
    seconds: float = 0.0
    files: tuple[Path, ...] = ()

    @property
    def cells(self) -> Cells:
        return self.tabulated.cells

    @property
    def status(self) -> Statuses:
        return self.published.status

    @property
    def requirements(self) -> Requirements:
        return self.request.requirements

    @property
    def verdict(self) -> Verdict:
        return decide(self.findings)

    @property
    def may_be_written(self) -> bool:
        """Nothing failed, and nothing that was to be tried is open; what a person should look at is said."""
        return self.verdict in (Verdict.PASS, Verdict.REVIEW)

    def summary(self) -> dict[str, Any]:
        """What was done, for machines; totals and numbers of cells, no single cell's value."""
        return {
            "method": self.method.model_dump(exclude={"a_priori"}),
            "cells": len(self.cells),
            "sensitive": {
                rule: int(found.sum())
                for rule, found in self.requirements.by_rule.items()
                if rule != MANUAL or found.any()
            },
            "verdict": self.verdict.name,
            "safe": self.verdict is Verdict.PASS,
            "findings": [
                finding.model_dump(mode="json", include=_TOLD) | {"verdict": finding.verdict.name}
                for finding in self.findings
            ],
            **(self._of_pattern(self.audit) if self.audit else {}),
            "records_left_out": self.tabulated.left_out,
            "records_added_up": self.tabulated.added_up,
            "contributors_alike": self.tabulated.alike,
            "seconds": round(self.seconds, 3),
        }

    def _of_pattern(self, audit: Audit) -> dict[str, Any]:
        cells, suppressed = self.cells, self.status != Status.PUBLISHED
        total = np.abs(cells.total)
        value, of = int(total[suppressed].sum()), int(total.sum())
        figures: dict[str, Any] = {
            "primary": int((self.status == Status.PRIMARY).sum()),
            "secondary": int((self.status == Status.SECONDARY).sum()),
            "suppressed_value": in_decimals(value, cells.decimals),
            "suppressed_share": value / of if of else 0.0,
            "attacks": {"attempted": audit.attempted, "completed": audit.completed},
            "narrowest": [
                {**codes_of(cells.dimensions, cells.codes, cell), "width_per_width_asked": ratio}
                for cell, ratio in audit.narrowest
            ],
            "breaches": [breach.says for breach in audit.breaches],
        }
        if self.bound is not None:
            figures |= {"cost": self.cost, "proven_bound": self.bound}
        if self.first is not None:
            figures |= {"cost": self.cost, "first_cost": self.first, "time_ran_out": self.stopped}
        return figures


def protect_table(
    source: Path,
    dimensions: Sequence[Dimension],
    measure: Measure,
    rules: Sequence[SensitivityRule],
    output: Path,
    *,
    tables: Sequence[Sequence[str]] | None = None,
    method: Protection = SecondarySuppression(),  # noqa: B008
    a_priori: Path | None = None,
    waivers: Path | None = None,
    previous: Path | None = None,
    seed_file: Path | None = None,
    coalition: int = 1,
    tell_primary: bool = False,
    workers: int = 1,
    progress: Progress | None = None,
) -> ProtectedTable:
    """Make, protect and judge the table of a CSV or Parquet file, and write it as CSV if nothing fails.

    output       : a CSV file of all cells, or a folder, for a file of each linked table
    a_priori     : a CSV file of what people ask of single cells
    waivers      : a YAML file of those that allow sensitive cells to be published
    previous     : cells that were published before, in a form of `output`
    seed_file    : of methods that draw, and of noise on the costs of suppression; made where it is absent
    tell_primary : two words for suppressed cells: primary and secondary
    progress     : of the search for a pattern
    raises       : DataError, DocumentError; then nothing is written
    """
    begun = perf_counter()
    refuse_unfit_output(output, [source, a_priori, waivers, seed_file, previous], dimensions, tables)
    if tell_primary and measure.counts is not None:
        raise DataError(
            "a reader who is told which suppressed counts are sensitive knows how small they are, and their sums "
            "disclose many; leave --tell-primary out."
        )
    if tell_primary and status_tells_more(rules, coalition):
        raise DataError(
            "by these rules, or to contributors who pool what they know, the word 'primary' tells how large the "
            "others' parts may be; leave --tell-primary out."
        )
    if a_priori:
        method = _suppression(method, "a-priori file").model_copy(update={"a_priori": tuple(_rows_of(a_priori))})
    granted = read_waivers(waivers) if waivers else ()
    before = None
    if previous:
        pattern, those = read_cells(previous, dimensions, None if previous.is_dir() else tables)
        before = PreviousPattern(previous.name, pattern, those)
    made = protect_tabulated(
        tabulate(source, dimensions, measure, rules, tables, coalition),
        rules,
        replace(attackers(measure, coalition), statuses=tell_primary),
        method,
        waivers=granted,
        previous=before,
        draw=Draw(
            partial(_seed_of, seed_file, method),
            partial(records_in, source, dimensions, measure),
            dimensions,
            measure,
            secret_costs=seed_file is not None,
        ),
        workers=workers,
        progress=progress,
    )
    files = write_cells(output, made.cells, made.published, tables, tell_primary) if made.may_be_written else []
    return replace(made, files=tuple(files), seconds=perf_counter() - begun)


def protect_tabulated(
    tabulated: Tabulated,
    rules: Sequence[SensitivityRule],
    assumptions: Assumptions,
    method: Protection = SecondarySuppression(),  # noqa: B008
    *,
    waivers: Sequence[Waiver] = (),
    previous: PreviousPattern | None = None,
    draw: Draw | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> ProtectedTable:
    """Protect and judge cells that are in memory, by the same code as a release.

    assumptions : what attackers know
    waivers     : that allow sensitive cells to be published which the a-priori rows of the method want published
    previous    : what readers have already; the two are judged together
    draw        : for methods that draw
    raises      : DataError
    """
    begun = perf_counter()
    refuse_no_rules(rules)
    cells = tabulated.cells
    refuse_taken_names(cells.dimensions)
    names = [dimension.name for dimension in cells.dimensions]
    pattern = method if isinstance(method, SecondarySuppression) else SecondarySuppression()
    request = ProtectionRequest.of(
        cells,
        rules,
        assumptions,
        rows=manual_rows(pattern.a_priori, names, cells.decimals),
        cost=pattern.cost,
        waive=partial(waived_cells, waivers=waivers, release_name="", today=datetime.now(UTC).date()),
    )
    if isinstance(method, SecondarySuppression):
        if draw is not None and draw.secret_costs:
            request = request.with_secret_costs(cells, draw.secret("suppression"))
        made = _suppressed(tabulated, request, method, previous, workers, progress)
    else:
        if previous is not None:
            _suppression(method, "previous pattern")
        made = _altered(tabulated, request, method, draw)
    return replace(made, seconds=perf_counter() - begun)


def _suppressed(
    tabulated: Tabulated,
    request: ProtectionRequest,
    method: SecondarySuppression,
    previous: PreviousPattern | None,
    workers: int,
    progress: Progress | None,
) -> ProtectedTable:
    cells = tabulated.cells
    kept, pair = np.zeros(len(cells), dtype=bool), None
    if previous is not None:
        edition = previous.edition(cells, request.assumptions.nonnegative)
        before, now = edition.among(cells)
        kept = np.logical_or(*carried(before, edition.published.status, now))
        pair = EditionPair.of(cells, edition)
    made = suppress_cells(cells, request, method, kept=kept, pair=pair, workers=workers, progress=progress)
    status = made.published.status
    found = audit_cells(cells, status, request, made.proofs, workers)
    findings = [judge_audit(found), *request.findings]
    if pair is not None:
        findings.append(pair.finding(status, request, workers))
    elif previous is not None:
        findings.append(_nothing_shared(previous))
    return ProtectedTable(
        tabulated, method, request, made.published, tuple(findings), audit=found, bound=made.bound, cost=made.cost,
        first=made.first, stopped=made.stopped,
    )  # fmt: skip


def _nothing_shared(previous: PreviousPattern) -> Finding:
    says = _NOTHING_SHARED(name=previous.name)
    return Finding(rule="earlier_editions", verdict=Verdict.PASS, stage="masked", **as_fields(says))


def _altered(tabulated: Tabulated, request: ProtectionRequest, method: Alteration, draw: Draw | None) -> ProtectedTable:
    def given() -> Draw:
        if draw is None:
            raise DataError(f"{method.method} draws, and was given nothing to draw from.")
        return draw

    cells = tabulated.cells
    altered = alter_cells(
        cells,
        request,
        method,
        is_count=request.assumptions.counts is not None,
        rng=lambda: given().generator(cells, method),
        records=lambda: given().keyed_records(),
    )
    statement = MethodStatement.of(altered)
    findings = (judge_statement(statement), *request.findings)
    published = PublishedCells.of_altered(cells, altered.value)
    return ProtectedTable(tabulated, method, request, published, findings, statement=statement)


def _suppression(method: Protection, what: str) -> SecondarySuppression:
    """The method, where it suppresses cells. Raises DataError for another, which takes nothing of the kind."""
    if not isinstance(method, SecondarySuppression):
        raise DataError(f"the {what} is for the method suppression; got {method.method}.")
    return method


def _seed_of(file: Path | None, method: Protection) -> int:
    if file is None:
        raise DataError(
            f"{method.method} draws; give --seed-file, which is made where it is absent, and keep it secret."
        )
    return secret_seed_of(file)


def _rows_of(path: Path) -> list[dict[str, str]]:
    rows = with_points(read_text(path), ("lower", "upper", "cost"))
    return [{str(key): text for key, text in row.items()} for row in rows.to_dict("records")]

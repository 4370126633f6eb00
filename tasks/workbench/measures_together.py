"""Several measures of the same records with one pattern of suppressed cells: turnover and employees of firms.

A pattern is safe for a measure if it is when more is suppressed. So each measure is protected in turn beside what the
others suppressed, until none suppresses more; then each is audited by its own rules, values and contributors. What is
listed is the same for all, so that none tells of another which cells are empty.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.errors import DataError
from sluice.ground.verdict import Finding
from sluice.publication.published_table import OWN_COLUMNS, in_decimals
from sluice.publication.published_table_files import csv_bytes
from sluice.tabular.audit.pattern_audit import Audit
from sluice.tabular.model.cells import Booleans, Cells, Status, Statuses
from sluice.tabular.suppression.effort import Progress
from tasks.release.tables.protection import ProtectionRequest, audit_cells
from tasks.release.tables.protection_method import SecondarySuppression
from tasks.release.tables.published_cells import PublishedCells
from tasks.release.tables.suppressed_tables import SuppressedCells, suppress_cells
from tasks.release.tables.table_findings import judge_audit
from tasks.workbench.cells_files import table_of
from tasks.workbench.protected_table import ProtectedTable
from tasks.workbench.result import figure
from tasks.workbench.standalone_table import StandaloneTable
from tasks.workbench.tabulation import Tabulated

_AUDITED_ANEW = 2000  # cells


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ProtectedMeasures(ProtectedTable):
    """Tables of several measures that share their pattern; what is not said by measure is of the first.

    by_measure : each by itself. The findings and breaches of all are judged together
    pattern    : the dimensions' codes, status and a column for each measure
    """

    by_measure: Mapping[str, ProtectedTable]

    @figure("cells", "that a rule or a person calls sensitive, by some measure")
    def sensitive(self) -> int:
        return int(np.logical_or.reduce([each.requirements.sensitive for each in self.by_measure.values()]).sum())

    @figure("cells", "suppressed because they are sensitive, by some measure")
    def primary(self) -> int:
        return int(self._in_any(Status.PRIMARY).sum())

    @figure("cells", "suppressed to protect these")
    def secondary(self) -> int:
        return int((self._in_any(Status.SECONDARY) & ~self._in_any(Status.PRIMARY)).sum())

    @figure("attacks", "that were to be tried")
    def attacks(self) -> int:
        return sum(each.attacks for each in self.by_measure.values())

    @figure("attacks", "of these decided")
    def attacks_decided(self) -> int:
        return sum(each.attacks_decided for each in self.by_measure.values())

    @figure("breaches", "attacks that succeed")
    def breaches_found(self) -> int:
        return sum(each.breaches_found for each in self.by_measure.values())

    @property
    def breaches(self) -> tuple[str, ...]:
        return tuple(f"{name}: {says}" for name, each in self.by_measure.items() for says in each.breaches)

    @property
    def pattern(self) -> pd.DataFrame:
        frames = {name: each.pattern for name, each in self.by_measure.items()}
        first = next(iter(frames.values()))
        return first.drop(columns="value").assign(**{name: frame["value"] for name, frame in frames.items()})

    def summary(self) -> dict[str, Any]:
        """What was done, for machines; totals and numbers of cells, no single cell's value."""
        return {
            "measures": {name: each.summary() for name, each in self.by_measure.items()},
            "cells": len(self.tabulated.cells),
            "primary": self.primary,
            "secondary": self.secondary,
            "verdict": self.verdict.name,
            "safe": all(each.summary()["safe"] for each in self.by_measure.values()),
            "seconds": round(self.seconds, 3),
        }

    def csv_of(self, tell_primary: bool, dimensions: Sequence[str] | None) -> bytes:
        """With a column for each measure."""
        tables = {
            name: table_of(each.tabulated.cells, each.protected, tell_primary, dimensions)
            for name, each in self.by_measure.items()
        }
        columns = dict(next(iter(tables.values())).columns)
        columns.pop("value")
        values = [[in_decimals(entry, made.decimals) for entry in made.value] for made in tables.values()]
        return csv_bytes([*columns, *tables], zip(*columns.values(), *values, strict=True))

    def _in_any(self, status: Status) -> Booleans:
        found: Booleans = np.any([each.status == status for each in self.by_measure.values()], axis=0)
        return found


def each_measure(table: StandaloneTable) -> dict[str, StandaloneTable]:
    """The tables of single measures. Raises DataError for what a pattern of several cannot have."""
    method = table.protection
    if not isinstance(method, SecondarySuppression):
        raise DataError(f"several measures share a pattern of suppressed cells; got the method {method.method}.")
    for field in ("intervals", "synthetic"):
        if getattr(method, field):
            raise DataError(f"protection.{field} is of one measure; leave it out of a pattern for several.")
    if table.form.tell_primary:
        raise DataError("form.tell_primary tells which cells of one measure are sensitive; leave it out for several.")
    if any(row.get(level) for row in method.a_priori for level in ("lower", "upper")):
        raise DataError("an a-priori file of several measures gives no levels: lower and upper are of one measure.")
    taken = {*OWN_COLUMNS, *(dimension.variable for dimension in table.dimensions)} - {"value"}
    if name := next((name for name in table.measures if name in taken), None):
        raise DataError(f"a measure must not be named '{name}': the table has a column of that name.")
    return {
        name: table.model_copy(update={"measures": (), "measure": table.measure.model_copy(update={"variable": name})})
        for name in table.measures
    }


def protect_measures(
    tables: Mapping[str, StandaloneTable],
    tabulate: Callable[[StandaloneTable], Tabulated],
    request_of: Callable[[StandaloneTable, Tabulated], ProtectionRequest],
    workers: int,
    progress: Progress | None = None,
) -> ProtectedMeasures:
    """One pattern for all, found as the module says; a cell costs its share of each measure.

    raises : DataError, also where the measures are not of the same cells
    cost   : that of the single measures, two to four times
    """
    tabulated = {name: tabulate(table) for name, table in tables.items()}
    _refuse_other_cells(tabulated)
    cells = {name: each.cells for name, each in tabulated.items()}
    requests = {name: request_of(table, tabulated[name]) for name, table in tables.items()}
    shares = [each.manual.cost / max(float(each.manual.cost.sum()), 1e-9) for each in requests.values()]
    scale = max(float(each.manual.cost.sum()) for each in requests.values())
    cost = np.sum(shares, axis=0) * max(scale, 1.0)
    requests = {name: replace(each, manual=replace(each.manual, cost=cost)) for name, each in requests.items()}
    hidden = np.logical_or.reduce([each.requirements.sensitive for each in requests.values()])
    made: dict[str, SuppressedCells] = {}
    while True:
        before = hidden
        for name, table in tables.items():
            assert isinstance(table.protection, SecondarySuppression)
            made[name] = suppress_cells(
                cells[name], requests[name], table.protection, kept=hidden, workers=workers, progress=progress
            )
            hidden = _suppressed(made[name].published.status)
            if (before & ~hidden).any():
                cell = cells[name].name(int(np.flatnonzero(before & ~hidden)[0]))
                raise DataError(f"{cell} must be published of {name} and suppressed of another measure.")
        if np.array_equal(hidden, before):
            break
    results = {name: _judged(tables[name], tabulated[name], requests[name], made[name], workers) for name in tables}
    first = next(iter(results.values()))
    findings = [
        finding.model_copy(update={"scope": name}) for name, each in results.items() for finding in each.findings
    ]
    return ProtectedMeasures(
        **{
            field: getattr(first, field)
            for field in ("tabulated", "method", "request", "protected", "audit", "suppressed")
        },
        findings=tuple(findings),
        by_measure=results,
    )


def audited(cells: Cells, request: ProtectionRequest, made: SuppressedCells, workers: int) -> Audit:
    """The audit of a pattern: in a small table all of it anew, so that it tells what the audit of its file tells; in a
    large one the search's proofs, each checked, spare time."""
    return audit_cells(
        cells, made.published.status, request, made.proofs if len(cells) > _AUDITED_ANEW else (), workers
    )


def _judged(
    table: StandaloneTable, tabulated: Tabulated, request: ProtectionRequest, made: SuppressedCells, workers: int
) -> ProtectedTable:
    found = audited(tabulated.cells, request, made, workers)
    findings: Sequence[Finding] = [judge_audit(found), *request.findings]
    return ProtectedTable(
        tabulated=tabulated,
        method=table.protection,
        request=request,
        protected=PublishedCells(made.published.status),
        findings=tuple(findings),
        audit=found,
        suppressed=replace(made, bound=None, first=None),  # of the search beside the others' cells alone
    )


def _suppressed(status: Statuses) -> Booleans:
    return np.isin(status, (Status.PRIMARY, Status.SECONDARY))


def _refuse_other_cells(tabulated: Mapping[str, Tabulated]) -> None:
    (first, given), *others = ((name, each.cells) for name, each in tabulated.items())
    for name, cells in others:
        if not _same(given, cells):
            raise DataError(
                f"'{name}' has records in other cells than '{first}', as values are missing; complete them, or protect "
                "each measure by itself."
            )


def _same(one: Cells, other: Cells) -> bool:
    return np.array_equal(one.codes, other.codes) and np.array_equal(one.published, other.published)

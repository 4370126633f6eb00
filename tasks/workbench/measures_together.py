"""Several measures of the same records with one pattern of suppressed cells, outside a release.

Each is audited by its own rules, values and contributors.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.frame_columns import with_columns
from sluice.ground.verdict import Finding, Verdict
from sluice.publication.published_table import ValueColumn
from sluice.publication.published_table_files import to_csv
from sluice.tabular.audit.pattern_audit import Audit
from sluice.tabular.model.cells import Booleans, Cells, Status
from sluice.tabular.suppression.effort import Progress
from tasks.release.tables.protection import ProtectionRequest, audit_cells
from tasks.release.tables.protection_method import SecondarySuppression
from tasks.release.tables.published_cells import PublishedCells
from tasks.release.tables.shared_pattern import (
    MeasuredCells,
    judge_parts,
    one_pattern,
    refuse_other_cells,
    suppress_together,
)
from tasks.release.tables.suppressed_tables import SuppressedCells
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
        return with_columns(first.drop(columns="value"), {name: frame["value"] for name, frame in frames.items()})

    def summary(self) -> dict[str, Any]:
        """What was done, for machines; totals and numbers of cells, no single cell's value."""
        return {
            "measures": {name: each.summary() for name, each in self.by_measure.items()},
            "cells": len(self.tabulated.cells),
            "primary": self.primary,
            "secondary": self.secondary,
            "verdict": self.verdict.name,
            "safe": self.verdict is Verdict.PASS,
            "together": [
                {"verdict": each.verdict.name, "says": each.says, "code": each.code, "data": each.data}
                for each in self.findings
                if each.rule == "measures"
            ],
            "seconds": round(self.seconds, 3),
        }

    def csv_of(self, tell_primary: bool, dimensions: Sequence[str] | None) -> bytes:
        """With a column for each measure."""
        first, *others = (
            table_of(each.tabulated.cells, each.protected, tell_primary, dimensions)
            for each in self.by_measure.values()
        )
        name, *names = self.by_measure
        values = (ValueColumn(of, made.decimals, made.value) for of, made in zip(names, others, strict=True))
        return to_csv(replace(first, column=name, others=tuple(values)))

    def _in_any(self, status: Status) -> Booleans:
        found: Booleans = np.any([each.status == status for each in self.by_measure.values()], axis=0)
        return found


def protect_measures(
    tables: Mapping[str, StandaloneTable],
    tabulate: Callable[[StandaloneTable], Tabulated],
    request_of: Callable[[StandaloneTable, Tabulated], ProtectionRequest],
    workers: int,
    progress: Progress | None = None,
) -> ProtectedMeasures:
    """One pattern for all, see `suppress_together`; DataError also where the measures are not of the same cells."""
    tabulated = {name: tabulate(table) for name, table in tables.items()}
    refuse_other_cells({name: each.cells for name, each in tabulated.items()})
    requests = {name: request_of(table, tabulated[name]) for name, table in tables.items()}
    measures = {name: MeasuredCells(each.cells, requests[name]) for name, each in tabulated.items()}
    method = next(iter(tables.values())).protection
    assert isinstance(method, SecondarySuppression)  # the specification refuses another
    made = suppress_together(measures, method, workers, progress)
    results = {name: _judged(tables[name], tabulated[name], requests[name], made[name], workers) for name in tables}
    first = next(iter(results.values()))
    findings = [
        finding.model_copy(update={"scope": name}) for name, each in results.items() for finding in each.findings
    ]
    common = one_pattern(measures, made)
    findings += judge_parts(measures, common.published.status, workers, common.proofs)
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
        suppressed=made,
    )

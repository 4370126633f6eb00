"""A protected table, outside any release: cells from records, sensitive ones suppressed, and others for their sake."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from sluice.custody.durable import replace
from sluice.errors import DataError
from sluice.publication.decimals import in_decimals
from sluice.publication.pattern_file import COLUMNS, codes_of, pattern_bytes
from sluice.tabular.audit.audit import Audit
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status, Statuses
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule
from sluice.tabular.suppression.manual_status import MANUAL, manual_rows
from tasks.release.tables.protection import Mode, ProtectionRequest, audit_cells, protect_cells
from tasks.workbench.tabular_file import refuse_unfit_csv, table_source
from tasks.workbench.tabulation import Tabulated, tabulate


@dataclass(frozen=True, eq=False)
class ProtectedTable:
    """A pattern and its audit. `output` is written only if the audit found it safe."""

    tabulated: Tabulated
    requirements: Requirements
    status: Statuses
    audit: Audit
    bound: float | None  # optimise mode: no safe pattern costs less
    cost: float
    seconds: float

    @property
    def cells(self) -> Cells:
        return self.tabulated.cells

    def summary(self) -> dict[str, Any]:
        """What was done, for machines; totals and numbers of cells, no single cell's value."""
        cells, suppressed = self.cells, self.status != Status.PUBLISHED
        total = np.abs(cells.total)
        value, of = int(total[suppressed].sum()), int(total.sum())
        summary: dict[str, Any] = {
            "cells": len(cells),
            "sensitive": {
                rule: int(found.sum())
                for rule, found in self.requirements.by_rule.items()
                if rule != MANUAL or found.any()
            },
            "primary": int((self.status == Status.PRIMARY).sum()),
            "secondary": int((self.status == Status.SECONDARY).sum()),
            "suppressed_value": in_decimals(value, cells.decimals),
            "suppressed_share": value / of if of else 0.0,
            "safe": self.audit.safe,
            "attacks": {"attempted": self.audit.attempted, "completed": self.audit.completed},
            "narrowest": [
                {**codes_of(cells.dimensions, cells.codes, cell), "width_per_width_asked": ratio}
                for cell, ratio in self.audit.narrowest
            ],
            "breaches": [breach.says for breach in self.audit.breaches],
            "records_left_out": self.tabulated.left_out,
            "records_added_up": self.tabulated.added_up,
            "seconds": round(self.seconds, 3),
        }
        if self.bound is not None:
            summary |= {"cost": self.cost, "proven_bound": self.bound}
        return summary


def protect_table(
    source: Path,
    dimensions: Sequence[Dimension],
    measure: Measure,
    rules: Sequence[SensitivityRule],
    output: Path,
    *,
    tables: Sequence[Sequence[str]] | None = None,
    cost: str = "value",
    a_priori: Path | None = None,
    mode: Mode = "fast",
    coalition: int = 1,
    tell_primary: bool = False,
    workers: int = 1,
) -> ProtectedTable:
    """Make, protect and audit the table of a CSV or Parquet file, and write it as CSV if it is safe.

    tell_primary : two words for suppressed cells: primary and secondary
    raises       : DataError, DocumentError; then nothing is written. Nor is it when the audit finds the pattern unsafe
    """
    begun = perf_counter()
    refuse_unfit_csv(output, [source, a_priori])
    tabulated = tabulate(source, dimensions, measure, rules, tables, coalition)
    rows = _rows_of(a_priori) if a_priori else []
    assumptions = Assumptions(nonnegative=measure.negative == "refuse", coalition=coalition, counts=measure.counts)
    made = protect_tabulated(tabulated, rules, assumptions, rows, cost, mode, workers)
    if made.audit.safe:
        replace(output, pattern_bytes(made.cells, made.status, tell_primary), 0o644)
    return dataclasses.replace(made, seconds=perf_counter() - begun)


def protect_tabulated(
    tabulated: Tabulated,
    rules: Sequence[SensitivityRule],
    assumptions: Assumptions = Assumptions(),  # noqa: B008
    a_priori: Sequence[Mapping[str, str]] = (),
    cost: str = "value",
    mode: Mode = "fast",
    workers: int = 1,
) -> ProtectedTable:
    """Protect and audit cells that are in memory.

    assumptions : what attackers know
    a_priori    : what people ask of single cells, as `manual_rows` reads it
    raises      : DataError
    """
    begun = perf_counter()
    if not rules:
        raise DataError("no rule says which cells are sensitive; give at least one, such as p_percent=10.")
    taken = sorted({dimension.name for dimension in tabulated.cells.dimensions} & set(COLUMNS))
    if taken:
        raise DataError(f"a dimension must not be named {taken[0]}: the pattern has a column of that name.")
    cells = tabulated.cells
    rows = manual_rows(a_priori, [d.name for d in cells.dimensions], cells.decimals) if a_priori else []
    request = ProtectionRequest.of(cells, rules, assumptions, rows=rows, cost=cost)
    made = protect_cells(cells, request, mode, workers=workers)
    found = audit_cells(cells, made.status, request, made.certificates, workers)
    spent = float(request.manual.cost[made.status != Status.PUBLISHED].sum())
    return ProtectedTable(
        tabulated, request.requirements, made.status, found, made.bound, spent, perf_counter() - begun
    )


def _rows_of(path: Path) -> list[dict[str, str]]:
    table = table_source(path)
    return [
        {str(key): text for key, text in row.items()}
        for batch in table.batches(table.column_names())
        for row in batch.to_dict("records")
    ]

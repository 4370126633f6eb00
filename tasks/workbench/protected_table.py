"""A protected table, outside any release: cells from records, sensitive ones suppressed, and others for their sake."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np
import pandas as pd

from sluice.custody.durable import refuse_to_overwrite, replace
from sluice.errors import DataError
from sluice.publication.pattern_file import codes_shown, in_decimals, pattern_bytes
from sluice.tabular.audit.audit import Audit, audit
from sluice.tabular.model.aggregation import LARGEST_KEPT
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status, Statuses, refuse_hidden_ties
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.records import records_of
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule, requirements_of
from sluice.tabular.suppression.costs import costs
from sluice.tabular.suppression.manual_status import MANUAL, apply_manual, manual_rows
from tasks.workbench.tabular_file import table_source

Mode = Literal["fast", "optimise"]


@dataclass(frozen=True, eq=False)
class Tabulated:
    """The cells of a file of records, and how many records were left out or added up on the way."""

    cells: Cells
    left_out: int
    added_up: int


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
        told: dict[str, Any] = {
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
                {**codes_shown(cells.dimensions, cells.codes, cell), "width_per_width_asked": ratio}
                for cell, ratio in self.audit.narrowest
            ],
            "breaches": [breach.says for breach in self.audit.breaches],
            "records_left_out": self.tabulated.left_out,
            "records_added_up": self.tabulated.added_up,
            "seconds": round(self.seconds, 3),
        }
        if self.bound is not None:
            told |= {"cost": self.cost, "proven_bound": self.bound}
        return told


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
    workers: int = 1,
) -> ProtectedTable:
    """Make, protect and audit the table of a CSV or Parquet file, and write it as CSV if it is safe.

    raises : DataError, DocumentError; then nothing is written. Nor is it when the audit finds the pattern unsafe
    """
    begun = perf_counter()
    if not rules:
        raise DataError("no rule says which cells are sensitive; give at least one, such as p_percent=10.")
    _refuse_unfit(output, [source, a_priori])
    assumptions = Assumptions(nonnegative=measure.negative == "refuse", coalition=coalition)
    tabulated = tabulate(source, dimensions, measure, rules, tables, coalition)
    cells = tabulated.cells
    requirements = requirements_of(rules, cells.contributions, assumptions.nonnegative)
    rows = manual_rows(_rows_of(a_priori), [d.name for d in dimensions], cells.decimals) if a_priori else []
    asked = apply_manual(cells, requirements, rows, costs(cells, cost), nonnegative=assumptions.nonnegative)
    if mode == "optimise":
        from sluice.tabular.suppression.optimal_suppression import optimise as protect
    else:
        from sluice.tabular.suppression.suppression import suppress as protect
    made = protect(
        cells,
        asked.requirements,
        rules,
        assumptions,
        cost=asked.cost,
        forbidden=asked.forbidden,
        preferred=asked.preferred,
        workers=workers,
    )
    found = audit(cells, made.status, asked.requirements, rules, assumptions, made.certificates, workers)
    if found.safe:
        replace(output, pattern_bytes(cells, made.status), 0o644)
    suppressed = made.status != Status.PUBLISHED
    spent = float(asked.cost[suppressed].sum())
    return ProtectedTable(tabulated, asked.requirements, made.status, found, made.bound, spent, perf_counter() - begun)


def tabulate(
    source: Path,
    dimensions: Sequence[Dimension],
    measure: Measure,
    rules: Sequence[SensitivityRule],
    tables: Sequence[Sequence[str]] | None = None,
    coalition: int = 1,
) -> Tabulated:
    """The cells of a file of records: CSV in memory, Parquet by DuckDB, whatever its size. Raises DataError."""
    refuse_hidden_ties(dimensions, tables)
    kept = max(LARGEST_KEPT, coalition, *(rule.largest_needed for rule in rules))
    table = table_source(source)
    try:
        if source.suffix == ".parquet":
            from sluice.sources.table_cells import aggregate_file

            with tempfile.TemporaryDirectory() as folder:
                made = aggregate_file(
                    source, dimensions, measure, tables=tables, kept=kept, scratch=Path(folder) / "spilled"
                )
            return Tabulated(made.cells, made.left_out, made.added_up)
        columns = list(dict.fromkeys([*(d.name for d in dimensions), *measure.columns]))
        records = records_of(pd.concat(table.batches(columns), ignore_index=True), dimensions, measure)
        return Tabulated(records.cells(dimensions, kept, tables), records.left_out, records.added_up)
    except DataError as error:
        told = str(error)
        raise DataError(told if told.startswith(str(source)) else f"{source}: {told}") from None


def _rows_of(path: Path) -> list[dict[str, str]]:
    table = table_source(path)
    return [dict(row) for batch in table.batches(table.column_names()) for row in batch.to_dict("records")]


def _refuse_unfit(output: Path, inputs: Sequence[Path | None]) -> None:
    if output.suffix != ".csv":
        raise DataError(f"--output {output}: must end in .csv")
    if output.is_dir():
        raise DataError(f"--output {output}: is a folder")
    if not output.resolve().parent.is_dir():
        raise DataError(f"--output {output}: there is no folder {output.parent}")
    refuse_to_overwrite(output, inputs)

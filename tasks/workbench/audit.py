"""The audit of anybody's suppression pattern, outside any release: of what is published alone, or with the records."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from sluice.errors import DataError
from sluice.publication.decimals import in_decimals
from sluice.publication.pattern_file import Pattern, codes_of, read_pattern
from sluice.tabular.audit.audit import audit
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Floats, Status, equations_of, keys_of, refuse_hidden_ties
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.feasibility_interval import TotalsDoNotAddError, feasibility_intervals
from sluice.tabular.model.measure import Measure
from sluice.tabular.rules.sensitivity import SensitivityRule, requirements_of
from tasks.workbench.tabular_file import table_source
from tasks.workbench.tabulation import tabulate

_EXACTLY = 0.5  # units; an interval narrower than this holds one whole number
_FEW = 10


@dataclass(frozen=True, eq=False)
class AuditedTable:
    """What was found.

    safe     : with the records, that every attack was tried and failed; without, that nothing was found
    complete : every attack, or interval, was decided
    breaches : what somebody can learn who must not, in words, without values
    figures  : the rest, for machines
    """

    safe: bool
    complete: bool
    breaches: tuple[str, ...]
    figures: dict[str, Any] = field(default_factory=dict)

    def summary(self) -> dict[str, Any]:
        return {"safe": self.safe, "complete": self.complete, "breaches": list(self.breaches), **self.figures}


def audit_published(
    source: Path,
    dimensions: Sequence[Dimension],
    *,
    tables: Sequence[Sequence[str]] | None = None,
    within: float | None = None,
    nonnegative: bool = True,
    workers: int = 1,
) -> AuditedTable:
    """The pattern in a CSV or Parquet file, audited by `audit_pattern`. Errors name the file."""
    try:
        pattern = read_pattern(_text(source, dimensions), dimensions)
        return audit_pattern(pattern, tables=tables, within=within, nonnegative=nonnegative, workers=workers)
    except DataError as error:
        raise _of_file(source, error) from None


def audit_pattern(
    pattern: Pattern,
    *,
    tables: Sequence[Sequence[str]] | None = None,
    within: float | None = None,
    nonnegative: bool = True,
    workers: int = 1,
) -> AuditedTable:
    """What anybody can compute of the suppressed cells from the published table and the hierarchies alone.

    Cells that are not in the table are taken as empty. Whether the intervals are wide enough only the rules and the
    records can tell; without them a breach is a cell called primary that is exactly known, or known to within `within`
    percent (any suppressed cell, where one word stands for all), or a suppressed cell whose value stands in the file.

    raises : DataError, for published totals that do not add up, too
    """
    begun = perf_counter()
    dimensions = pattern.dimensions
    refuse_hidden_ties(dimensions, tables)
    equations = equations_of(dimensions, pattern.codes, tables)
    equations = equations[np.flatnonzero(np.diff(equations.indptr) > 1)]  # a sum of no cell tells nothing
    value = np.where(pattern.has, pattern.value, np.nan).astype(np.float64)
    if nonnegative and (value[pattern.has] < 0).any():
        at = int(np.flatnonzero(pattern.has & (pattern.value < 0))[0])
        raise DataError(f"the value of {pattern.name(at)} is negative. If that is right, say --negative absolute.")
    _refuse_other_sums(pattern, equations)
    hidden = np.flatnonzero(~pattern.has)
    count = len(pattern)
    least = np.zeros(count) if nonnegative else np.full(count, -np.inf)
    try:
        low, high = feasibility_intervals(equations, value, hidden, least, np.full(count, np.inf), workers)
    except TotalsDoNotAddError as error:
        row = equations[[error.equation], :]
        total = pattern.name(int(row.indices[np.argmax(row.data)]))
        raise DataError(f"totals that do not add: {total} cannot be the sum of its parts.") from None
    precision = _precision(low, high)
    primary = pattern.status[hidden] == Status.PRIMARY
    exact = high - low < _EXACTLY
    breaches = [
        f"{pattern.name(int(cell))} is {pattern.word(int(cell))} and has a value"
        for cell in np.flatnonzero(pattern.has & (pattern.status != Status.PUBLISHED))
    ]
    breaches += [f"anybody can compute {pattern.name(int(cell))} exactly" for cell in hidden[primary & exact]]
    if within is not None:
        near = primary & ~exact & (precision <= within)
        breaches += [f"anybody can compute {pattern.name(int(cell))} to within {within:g} %" for cell in hidden[near]]
    complete = not np.isnan(low).any() and not np.isnan(high).any()
    order = np.argsort(np.where(primary, precision, precision + 200), kind="stable")[:_FEW]  # primary cells first

    def interval(at: int) -> dict[str, Any]:
        cell = int(hidden[at])
        ends = [in_decimals(round(end), pattern.decimals) if np.isfinite(end) else None for end in (low[at], high[at])]
        status = pattern.word(cell)
        named = codes_of(dimensions, pattern.codes, cell)
        known = None if np.isnan(precision[at]) else round(float(precision[at]), 3)
        return {**named, "status": status, "low": ends[0], "high": ends[1], "within_percent": known}

    figures = {
        "cells": count,
        "suppressed": len(hidden),
        "primary": int((pattern.status == Status.PRIMARY).sum()) if pattern.tells_primary else None,
        "secondary": int((pattern.status == Status.SECONDARY).sum()) if pattern.tells_primary else None,
        "with_records": False,
        "exactly_known": [pattern.name(int(cell)) for cell in hidden[exact]],
        "narrowest": [interval(int(at)) for at in order],
        "intervals": [interval(at) for at in range(len(hidden))],
        "seconds": round(perf_counter() - begun, 3),
    }
    return AuditedTable(not breaches and complete, complete, tuple(breaches), figures)


def audit_with_records(
    source: Path,
    dimensions: Sequence[Dimension],
    records: Path,
    measure: Measure,
    rules: Sequence[SensitivityRule],
    *,
    tables: Sequence[Sequence[str]] | None = None,
    coalition: int = 1,
    workers: int = 1,
) -> AuditedTable:
    """The pattern in a CSV or Parquet file, audited by `audit_pattern_with_records`. Errors name the file."""
    cells = tabulate(records, dimensions, measure, rules, tables, coalition).cells
    try:
        pattern = read_pattern(_text(source, dimensions), dimensions)
        assumptions = Assumptions(nonnegative=measure.negative == "refuse", coalition=coalition, counts=measure.counts)
        return audit_pattern_with_records(pattern, cells, rules, assumptions, workers=workers)
    except DataError as error:
        raise _of_file(source, error) from None


def audit_pattern_with_records(
    pattern: Pattern,
    cells: Cells,
    rules: Sequence[SensitivityRule],
    assumptions: Assumptions = Assumptions(),  # noqa: B008
    *,
    workers: int = 1,
) -> AuditedTable:
    """Every attack that the rules speak of: by outsiders, contributors and coalitions, on cells and on unions of cells.

    cells       : of the records behind the pattern
    assumptions : what attackers know
    raises      : DataError, also where the pattern's cells or published values are not those of the records
    """
    begun = perf_counter()
    if not rules:
        raise DataError("no rule says which cells are sensitive; give at least one, such as p_percent=10.")
    dimensions = cells.dimensions
    order = _order(pattern, cells)
    _refuse_other_values(pattern, cells, order)
    requirements = requirements_of(rules, cells.contributions, assumptions.nonnegative)
    status = pattern.status[order]
    if not pattern.tells_primary:
        suppressed = np.where(requirements.sensitive, Status.PRIMARY, Status.SECONDARY)
        status = np.where(status == Status.PUBLISHED, Status.PUBLISHED, suppressed).astype(np.uint8)
    published = np.where(pattern.has[order], np.uint8(Status.PUBLISHED), status)  # whatever it is called
    found = audit(cells, published, requirements, rules, replace(assumptions, counts=None), (), workers)
    blank = [
        f"{cells.name(int(cell))} is {pattern.word(int(order[cell]))} and has a value"
        for cell in np.flatnonzero((status != Status.PUBLISHED) & pattern.has[order])
    ]
    breaches = (*blank, *(breach.says for breach in found.breaches))
    figures = {
        "cells": len(cells),
        "suppressed": int((status != Status.PUBLISHED).sum()),
        "primary": int((status == Status.PRIMARY).sum()),
        "secondary": int((status == Status.SECONDARY).sum()),
        "with_records": True,
        "sensitive": {rule: int(which.sum()) for rule, which in requirements.by_rule.items()},
        "attackers": {
            attacker: sum(breach.attacker == attacker for breach in found.breaches)
            for attacker in ("outsider", "contributor", "coalition", "union")
        },
        "attacks": {"attempted": found.attempted, "completed": found.completed},
        "narrowest": [
            {**codes_of(dimensions, cells.codes, cell), "width_per_width_asked": ratio}
            for cell, ratio in found.narrowest
        ],
        "seconds": round(perf_counter() - begun, 3),
    }
    return AuditedTable(found.safe and not blank, found.attempted == found.completed, breaches, figures)


def _text(source: Path, dimensions: Sequence[Dimension]) -> pd.DataFrame:
    """The columns of a pattern as text, missing values as empty ones."""
    table = table_source(source)
    columns = [*(dimension.name for dimension in dimensions), "status", "value"]
    frame = pd.concat(table.batches(columns), ignore_index=True)
    return frame.astype("object").where(frame.notna(), "").astype(str) if source.suffix == ".parquet" else frame


def _of_file(source: Path, error: DataError) -> DataError:
    """The error, naming the file once."""
    said = str(error)
    return DataError(said if said.startswith(str(source)) else f"{source}: {said}")


def _refuse_other_sums(pattern: Pattern, equations: csr_array) -> None:
    """Exactly: whole numbers, in sums all of whose cells have a value."""
    whole = equations.astype(np.int64)
    known = (abs(whole) @ (~pattern.has).astype(np.int64)) == 0
    wrong = known & (whole @ pattern.value != 0)
    if wrong.any():
        often = abs(whole[np.flatnonzero(wrong)]).sum(axis=0)  # a wrong value stands in most of the wrong sums
        most = pattern.name(int(np.argmax(often)))
        raise DataError(f"totals that do not add: {int(wrong.sum())} of the sums do not hold, most of them of {most}.")


def _precision(low: Floats, high: Floats) -> Floats:
    """To within what percent of its value a cell is known; NaN where an interval is not, 100 for no knowledge at all.

    Some estimate e is within p percent of every value of the interval as soon as high (1 - p) <= e <= low (1 + p).
    """
    wide = ~np.isfinite(high) & ~np.isnan(high) | (low <= 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.where(high - low < _EXACTLY, 0.0, 100 * (high - low) / (high + low))
    return np.where(wide & (high - low >= _EXACTLY), 100.0, precision)


def _order(pattern: Pattern, cells: Cells) -> Any:
    """The row of the file of each cell of the records."""
    given, wanted = keys_of(cells.dimensions, pattern.codes), keys_of(cells.dimensions, cells.codes)
    strange = np.flatnonzero(~np.isin(given, wanted))
    if len(strange):
        raise DataError(f"{pattern.name(int(strange[0]))} is in the file and no record is in it.")
    absent = np.flatnonzero(~np.isin(wanted, given))
    if len(absent):
        raise DataError(f"{cells.name(int(absent[0]))} has records and is not in the file.")
    order = np.argsort(given)
    return order[np.searchsorted(given[order], wanted)]


def _refuse_other_values(pattern: Pattern, cells: Cells, order: Any) -> None:
    decimals = max(pattern.decimals, cells.decimals)
    value = pattern.value[order] * 10 ** (decimals - pattern.decimals)
    total = cells.total * 10 ** (decimals - cells.decimals)
    wrong = np.flatnonzero(pattern.has[order] & (value != total))
    if len(wrong):
        raise DataError(
            f"the value of {cells.name(int(wrong[0]))} is not the total of its records"
            f"{f'; nor are {len(wrong) - 1} others' if len(wrong) > 1 else ''}."
        )

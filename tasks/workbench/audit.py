"""The audit of anybody's suppression pattern with the records behind it, outside any release, and its repair.

A pattern that is not safe is made so by suppressing further cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from sluice.ground.errors import DataError
from sluice.publication.pattern_file import Pattern, codes_of
from sluice.tabular.audit.pattern_audit import Audit, audit
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status, Statuses, keys_of
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule, requirements_of
from tasks.release.tables.published_cells import PublishedCells
from tasks.workbench.cells_files import PLAIN, CellColumns, read_cells, refuse_unfit_output, write_cells
from tasks.workbench.known_bounds import known_bounds_in
from tasks.workbench.tabular_file import errors_of
from tasks.workbench.tabulation import attackers, refuse_no_rules, tabulate


@dataclass(frozen=True, eq=False)
class RepairedPattern:
    """What was suppressed stays so; `added` cells are suppressed besides.

    status : shape (c,), of the cells of the records
    audit  : of the repaired pattern, which is not taken on trust
    files  : that were written
    """

    status: Statuses
    added: int
    audit: Audit
    files: tuple[Path, ...] = ()

    @property
    def safe(self) -> bool:
        return self.audit.safe

    def summary(self) -> dict[str, Any]:
        """For machines."""
        return {
            "safe": self.safe,
            "added": self.added,
            "suppressed": int((self.status != Status.PUBLISHED).sum()),
            "attacks": {"attempted": self.audit.attempted, "completed": self.audit.completed},
            "breaches": [breach.says for breach in self.audit.breaches],
            "files": [str(file) for file in self.files],
        }


def repaired(
    cells: Cells,
    status: Statuses,
    requirements: Requirements,
    rules: Sequence[SensitivityRule],
    assumptions: Assumptions,
    workers: int,
) -> RepairedPattern:
    """The pattern with as few further cells suppressed, by their value, as make it safe. Raises DataError."""
    from sluice.tabular.suppression.suppression import repair  # takes time to load

    found = repair(cells, status, requirements, rules, assumptions, workers=workers)
    result = audit(cells, found.status, requirements, rules, assumptions, found.certificates, workers)
    added = (found.status != Status.PUBLISHED) & (status == Status.PUBLISHED)
    return RepairedPattern(found.status, int(np.count_nonzero(added)), result)


@dataclass(frozen=True, eq=False)
class AuditedTable:
    """What was found.

    safe     : with the records, that every attack was tried and failed; without, that nothing was found
    complete : every attack, or interval, was decided
    breaches : what somebody can learn who must not, in words, without values
    figures  : the rest, for machines
    repaired : the pattern with further cells suppressed, where that was asked for and needed
    """

    safe: bool
    complete: bool
    breaches: tuple[str, ...]
    figures: dict[str, Any] = field(default_factory=dict)
    repaired: RepairedPattern | None = None

    def summary(self) -> dict[str, Any]:
        summary = {"safe": self.safe, "complete": self.complete, "breaches": list(self.breaches), **self.figures}
        return summary if self.repaired is None else summary | {"repaired": self.repaired.summary()}


def audit_with_records(
    source: Path,
    dimensions: Sequence[Dimension],
    records: Path,
    measure: Measure,
    rules: Sequence[SensitivityRule],
    *,
    tables: Sequence[Sequence[str]] | None = None,
    columns: CellColumns = PLAIN,
    known: Path | None = None,
    coalition: int = 1,
    repair: Path | None = None,
    workers: int = 1,
) -> AuditedTable:
    """The pattern in a file (or folder) of cells, audited by `audit_pattern_with_records`. Errors name the file.

    columns: as another program writes them
    known  : a file of bounds that attackers know beforehand
    repair : where the pattern is written with further cells suppressed, if it is not safe and that makes it so
    """
    refuse_no_rules(rules)
    pattern, tables = read_cells(source, dimensions, tables, columns)
    if repair is not None:
        refuse_unfit_output(repair, [records, known, source], dimensions, tables, "--repair")
    cells = tabulate(records, dimensions, measure, rules, tables, coalition).cells
    tell_primary = pattern.tells_primary and measure.counts is None  # of counts it tells how small they are
    assumptions = replace(attackers(measure, coalition), statuses=tell_primary)
    if known is not None:
        assumptions = replace(assumptions, beforehand=known_bounds_in(known, cells))
    with errors_of(source):
        found = audit_pattern_with_records(
            pattern, cells, rules, assumptions, repair=repair is not None, workers=workers
        )
    if repair is None or found.repaired is None or not found.repaired.safe:
        return found
    files = write_cells(repair, cells, PublishedCells(found.repaired.status), tables, tell_primary)
    return replace(found, repaired=replace(found.repaired, files=tuple(files)))


def audit_pattern_with_records(
    pattern: Pattern,
    cells: Cells,
    rules: Sequence[SensitivityRule],
    assumptions: Assumptions = Assumptions(),  # noqa: B008
    *,
    repair: bool = False,
    workers: int = 1,
) -> AuditedTable:
    """Every attack that the rules speak of: by outsiders, contributors and coalitions, on cells and on unions of cells.

    cells       : of the records behind the pattern
    assumptions : what attackers know
    repair      : of a pattern that is not safe, which further cells must be suppressed
    raises      : DataError, also where the pattern's cells or published values are not those of the records, or no
                  further suppression makes it safe
    """
    begun = perf_counter()
    refuse_no_rules(rules)
    dimensions = cells.dimensions
    order = _order(pattern, cells)
    _refuse_other_values(pattern, cells, order)
    requirements = requirements_of(rules, cells.contributions, assumptions.nonnegative)
    status = pattern.status[order]
    if not pattern.tells_primary:
        suppressed = np.where(requirements.sensitive, Status.PRIMARY, Status.SECONDARY)
        status = np.where(status == Status.PUBLISHED, status, suppressed).astype(np.uint8)
    published = np.where(pattern.has[order], np.uint8(Status.PUBLISHED), status)  # whatever it is called
    found = audit(cells, published, requirements, rules, assumptions, (), workers)
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
    safe = found.safe and not blank
    mended = None
    if repair and not safe:
        mended = repaired(cells, status, requirements, rules, assumptions, workers)
    return AuditedTable(safe, found.attempted == found.completed, breaches, figures, mended)


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

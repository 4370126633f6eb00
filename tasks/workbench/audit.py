"""Audits of anybody's tables with suppressed cells, outside any release, and the repair of those that are unsafe.

`sluice.audit` is on DataFrames, `sluice table audit` on files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.errors import DataError
from sluice.publication.pattern_file import Pattern, codes_of
from sluice.tabular.audit.pattern_audit import audit as attack
from sluice.tabular.editions.figures_beside import Figures, Told
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Floats, Status, Statuses, equations_of, keys_of
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule, requirements_of
from tasks.release.tables.specification import WantedTable
from tasks.workbench.arguments import data_frame, number, whole_number
from tasks.workbench.audit_published import audit_published, figures_told
from tasks.workbench.audited_table import AuditedTable, RepairedPattern
from tasks.workbench.cells_files import (
    PLAIN,
    CellColumns,
    pattern_of,
    read_cells,
    read_sum_of_parts,
    refuse_unfit_output,
    write_cells,
)
from tasks.workbench.figures_read import read_figures
from tasks.workbench.known_bounds import known_bounds_of
from tasks.workbench.standalone_table import StandaloneTable
from tasks.workbench.table_arguments import Dimensions, Rule, Total, table_of_cells, table_of_records
from tasks.workbench.tabular_file import errors_of, read_text
from tasks.workbench.tabulation import Records, dimensions_of, tabulate


def audit(
    table: pd.DataFrame,
    dimensions: Dimensions,
    *,
    total: Total = None,
    records: pd.DataFrame | None = None,
    value: str | None = None,
    rules: Sequence[Rule] | Rule | None = None,
    contributor: str | None = None,
    measure: Mapping[str, Any] | None = None,
    cells: Mapping[str, Any] | None = None,
    tables: Sequence[Sequence[str]] | None = None,
    known: pd.DataFrame | None = None,
    beside: Sequence[pd.DataFrame] = (),
    within: float | None = None,
    nonnegative: bool = True,
    decimals: int | None = None,
    rounded_to: float | None = None,
    coalition: int = 1,
    repair: bool = False,
    workers: int = 1,
) -> AuditedTable:
    """Audit a table with suppressed cells: as any reader could, or with the records as every attacker could.

    table       : a row for each cell, its total and marginals too: the dimensions' codes; status: published or
                  suppressed (or primary or secondary); value: missing where suppressed. As `sluice.protect` gives it
    dimensions  : as for `sluice.protect`; where a column has no hierarchy, its total is called 'Total'
    total       : or as this says, as for `sluice.protect`
    records     : behind the table, added up as for `sluice.protect` by value, contributor and measure
    rules       : with records, which cells are sensitive; without, of a table of counts, what readers of the rules know
    cells       : where `records` has a row for each cell, added up already: as for `sluice.protect`
    tables      : the dimensions of each of several linked tables; one table of all when not given
    known       : what an attacker knows of single cells beforehand: their codes, lower and upper, missing for no end
    beside      : further published tables of the same cells, such as of rates and of what they are rates of: codes and
                  columns of numbers. A product of them that is the value in published cells is it in suppressed ones
    within      : without records: percent; a primary cell that is known as closely as that is a breach, too
    nonnegative : without records: no value can be negative, which everybody knows
    decimals    : of the values, which are rounded to them; as many as they have when not given
    rounded_to  : without records: each value was rounded to a multiple of this, so that sums hold but for that
    coalition   : with records: contributors who pool what they know, 0 to 3
    repair      : with records: of a pattern that is not safe, find which further cells must be suppressed
    raises      : TypeError, DataError (also for totals that do not add up), DocumentError
    """
    table = data_frame(table, "table")
    workers = whole_number(workers, "workers", 1)
    within = None if within is None else number(within, "within")
    known = None if known is None else data_frame(known, "known")
    if records is None:
        for name, given in (("value", value), ("contributor", contributor), ("measure", measure), ("cells", cells),
                            ("repair", repair)):  # fmt: skip
            if given:
                raise DataError(f"{name} is for an audit with records; give records, too, or leave {name} out.")
        specified = table_of_cells(table, dimensions, rules, tables, total)
    else:
        specified = table_of_records(
            records,
            dimensions,
            () if rules is None else rules,
            value,
            contributor,
            measure,
            tables,
            coalition,
            total=total,
            cells=cells,
        )
        if rounded_to is not None:
            raise DataError("rounded_to is for an audit without records, which tell the values; leave it out.")
    read = CellColumns(
        decimals=specified.measure.measure.decimals if decimals is None else whole_number(decimals, "decimals", 0),
        rounded_to=None if rounded_to is None else number(rounded_to, "rounded_to"),
    )
    behind = None if specified.cells is None else records
    pattern = pattern_of(table, dimensions_of(specified, table, totals=True, behind=behind), "table", read)
    figures = read_figures([data_frame(each, "beside") for each in beside], pattern)
    if records is None:
        return audit_published(
            pattern,
            specified,
            known=known,
            beside=figures,
            within=within,
            nonnegative=nonnegative,
            workers=workers,
        )
    return audit_with_records(pattern, specified, records, known=known, beside=figures, repair=repair, workers=workers)


def audit_file(
    source: Path,
    table: StandaloneTable,
    *,
    records: Path | None = None,
    columns: CellColumns = PLAIN,
    parts: Sequence[Path] = (),
    beside: Sequence[Path] = (),
    known: Path | None = None,
    within: float | None = None,
    repair: Path | None = None,
    inputs: Sequence[Path] = (),
    workers: int = 1,
) -> AuditedTable:
    """The pattern in a file (or folder) of cells. Errors name the file.

    records : behind the cells; without them only what anybody can tell is looked at, and the rules are those of a table
              of counts
    columns : as another program writes them
    parts   : files of cells of which this one is the sum, such as quarters of a year: audited together
    beside  : published files of further figures of the same cells, such as rates and what they are rates of
    known   : a file of bounds that attackers know beforehand
    repair  : where the pattern is written with further cells suppressed, if it is not safe and that makes it so
    inputs  : further files that were read, and are not to be written over
    """
    given: Records = source
    if columns.header_row is not None:
        if source.is_dir():
            raise DataError(f"{source}: a line that names the columns (--header-row) fits one file; this is a folder.")
        with errors_of(source):
            names = [each.variable for each in table.dimensions]
            given = read_text(source, [*names, *columns.only], columns.header_row)
    dimensions = dimensions_of(table, given, totals=True, behind=None if table.cells is None else records)
    if records is not None:
        _ = table.sensitivity  # there must be rules
    if columns.decimals is None:
        columns = replace(columns, decimals=table.measure.measure.decimals)
    if parts:
        if records is not None or (table.linked is not None and len(table.linked) > 1):
            raise DataError(
                "a sum of publications is audited as anybody could, one table each; to protect or audit all of it by "
                "the records, make the period one of their dimensions."
            )
        if beside:
            raise DataError("figures beside a sum of publications (--beside) are not looked at; audit each by itself.")
        pattern = read_sum_of_parts(source, parts, dimensions, columns)
        with errors_of(source):
            return audit_published(
                pattern,
                table.model_copy(update={"tables": ()}),
                known=known,
                within=within,
                nonnegative=table.measure.negative == "refuse",
                workers=workers,
            )
    pattern, linked = read_cells(source, dimensions, table.linked, columns)
    table = table.model_copy(
        update={
            "tables": tuple(WantedTable(name=f"table-{at}", dimensions=each) for at, each in enumerate(linked or ()))
        }
    )
    if repair is not None:
        refuse_unfit_output(repair, [*inputs, records, known, source, *beside], table.all_tables, "--repair")
    figures = read_figures(beside, pattern)
    with errors_of(source):
        if records is None:
            return audit_published(
                pattern,
                table,
                known=known,
                beside=figures,
                within=within,
                nonnegative=table.measure.negative == "refuse",
                workers=workers,
            )
        found = audit_with_records(
            pattern, table, records, known=known, beside=figures, repair=repair is not None, workers=workers
        )
    made = found.repair
    if repair is None or made is None or not found.mended:
        return found
    files = write_cells(repair, made.csv_of, table.all_tables)
    return replace(found, repair=replace(made, files=tuple(files)))


def audit_with_records(
    pattern: Pattern,
    table: StandaloneTable,
    records: Records,
    *,
    known: Records | None = None,
    beside: Sequence[Figures] = (),
    repair: bool = False,
    workers: int = 1,
) -> AuditedTable:
    """Every attack that the rules speak of: by outsiders, contributors and coalitions, on cells and on unions of cells.

    records : behind the pattern
    known   : bounds that attackers know beforehand; see `known_bounds`
    beside  : further published figures of the cells, which every attacker knows
    repair  : of a pattern that is not safe, which further cells must be suppressed
    raises  : DataError, also where the pattern's cells or published values are not those of the records, or no further
              suppression makes it safe
    """
    begun = perf_counter()
    rules, dimensions = table.sensitivity, pattern.dimensions
    tabulated = tabulate(records, dimensions, table)
    cells = tabulated.cells
    tell_primary = pattern.tells_primary and table.summed.counts is None  # of counts it tells how small they are
    assumptions = replace(table.assumptions, statuses=tell_primary)
    if known is not None:
        assumptions = replace(assumptions, beforehand=known_bounds_of(known, cells))
    order = _order(pattern, cells)
    _refuse_other_values(pattern, cells, order)
    told = figures_told(pattern, equations_of(dimensions, pattern.codes, table.linked), beside, assumptions.nonnegative)
    if told.relations:
        assumptions = replace(assumptions, beforehand=_with_told(told, pattern, cells, order, assumptions.beforehand))
    requirements = requirements_of(rules, cells.contributions, assumptions.nonnegative)
    status = pattern.status[order]
    if not pattern.tells_primary:
        suppressed = np.where(requirements.sensitive, Status.PRIMARY, Status.SECONDARY)
        status = np.where(status == Status.PUBLISHED, status, suppressed).astype(np.uint8)
    published = np.where(pattern.has[order], np.uint8(Status.PUBLISHED), status)  # whatever it is called
    found = attack(cells, published, requirements, rules, assumptions, (), workers)
    blank = [
        f"{cells.name(int(cell))} is {pattern.word(int(order[cell]))} and has a value"
        for cell in np.flatnonzero((status != Status.PUBLISHED) & pattern.has[order])
    ]
    safe = found.safe and not blank and not told.undecided
    seconds = perf_counter() - begun
    mended = None
    if repair and not safe:
        mended = _repaired(cells, status, requirements, rules, assumptions, tell_primary, workers)
    return AuditedTable(
        with_records=True,
        cells=len(cells),
        suppressed=int((status != Status.PUBLISHED).sum()),
        primary=int((status == Status.PRIMARY).sum()),
        secondary=int((status == Status.SECONDARY).sum()),
        safe=safe,
        complete=found.attempted == found.completed and not told.undecided,
        breaches=(*blank, *(breach.says for breach in found.breaches)),
        of_narrowest=tuple(
            {**codes_of(dimensions, cells.codes, cell), "width_per_width_asked": ratio}
            for cell, ratio in found.narrowest
        ),
        details={
            "sensitive": {rule: int(which.sum()) for rule, which in requirements.by_rule.items()},
            "attackers": {
                attacker: sum(breach.attacker == attacker for breach in found.breaches)
                for attacker in ("outsider", "contributor", "coalition", "union")
            },
            "attacks": {"attempted": found.attempted, "completed": found.completed},
            "reading": [remark.model_dump() for remark in tabulated.reading],
            **({"told_by": list(told.relations)} if beside else {}),
        },
        seconds=seconds,
        repair=mended,
    )


def _with_told(
    told: Told, pattern: Pattern, cells: Cells, order: Any, known: tuple[Floats, Floats] | None
) -> tuple[Floats, Floats]:
    """Bounds known beforehand, with what other figures tell of the suppressed cells; by the cells of the records."""
    units, total = 10.0 ** (cells.decimals - pattern.decimals), cells.total
    lower, upper = (
        np.where(pattern.has[order], end, bound[order] * units)
        for bound, end in ((told.lower, -np.inf), (told.upper, np.inf))
    )
    before = (np.full(len(cells), -np.inf), np.full(len(cells), np.inf)) if known is None else known
    return np.minimum(np.maximum(lower, before[0]), total), np.maximum(np.minimum(upper, before[1]), total)


def _repaired(
    cells: Cells,
    status: Statuses,
    requirements: Requirements,
    rules: Sequence[SensitivityRule],
    assumptions: Assumptions,
    tell_primary: bool,
    workers: int,
) -> RepairedPattern:
    """The pattern with as few further cells suppressed, by their value, as make it safe. Raises DataError."""
    from sluice.tabular.suppression.suppression import repair  # takes time to load

    found = repair(cells, status, requirements, rules, assumptions, workers=workers)
    result = attack(cells, found.status, requirements, rules, assumptions, found.certificates, workers)
    added = (found.status != Status.PUBLISHED) & (status == Status.PUBLISHED)
    return RepairedPattern(cells, found.status, int(np.count_nonzero(added)), result, tell_primary)


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

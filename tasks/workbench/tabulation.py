"""The cells of records outside any release, which stand in a CSV or Parquet file or in a DataFrame.

A dimension without a hierarchy has the codes of its column, below their total.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.errors import DataError
from sluice.ground.frame_columns import with_columns
from sluice.ground.remarks import Remark, Remarks
from sluice.ground.values import MISSING_MARKS, plain_array, trimmed_texts
from sluice.ground.visible_text import spelled_alike
from sluice.reading.kind import summary_of
from sluice.sources.separate_reading import read_here
from sluice.sources.tabular_source import TabularSource
from sluice.sources.total_row import TOTAL_WORDS
from sluice.tabular.model.aggregation import LARGEST_KEPT
from sluice.tabular.model.cells import Cells, refuse_hidden_ties
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.numbered_records import records_of
from tasks.release.tables.aggregated_cells import WantedCells, cells_added_up, rows_of_cells
from tasks.release.tables.specification import TableDimension, TableSpecification
from tasks.workbench.arguments import column_name
from tasks.workbench.standalone_table import StandaloneTable
from tasks.workbench.tabular_file import cells_source, errors_of, read_text, table_source, with_points

Records = Path | pd.DataFrame

_MOST_CELLS = 500_000  # of a file that may be one of cells, not records
_TOTALS = frozenset(("total", "totals", "_t", "all", "sum", "gesamt", "insgesamt", "ensemble", "totale", "summe"))
_TOTAL, _SDMX_TOTAL = "Total", "_t"  # in any case, of a dimension of which nobody said what its total is called


@dataclass(frozen=True, eq=False)
class Tabulated:
    """The cells of records, and how many records were left out or added up on the way.

    alike     : names of contributors that are those of others but for capital letters, and count as others
    respelled : names of contributors that were read as what they look like: with single blanks, and nothing unseen
    joined    : names of contributors that were taken for others, which differ in capital letters alone
    reading   : what of a file was not read as it stands
    stated    : what cells that came added up ask by their status, as rows of an a-priori file
    added     : whether the cells came added up
    largest_told : whether their largest contributions are those of the file, and not the most that they may be
    keys      : of cells that came added up, shape (c,), as text; None where no column has them
    """

    cells: Cells
    left_out: int
    added_up: int
    alike: int = 0
    respelled: int = 0
    joined: int = 0
    reading: tuple[Remark, ...] = ()
    stated: tuple[Mapping[str, str], ...] = ()
    added: bool = False
    largest_told: bool = True
    keys: "pd.Series[str] | None" = None


def dimensions_of(
    table: TableSpecification, source: Records, totals: bool = False, behind: Records | None = None
) -> list[Dimension]:
    """The dimensions of a table.

    source : records, or cells (then `totals`): a file, a folder of files each with some of the columns, a DataFrame
    behind : the cells that a pattern was made of: empty ones are in no pattern, and name codes all the same
    raises : DataError, which names the file, for a column that is absent, or cells without their total
    """
    return [each.dimension(lambda each=each: _flat(each, source, totals, behind)) for each in table.dimensions]  # type: ignore[misc]


def _flat(
    dimension: TableDimension, source: Records, totals: bool, behind: Records | None = None
) -> list[tuple[str, str]]:
    name, total = dimension.variable, dimension.total
    codes = codes_in(source, name) | (set() if behind is None else codes_in(behind, name))
    if totals and total not in codes:
        alike = [code for code in codes if code.casefold() in (total.casefold(), _SDMX_TOTAL)]
        if len(alike) != 1 or total != _TOTAL:
            with errors_of(source):
                likely = sorted(code for code in codes if code.casefold() in TOTAL_WORDS | {"t", "tot"})
                raise DataError(
                    f"no cell is the '{total}' of '{name}'; give its hierarchy, or say what its total is called "
                    f"(--total {name}={likely[0] if len(likely) == 1 else 'CODE'}, total)"
                )
        total = alike[0]
    elif not totals and total in codes:
        with errors_of(source):
            raise DataError(
                f"'{name}' has records of the code '{total}', which its total is called. Are these cells that are "
                f"added up already (--frequency, cells)? Else call the total otherwise (--total {name}=CODE, total)."
            )
    below = codes - {total} if totals else codes
    return [(total, ""), *((code, total) for code in sorted(below))]


def codes_in(source: Records, name: str) -> set[str]:
    """The codes of a column; of a folder, those of its CSV files that have it. Raises DataError; it names the file."""
    if isinstance(source, pd.DataFrame):
        return set(texts(source[column_name(name, "dimensions", source)])) - {""}
    files = sorted(source.glob("*.csv")) if source.is_dir() else [source]
    if source.is_dir():
        files = [file for file in files if name in cells_source(file).column_names()]
    with errors_of(source):
        return {code for file in files for code in read_text(file, [name])[name].unique()} - {""}


def tabulate(source: Records, dimensions: Sequence[Dimension], table: StandaloneTable) -> Tabulated:
    """The cells of records: in memory, but of a Parquet file by DuckDB, whatever its size. Raises DataError.

    Where it is told who asked for protection, a Parquet file is read into memory, too.
    """
    refuse_hidden_ties(dimensions, table.linked)
    measure, withheld = table.summed, table.withheld
    kept = max(LARGEST_KEPT, table.table_attackers.coalition, *(rule.largest_needed for rule in table.sensitivity))
    alike = _codes_to_look_at(dimensions, table)
    if table.cells is not None:
        wanted = WantedCells(
            table.cells, measure, table.sensitivity, table.table_attackers.coalition, table.linked, withheld
        )
        with errors_of(source):
            columns = list(dict.fromkeys([*(d.name for d in dimensions), *wanted.columns]))
            given = with_points(_cells_of(source, dimensions, columns, table), wanted.columns)
            cells, stated = cells_added_up(given, dimensions, wanted)
        told = measure.value is None or bool(table.cells.largest)
        keys = None if table.cells.key is None else given[table.cells.key].iloc[rows_of_cells(given, cells)]
        return Tabulated(cells, 0, 0, reading=alike, stated=stated, added=True, largest_told=told, keys=keys)
    read = table_source(source) if isinstance(source, Path) else source
    if isinstance(source, Path) and source.suffix == ".parquet" and table.asked is None:
        import pyarrow.parquet as pq  # the two take time to load

        from sluice.sources.table_cells import aggregate_file

        with errors_of(source), tempfile.TemporaryDirectory() as folder:
            flat = any(each.hierarchy is None for each in table.dimensions)
            if flat and not measure.contributor and pq.ParquetFile(source).metadata.num_rows <= _MOST_CELLS:
                _refuse_cells(records_in(source, dimensions, measure), table)
            made = aggregate_file(
                source, dimensions, measure,
                tables=table.linked, kept=kept, withheld=withheld, scratch=Path(folder) / "spilled",
            )  # fmt: skip
        cells = table.table_attackers.known_weights(made.cells)
        return Tabulated(cells, made.left_out, made.added_up, made.alike, made.respelled, made.joined, reading=alike)
    with errors_of(source, read):
        asked_in = [] if table.asked is None else [table.asked.column]
        frame = records_in(read, dimensions, measure, asked_in)
        _refuse_cells(frame, table)
        records = records_of(frame, dimensions, measure, table.asked)
        cells = table.table_attackers.known_weights(records.cells(dimensions, kept, table.linked, withheld))
        if table.asked is not None and not any(records.asking):
            raise DataError(
                f"no record has '{table.asked.now}' in '{table.asked.column}', so nobody asked for protection; is it "
                "spelled otherwise there? Leave request_rule out where nobody did."
            )
        if table.asked is not None:
            cells = replace(cells, asking=records.asking)
        reading = (*(() if isinstance(read, pd.DataFrame) else read.remarks.all()), *alike)
        return Tabulated(
            cells, records.left_out, records.added_up, records.alike, records.respelled, records.joined, reading
        )


def _cells_of(
    source: Records, dimensions: Sequence[Dimension], columns: Sequence[str], table: StandaloneTable
) -> pd.DataFrame:
    """The columns of cells as text; of a folder those of all its files, at the total of what a file has no column of,
    and what several have once. Raises DataError, also where these contradict each other."""
    if isinstance(source, pd.DataFrame):
        return text_frame(source[columns])
    if not source.is_dir():
        return read_text(source, columns)
    if not table.tables:
        raise DataError("a folder has the cells of linked tables: name each by --table (tables), such as --table a,b.")
    frames = []
    for file in sorted(source.glob("*.csv")):
        with errors_of(file):
            given = cells_source(file).column_names()
            absent = {each.name: each.codes[0] for each in dimensions if each.name not in given}
            read = read_text(file, [name for name in columns if name not in absent])
            frames.append(with_columns(read, absent)[columns])
    if not frames:
        raise DataError("holds no CSV file of cells.")
    frame = pd.concat(frames, ignore_index=True).drop_duplicates()
    names = [each.name for each in dimensions]
    if (twice := frame.duplicated(names)).any():
        codes = ", ".join(f"{name} {code}" for name, code in frame.loc[twice, names].iloc[0].items())
        raise DataError(
            f"its files contradict each other in {int(twice.sum()):,} cells, the first of which is {codes}."
        )
    return frame


def _codes_to_look_at(dimensions: Sequence[Dimension], table: StandaloneTable) -> tuple[Remark, ...]:
    """Of dimensions that nobody wrote a hierarchy of: a code spelled in two ways makes two cells of one, and NA may be
    no code at all; by the rule for records, it is one among countries or other codes of two capitals."""
    remarks = Remarks()
    for dimension, written in zip(dimensions, table.dimensions, strict=True):
        if written.hierarchy is None and (alike := spelled_alike(dimension.codes)):
            remarks.add("codes_alike", dimension.name, alike)
        if written.hierarchy is None and not {*MISSING_MARKS}.isdisjoint(dimension.codes):
            column = summary_of([pd.Series(dimension.codes[1:])])
            column.settle()
            if column.marks:
                remarks.add("marks", dimension.name, len(column.marks))
    return remarks.all()


def _refuse_cells(frame: pd.DataFrame, table: StandaloneTable) -> None:
    """Raise DataError where a code without a hierarchy is a total of the others: these are cells, not records.

    Each row of cells would count as one contributor, and the totals twice. A total is told by its value in every row,
    and of a table of counts by what it is called. Cost: O(n) a dimension.
    """
    measure, names = table.summed, [each.variable for each in table.dimensions]
    if measure.contributor or measure.holding or frame.duplicated(names).any():
        return
    for name in (each.variable for each in table.dimensions if each.hierarchy is None):
        if measure.value is None:
            found = next((code for code in frame[name].unique() if str(code).casefold() in _TOTALS), None)
        else:
            found = _sum_of_others(frame, name, [each for each in names if each != name], measure.value)
        if found is not None:
            raise DataError(
                f"'{found}' of '{name}' is the total of the others, so these are cells that are added up already, and "
                "not records. Name the columns of their frequencies and largest contributions (--frequency, --largest, "
                f"cells) and what the totals are called (--total {name}={found}, total); if they are records, name "
                "their contributors."
            )


def _sum_of_others(frame: pd.DataFrame, name: str, others: Sequence[str], measure: str) -> str | None:
    """A code that holds the sum of all other codes wherever it stands; not where that may be chance."""
    value = pd.to_numeric(frame[measure], errors="coerce").fillna(0)
    beside_it = [frame[each] for each in others] or np.zeros(len(frame))
    rest = value.groupby(beside_it).transform("sum") - value
    parts = value.ne(0).groupby(beside_it).transform("sum")
    sums = pd.Series(np.isclose(rest, value, rtol=1e-9) & value.ne(0))
    for code, holds in sums.groupby(frame[name]):
        telling = int((holds & (parts > 2)).sum())  # a sum of one part may be chance
        if holds.all() and (telling > 2 or (telling and str(code).casefold() in _TOTALS)):
            return str(code)
    return None


def records_in(
    source: Records | TabularSource, dimensions: Sequence[Dimension], measure: Measure, more: Sequence[str] = ()
) -> pd.DataFrame:
    """The columns of records that a table is made of, codes, contributors and `more` as text. Raises DataError."""
    columns = list(dict.fromkeys([*(d.name for d in dimensions), *measure.columns, *more]))
    if isinstance(source, pd.DataFrame):
        numbers = (measure.value, measure.weight)
        return with_columns(source[columns], {name: texts(source[name]) for name in columns if name not in numbers})
    table = table_source(source) if isinstance(source, Path) else source
    frame = pd.concat(read_here(table, columns), ignore_index=True)
    return with_points(frame, [name for name in (measure.value, measure.weight) if name is not None])


def text_frame(table: pd.DataFrame) -> pd.DataFrame:
    """All columns as text, as a CSV file has them."""
    return pd.DataFrame({str(column): texts(table[column]) for column in table.columns})


def texts(column: "pd.Series[Any]") -> "pd.Series[str]":
    """Codes and numbers as a CSV file has them: 3.0 is '3', a missing value ''."""
    return pd.Series(trimmed_texts(plain_array(column)).fill_null("").to_pylist(), column.index, "str")

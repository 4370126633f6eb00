"""A published table as CSV and as Parquet, written and read back strictly. The same table gives the same bytes."""

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sluice.ground.errors import DataError
from sluice.publication.published_table import (
    OWN_COLUMNS,
    PublishedTable,
    ValueColumn,
    amounts_of,
    in_decimals,
    units_of,
)
from sluice.publication.spreadsheet_text import as_it_was, as_text
from sluice.tabular.model.dimension import Dimension


def to_csv(table: PublishedTable, *, escaped: bool = False) -> bytes:
    """The table as CSV (RFC 4180, UTF-8): numbers with exactly the measure's decimals, empty where there is none.

    escaped : names and codes in the form that spreadsheets show, see `spreadsheet_text`
    """
    form, amounts = as_text if escaped else str, table.amounts
    columns = [
        [in_decimals(entry, amounts[name]) for entry in entries]
        if name in amounts
        else entries
        if name in OWN_COLUMNS
        else [form(entry) for entry in entries]
        for name, entries in table.columns.items()
    ]
    return csv_bytes([form(name) for name in table.columns], zip(*columns, strict=True))


def read_csv(
    content: bytes,
    name: str,
    dimensions: Sequence[Dimension],
    decimals: int = 0,
    *,
    measures: Mapping[str, int] | None = None,
    escaped: bool = False,
) -> PublishedTable:
    """The table that `to_csv` wrote, read back strictly. Raises DataError, naming the line, for anything else.

    measures : column -> decimals of its values; one called value, with `decimals` by default
    """
    header, rows = csv_rows(content, name)
    form = as_it_was if escaped else str
    header = [form(column) for column in header]
    axes = [dimension.name for dimension in dimensions]
    values = measures or {"value": decimals}
    amounts = amounts_of(values)
    known = [
        [*axes, "status", *values, *contributors, *interval, *synthetic, *totals]
        for contributors in ([], ["contributors"])
        for interval in ([], ["lower", "upper"])
        for synthetic in ([], ["synthetic"])
        for totals in ([], ["is_total"])
    ]
    if header not in known:
        raise DataError(f"{name}: the first line must be {','.join(known[-1])}, the last five where there are any")
    columns: dict[str, list[Any]] = {column: [] for column in header}
    for line, row in rows:
        for column, text in zip(header, row, strict=True):
            counted = amounts.get(column, 0)
            plain = column in axes or column == "status"
            columns[column].append(form(text) if plain else units_of(text, counted, f"{name}, line {line}, {column}"))
    codes = tuple(zip(*(columns.pop(axis) for axis in axes), strict=True))
    return _table(name, dimensions, values, codes, columns)


def _table(
    name: str,
    dimensions: Sequence[Dimension],
    values: Mapping[str, int],
    codes: Sequence[tuple[str, ...]],
    columns: dict[str, list[Any]],
) -> PublishedTable:
    """values : column -> decimals of each measure; columns: all but the codes"""
    first, *others = (ValueColumn(each, decimals, tuple(columns.pop(each))) for each, decimals in values.items())
    return PublishedTable(
        name,
        tuple(dimensions),
        first.decimals,
        tuple(codes),
        value=first.value,
        column=first.name,
        others=tuple(others),
        **{column: tuple(entries) for column, entries in columns.items()},
    )


def to_parquet(table: PublishedTable) -> bytes:
    """The table as Parquet: codes and status as text, values as whole numbers, or as doubles where they have decimals.

    Doubles, because pandas and others read Arrow's decimals as objects, not as numbers. Totals stay below 2 ** 53 units
    of their last decimal, so that rounding a double to the measure's decimals gives back the very number. What is
    suppressed is null before Arrow sees it, so the file's statistics and dictionaries do not hold it.
    """
    arrays, schema, amounts = [], [], table.amounts
    for name, entries in table.columns.items():
        numeric: pa.DataType = pa.int64()
        if decimals := amounts.get(name, 0):
            numeric = pa.float64()
            entries = [None if entry is None else float(in_decimals(entry, decimals)) for entry in entries]
        kind = numeric if name in (*amounts, *OWN_COLUMNS[1:]) else pa.string()
        arrays.append(pa.array(entries, kind))
        schema.append((name, kind))
    sink = io.BytesIO()
    whole = pa.table(arrays, schema=pa.schema(schema))
    pq.write_table(whole, sink, compression="zstd", version="2.6", store_schema=False)
    return sink.getvalue()


def read_parquet(
    content: bytes,
    name: str,
    dimensions: Sequence[Dimension],
    decimals: int = 0,
    *,
    measures: Mapping[str, int] | None = None,
) -> PublishedTable:
    """The table that `to_parquet` wrote. Raises DataError for a file that is damaged or has other columns.

    measures : column -> decimals of its values; one called value, with `decimals` by default
    """
    try:
        columns = pq.read_table(io.BytesIO(content)).to_pydict()
    except (pa.ArrowException, OSError):
        raise DataError(f"{name}: is not a whole Parquet file") from None
    axes = [dimension.name for dimension in dimensions]
    values = measures or {"value": decimals}
    amounts = amounts_of(values)
    if [column for column in columns if column not in OWN_COLUMNS[2:]] != [*axes, "status", *values]:
        raise DataError(
            f"{name}: the columns must be {', '.join([*axes, 'status', *values])} and what else is published"
        )
    codes = tuple(zip(*(columns.pop(axis) for axis in axes), strict=True))
    for column in amounts.keys() & columns.keys():
        of = amounts[column]
        columns[column] = [None if e is None else _units(e, of, f"{name}, {column}") for e in columns[column]]
    return _table(name, dimensions, values, codes, columns)


def _units(number: float, decimals: int, where: str) -> int:
    """Units of the last decimal. Raises DataError for a number that has more decimals."""
    text = f"{number:.{decimals}f}" if math.isfinite(number) else ""
    if not text or float(text) != number:
        raise DataError(f"a number must be finite and have {decimals} decimals at most", field=where)
    units = units_of(text, decimals, where)
    assert units is not None
    return units


def csv_bytes(header: Sequence[str], rows: Iterator[Sequence[Any]]) -> bytes:
    """A CSV by RFC 4180: comma, CR LF, quotes where needed; None is empty; UTF-8 without byte order mark."""
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return sink.getvalue().encode()


def csv_rows(content: bytes, name: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header and the numbered rows of a CSV, each with as many cells as the header. Raises DataError otherwise."""
    try:
        rows = list(enumerate(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True), start=1))
    except (UnicodeDecodeError, csv.Error):
        raise DataError(f"{name}: is not a CSV in UTF-8") from None
    if not rows:
        raise DataError(f"{name}: is empty")
    (_, header), *rows = rows
    for line, row in rows:
        if len(row) != len(header):
            raise DataError(f"{name}, line {line}: must have {len(header)} cells; got {len(row)}")
    return header, rows

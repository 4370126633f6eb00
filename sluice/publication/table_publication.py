"""A table as it is published: which cells are listed, what is told of each, and the CSV and Parquet that say it.

Cells are listed in the order of the dimensions' codes. Empty cells and withheld margins are not listed. A suppressed
cell has a status, and no value and no number of contributors in any file: both are taken out here, before anything is
written. The same table gives the same bytes.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sluice.errors import DataError
from sluice.tabular.model.cells import Booleans, Cells, Integers, Status, Statuses, Table, axes_of, in_table, keys_of
from sluice.tabular.model.dimension import Dimension

PUBLISHED = "published"
WORDS = {Status.PUBLISHED: PUBLISHED, Status.PRIMARY: "primary", Status.SECONDARY: "secondary"}
SUPPRESSED = "suppressed"  # primary or secondary, where the two are not told apart

_OWN_COLUMNS = ("status", "value", "contributors", "lower", "upper")
_SHOWN = 3  # cells that a message names
_DIGITS = 18  # of a decimal: more than a total can have, and what fits into 64 bits

Numbers = tuple[int | None, ...]


@dataclass(frozen=True)
class PublishedTable:
    """What the public is told of one table: an entry for each of r listed cells, in all that follows.

    codes        : the cell's code in each dimension, as text
    status       : 'published', 'primary', 'secondary' or 'suppressed'
    value        : in units of 10 ** -decimals; None for a suppressed cell
    contributors : None for a suppressed cell; None altogether when no numbers of contributors are told
    lower, upper : the published interval of a suppressed cell, None for others; None altogether without intervals
    raises       : DataError for entries that do not fit each other, above all a suppressed cell with a value
    """

    name: str
    dimensions: tuple[Dimension, ...]
    decimals: int
    codes: tuple[tuple[str, ...], ...]
    status: tuple[str, ...]
    value: Numbers
    contributors: Numbers | None = None
    lower: Numbers | None = None
    upper: Numbers | None = None

    def __post_init__(self) -> None:
        for field in fields(self)[4:]:
            given = getattr(self, field.name)
            if given is not None and len(given) != len(self.codes):
                raise DataError(
                    f"{field.name} of table '{self.name}' must have an entry for each of {len(self.codes)} listed "
                    f"cells; got {len(given)}"
                )
        taken = sorted({dimension.name for dimension in self.dimensions} & set(_OWN_COLUMNS))
        if taken:
            raise DataError(f"table '{self.name}' has a dimension named '{taken[0]}', which is a column of its file")
        words = (*WORDS.values(), SUPPRESSED)
        for cell, status in enumerate(self.status):
            if status not in words:
                raise DataError(f"status in table '{self.name}' must be one of {', '.join(words)}; got '{status}'")
            hidden = status != PUBLISHED
            if hidden and (self.value[cell] is not None or (self.contributors and self.contributors[cell] is not None)):
                raise DataError(f"the suppressed cell {self.name_of(cell)} must have no value and no contributors")
            if not hidden and self.value[cell] is None:
                raise DataError(f"the published cell {self.name_of(cell)} must have a value")
            if not hidden and (self.lower and self.lower[cell] is not None):
                raise DataError(f"the published cell {self.name_of(cell)} must have no interval")

    @property
    def columns(self) -> dict[str, Sequence[Any]]:
        """The columns of its files in their order: the dimensions, status, value and what else is told."""
        columns: dict[str, Sequence[Any]] = {
            dimension.name: [codes[axis] for codes in self.codes] for axis, dimension in enumerate(self.dimensions)
        }
        columns |= {"status": self.status, "value": self.value}
        for name in ("contributors", "lower", "upper"):
            told = getattr(self, name)
            if told is not None:
                columns[name] = told
        return columns

    def name_of(self, cell: int) -> str:
        """The codes of a listed cell, for a reader: 'nace KA1, region Total'."""
        return ", ".join(f"{d.name} {code}" for d, code in zip(self.dimensions, self.codes[cell], strict=True))


def published_table(
    cells: Cells,
    status: Statuses,
    name: str,
    table: Table,
    *,
    value: Integers | None = None,
    interval: tuple[Integers, Integers] | None = None,
    tell_primary: bool = True,
    tell_contributors: bool = True,
) -> PublishedTable:
    """What is published of a table.

    table             : its dimensions, in the order of its columns; of others it holds the totals
    status            : shape (c,), of every cell of the linked tables
    value             : shape (c,), what is published instead of the totals (rounded, adjusted, perturbed); numbers of
                        contributors are not told then, as they would undo it in a table of counts
    interval          : from and to, each of shape (c,), published for suppressed cells
    tell_primary      : primary and secondary cells bear different words. That a cell is primary tells that few stand
                        in it or one towers over the others, and tells attackers which cells are worth their while;
                        that it is secondary tells that its value may be known as such. Agencies differ. When False,
                        both are 'suppressed'. Which rule made a cell primary is never told.
    tell_contributors : of published cells. Numbers of contributors add up like values: where parts are suppressed,
                        the rest of a sum bounds how many stand in them, though no value.
    raises            : DataError when the arrays do not fit the cells, a withheld margin would be published, or an
                        interval misses its cell or has no width
    """
    inside = in_table(cells, table)
    count = len(cells)
    for what, given in (("status", status), ("value", value), *zip(("lower", "upper"), interval or (), strict=False)):
        if given is not None and given.shape != (count,):
            raise DataError(f"{what} must have one entry for each of {count} cells; got shape {given.shape}")
    strange = np.setdiff1d(status, [int(known) for known in Status])
    if len(strange):
        raise DataError(f"status must be one of {', '.join(f'{s.value} ({s.name})' for s in Status)}; got {strange[0]}")
    unfit = np.flatnonzero(~cells.published & (status != Status.WITHHELD))
    if len(unfit):
        raise DataError(f"a margin that is not published must be withheld; {cells.name(int(unfit[0]))} is not")
    listed = np.flatnonzero(inside & (status != Status.WITHHELD))
    listed = listed[np.argsort(keys_of(cells.dimensions, cells.codes[listed]), kind="stable")]
    hidden = status[listed] != Status.PUBLISHED
    if interval is not None:
        _refuse_bad_interval(cells, listed[hidden], *interval)
    words = {known: word if tell_primary or known is Status.PUBLISHED else SUPPRESSED for known, word in WORDS.items()}
    axes = axes_of(cells, table)
    told = [[cells.dimensions[axis].codes[code] for code in cells.codes[listed, axis]] for axis in axes]
    return PublishedTable(
        name=name,
        dimensions=tuple(cells.dimensions[axis] for axis in axes),
        decimals=cells.decimals,
        codes=tuple(zip(*told, strict=True)),
        status=tuple(words[Status(int(entry))] for entry in status[listed]),
        value=_only_where(~hidden, (cells.total if value is None else value)[listed]),
        contributors=_only_where(~hidden, cells.contributors[listed]) if tell_contributors and value is None else None,
        lower=_only_where(hidden, interval[0][listed]) if interval else None,
        upper=_only_where(hidden, interval[1][listed]) if interval else None,
    )


def discrepancies(
    told: PublishedTable,
    cells: Cells,
    status: Statuses,
    *,
    table: Table | None = None,
    value: Integers | None = None,
    interval: tuple[Integers, Integers] | None = None,
) -> list[str]:
    """What is wrong with a table as it was read back from a file, in words without values; empty when nothing is.

    Every cell that is not withheld must stand in it, no other, suppressed ones without value, the others with theirs.

    table    : its dimensions; those that it tells, down to the leaves, when not given
    interval : from and to, each of shape (c,), that may be told of suppressed cells; nothing may when not given
    """
    table = table or [dimension.name for dimension in told.dimensions]
    listed, axes = in_table(cells, table) & (status != Status.WITHHELD), axes_of(cells, table)
    totals = cells.total if value is None else value
    missing = {
        tuple(cells.dimensions[axis].codes[cells.codes[cell, axis]] for axis in axes): int(cell)
        for cell in np.flatnonzero(listed)
    }
    wrong: dict[str, list[str]] = {}
    for at, codes in enumerate(told.codes):
        cell = missing.pop(codes, None)
        if cell is None:
            wrong.setdefault("listed that should not be, or twice", []).append(told.name_of(at))
            continue
        hidden = status[cell] != Status.PUBLISHED
        if (told.status[at] != PUBLISHED) != hidden or told.status[at] not in (SUPPRESSED, WORDS[Status(status[cell])]):
            wrong.setdefault("given another status", []).append(told.name_of(at))
        if hidden and (told.value[at] is not None or (told.contributors and told.contributors[at] is not None)):
            wrong.setdefault("suppressed and told", []).append(told.name_of(at))
        for ends, allowed in zip((told.lower, told.upper), interval or (None, None), strict=True):
            if ends is not None and ends[at] != (allowed[cell] if hidden and allowed is not None else None):
                wrong.setdefault("given another interval", []).append(told.name_of(at))
                break
        if not hidden and told.value[at] != totals[cell]:
            wrong.setdefault("given another value", []).append(told.name_of(at))
        if not hidden and told.contributors and told.contributors[at] != cells.contributors[cell]:
            wrong.setdefault("given another number of contributors", []).append(told.name_of(at))
    if missing:
        wrong["left out"] = [cells.name(cell) for cell in missing.values()]
    return [
        f"{len(found)} {'cell is' if len(found) == 1 else 'cells are'} {what}: {'; '.join(found[:_SHOWN])}"
        f"{'; ...' if len(found) > _SHOWN else ''}"
        for what, found in wrong.items()
    ]


def to_csv(table: PublishedTable) -> bytes:
    """The table as CSV (RFC 4180, UTF-8): numbers with exactly the measure's decimals, empty where nothing is told."""
    columns = [
        [written(entry, table.decimals) for entry in entries] if name in ("value", "lower", "upper") else entries
        for name, entries in table.columns.items()
    ]
    return csv_bytes(list(table.columns), zip(*columns, strict=True))


def read_csv(content: bytes, name: str, dimensions: Sequence[Dimension], decimals: int) -> PublishedTable:
    """The table that `to_csv` wrote, read back strictly. Raises DataError, naming the line, for anything else."""
    header, rows = csv_rows(content, name)
    axes = [dimension.name for dimension in dimensions]
    known = [[*axes, "status", "value", *c, *i] for c in ([], ["contributors"]) for i in ([], ["lower", "upper"])]
    if header not in known:
        raise DataError(f"{name}: the first line must be {','.join(known[-1])}, the last three where they are told")
    columns: dict[str, list[Any]] = {column: [] for column in header}
    for line, row in rows:
        for column, text in zip(header, row, strict=True):
            counted = decimals if column in ("value", "lower", "upper") else 0
            plain = column in axes or column == "status"
            columns[column].append(text if plain else read_number(text, counted, f"{name}, line {line}, {column}"))
    codes = tuple(zip(*(columns.pop(axis) for axis in axes), strict=True))
    told = {column: tuple(entries) for column, entries in columns.items()}
    return PublishedTable(name, tuple(dimensions), decimals, codes, **told)


def to_parquet(table: PublishedTable) -> bytes:
    """The table as Parquet: codes and status as text, values as whole numbers, or exact decimals where they have any.

    What is suppressed is null before Arrow sees it, so the file's statistics and dictionaries cannot tell it.
    """
    arrays, schema = [], []
    for name, entries in table.columns.items():
        numeric: pa.DataType = pa.int64()
        if table.decimals and name in ("value", "lower", "upper"):
            numeric = pa.decimal128(max(_DIGITS, table.decimals), table.decimals)
            entries = [None if entry is None else Decimal(entry).scaleb(-table.decimals) for entry in entries]
        kind = numeric if name in _OWN_COLUMNS[1:] else pa.string()
        arrays.append(pa.array(entries, kind))
        schema.append((name, kind))
    sink = io.BytesIO()
    whole = pa.table(arrays, schema=pa.schema(schema))
    pq.write_table(whole, sink, compression="zstd", version="2.6", store_schema=False)
    return sink.getvalue()


def read_parquet(content: bytes, name: str, dimensions: Sequence[Dimension], decimals: int) -> PublishedTable:
    """The table that `to_parquet` wrote. Raises DataError for a file that is damaged or has other columns."""
    try:
        columns = pq.read_table(io.BytesIO(content)).to_pydict()
    except (pa.ArrowException, OSError):
        raise DataError(f"{name}: is not a whole Parquet file") from None
    axes = [dimension.name for dimension in dimensions]
    if [column for column in columns if column not in _OWN_COLUMNS[2:]] != [*axes, "status", "value"]:
        raise DataError(f"{name}: the columns must be {', '.join(axes)}, status, value and what else is told")
    codes = tuple(zip(*(columns.pop(axis) for axis in axes), strict=True))
    for column in {"value", "lower", "upper"} & columns.keys():
        columns[column] = [None if e is None else int(Decimal(e).scaleb(decimals)) for e in columns[column]]
    return PublishedTable(name, tuple(dimensions), decimals, codes, **{c: tuple(e) for c, e in columns.items()})


def written(units: int | None, decimals: int) -> str:
    """A number of units of the last decimal as text: 1234 with 2 decimals is '12.34'; '' for None."""
    if units is None:
        return ""
    if not decimals:
        return str(units)
    whole, part = divmod(abs(units), 10**decimals)
    return f"{'-' if units < 0 else ''}{whole}.{part:0{decimals}d}"


def read_number(text: str, decimals: int, where: str) -> int | None:
    """The units that `written` wrote. Raises DataError, naming the place, unless the text has exactly that form."""
    if not text:
        return None
    if not re.fullmatch(rf"-?\d+\.\d{{{decimals}}}" if decimals else r"-?\d+", text, re.ASCII):
        raise DataError(f"{where}: must be a number with {decimals} decimals, or empty")
    return int(text.replace(".", ""))


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


def _only_where(told: Booleans, numbers: Integers) -> Numbers:
    return tuple(int(number) if shown else None for shown, number in zip(told, numbers, strict=True))


def _refuse_bad_interval(cells: Cells, which: Integers, lower: Integers, upper: Integers) -> None:
    low, high, total = lower[which], upper[which], cells.total[which]
    unfit = which[(low > total) | (high < total) | (low >= high)]
    if len(unfit):
        raise DataError(f"a published interval must hold its cell and have a width; see {cells.name(int(unfit[0]))}")

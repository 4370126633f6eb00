"""One sheet of an Excel workbook (.xlsx, .xlsm): numbers as numbers, texts as texts, dates as dates.

openpyxl reads it. Of a formula the value counts that was stored with it. A number that is shown with zeros in front
(format 0000) arrives as text with these zeros. Links, macros and pictures are not looked at.
"""

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from importlib import import_module
from itertools import islice
from pathlib import Path
from sys import maxsize
from typing import Any, Literal
from warnings import catch_warnings, simplefilter
from xml.etree.ElementTree import ParseError

import pyarrow as pa
from pydantic import Field

from sluice.ground.errors import DataError, did_you_mean
from sluice.ground.values import MISSING_MARKS, hours, label
from sluice.ground.visible_text import Name
from sluice.sources.tabular_source import FileSource, missing_file, mostly_expected
from sluice.sources.workbook_parts import BEYOND_CALENDAR, TRUE, refuse_bombs, sheet_parser, workbook_reader

_NOT_AVAILABLE = "#N/A"
_FEWEST_ROWS = 5  # rows from the names on, by which the second is told from the others
_LOOKED_AT = 200  # rows by which a sheet is described
_DAMAGE = (ParseError, ValueError, LookupError, TypeError, AttributeError, zipfile.BadZipFile, zlib.error, EOFError)


class ExcelSource(FileSource):
    """One sheet, whose header row names the columns; what lies beside and above these is not read."""

    type: Literal["excel"] = "excel"
    sheet: Name | None = Field(default=None, description="its name; the only one when not given")
    header_row: int = Field(default=1, ge=1, description="row that names the columns; records begin below it")

    def outlines(self, only: str | None = None, header_row: int | None = None) -> list["Outline"]:
        """What the first rows of each sheet show, or of one of them. Raises DataError as reading does."""
        with _Workbook(Path(self.path)) as book:
            sheets = book.sheets if only is None else [self._sheet(book)]
            return [book.outline(sheet, header_row) for sheet in sheets]

    def _names(self, expected: Sequence[str]) -> list[str]:
        with _Workbook(Path(self.path)) as book:
            return [name for _, name in self._header(self._rows(book))]

    def _are_names(self, names: Sequence[str], expected: Sequence[str]) -> bool:
        """By `header_row` any record can be put where the names should be: no cell of it is repeated."""
        return mostly_expected(names, expected)

    def _tables(self, columns: Sequence[str], expected: Sequence[str], size: int) -> Iterator[pa.Table]:
        with _Workbook(Path(self.path)) as book:
            rows = self._rows(book)
            place = {name: column for column, name in self._header(rows)}
            wanted, all_places = [place[name] for name in columns], set(place.values())
            waiting: list[dict[int, Any]] = []
            read, blank = 0, 0  # rows without a cell; at the end they are no records
            for number, row in enumerate(rows, start=self.header_row + 1):
                filled = sum(cell is not None for column, cell in row.items() if column in all_places)
                if not filled:
                    blank += 1
                    continue
                if blank and filled == 1 and len(all_places) > 2:
                    raise DataError(
                        f"{self.path}: row {number} has one cell, below an empty row. If it is a note, take it out; "
                        "if it is a record, take the empty row out."
                    )
                waiting += [{}] * blank + [row]
                blank = 0
                if len(waiting) >= size:
                    yield self._table(waiting, columns, wanted, read)
                    read, waiting = read + len(waiting), []
            if waiting:
                yield self._table(waiting, columns, wanted, read)

    def _table(self, rows: list[dict[int, Any]], columns: Sequence[str], places: Sequence[int], read: int) -> pa.Table:
        """read : the records before these"""
        table = {}
        for name, place in zip(columns, places, strict=True):
            cells = [row.get(place) for row in rows]
            if beyond := [at for at, cell in enumerate(cells) if cell == BEYOND_CALENDAR]:
                self.remarks.add("beyond_calendar", name, len(beyond), read + beyond[0] + 1)
                cells = [None if cell == BEYOND_CALENDAR else cell for cell in cells]
            table[name] = _column(cells)
        return pa.table(table)

    def _header(self, rows: Iterator[dict[int, Any]]) -> list[tuple[int, str]]:
        """Place and name of each column, the rows having been read as far as the header."""
        row = next(rows, {})
        named = [(column, label(cell).strip()) for column, cell in sorted(row.items()) if cell is not None]
        if not named:
            raise DataError(
                f"{self.path}: row {self.header_row} of the sheet is empty; header_row says where names are"
            )
        return named

    def _rows(self, book: "_Workbook") -> Iterator[dict[int, Any]]:
        """The cells of each row by column, from the header on."""
        sheet = self._sheet(book)
        number = self.header_row
        for found, cells in book.rows(sheet, self.header_row):
            if found < self.header_row:
                continue
            yield from ({} for _ in range(number, found))
            yield cells
            number = found + 1

    def _sheet(self, book: "_Workbook") -> Any:
        by_name = {sheet.title: sheet for sheet in book.sheets}
        if self.sheet is None:
            if len(by_name) != 1:
                raise DataError(f"{self.path}: holds {len(by_name)} sheets; name one: {', '.join(by_name)}")
            return book.sheets[0]
        if self.sheet not in by_name:
            raise DataError(
                f"{self.path}: no sheet '{self.sheet}'.{did_you_mean(self.sheet, by_name)} "
                f"Its sheets are: {', '.join(by_name)}."
            )
        return by_name[self.sheet]


def texts_of_sheets(path: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """Each sheet by its name, and its cells as texts, row by row, of a workbook that holds no records: of merged cells
    the first has the value, and the others are empty."""
    with _Workbook(path) as book:
        for sheet in book.sheets:
            rows = [cells for _, cells in book.rows(sheet, first=maxsize)]
            yield (
                sheet.title,
                [
                    [
                        "" if (cell := row.get(place)) is None else label(cell)
                        for place in range(1, max(row, default=0) + 1)
                    ]
                    for row in rows
                ],
            )


@dataclass(frozen=True)
class Outline:
    """A sheet by its first rows: where its columns are named, and what a reader should know of it."""

    name: str
    is_visible: bool
    header_row: int = 1
    columns: int = 0
    nameless: tuple[str, ...] = ()  # letters of columns with cells below a header without their name
    hidden_columns: str = ""  # letters
    hidden_rows: int = 0
    has_formulas: bool = False
    doubt: str = ""  # why the row below the names seems to be no record; "" where it does not


class _Workbook:
    """A workbook that is open, once it was looked at whether it is harmless."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> "_Workbook":
        if not self.path.is_file():
            raise missing_file(self.path)
        try:
            refuse_bombs(self.path)
            with catch_warnings():
                simplefilter("ignore")  # of what openpyxl does not read, which we do not, either
                self._file = self.path.open("rb")  # of a name openpyxl believes only what ends in .xlsx
                reader = workbook_reader(self.path)(self._file, read_only=True, data_only=True, keep_links=False)
                reader.read()
                self._book = reader.wb
        except (DataError, MemoryError):
            raise
        except Exception:  # openpyxl has no error of its own for a part that is not what it should be
            raise DataError(f"{self.path}: is damaged, or no Excel workbook that can be read") from None
        self.sheets = self._book.worksheets
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):
            self._book.close()
            self._file.close()

    def outline(self, sheet: Any, header_row: int | None) -> Outline:
        with catch_warnings(), sheet._get_source() as source:
            simplefilter("ignore")
            parser = self._parser(sheet, source)
            try:
                looked_at = dict(islice(parser.parse(), _LOOKED_AT))
            except _DAMAGE:
                raise DataError(f"{self.path}: the sheet is damaged; it cannot be read") from None
        rows = {number: filled for number, cells in looked_at.items() if (filled := _filled(cells))}
        if not rows:
            return Outline(sheet.title, sheet.sheet_state == "visible")
        width = max(len(cells) for cells in rows.values())
        header = header_row or next(number for number, cells in rows.items() if 2 * len(cells) > width)
        if header not in rows:
            raise DataError(f"{self.path}: row {header} of the sheet is empty; no names are there")
        below = {column for number, cells in rows.items() if number > header for column in cells}
        return Outline(
            sheet.title,
            sheet.sheet_state == "visible",
            header_row=header,
            columns=len(rows[header]),
            nameless=tuple(map(_letter, sorted(below - set(rows[header])))),
            hidden_columns=", ".join(
                name if name == (last := _letter(int(found["max"]))) else f"{name} to {last}"
                for name, found in parser.column_dimensions.items()
                if found.get("hidden") in TRUE
            ),
            hidden_rows=parser.hidden_rows,
            has_formulas=parser.has_formulas,
            doubt="" if header_row else _second_header([looked_at[number] for number in rows if number >= header]),
        )

    def _parser(self, sheet: Any, source: Any) -> Any:
        book = self._book
        return sheet_parser()(
            source,
            sheet._shared_strings,
            data_only=True,
            epoch=book.epoch,
            date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )

    def rows(self, sheet: Any, first: int) -> Iterator[tuple[int, dict[int, Any]]]:
        """Number and cells of each row that the sheet holds.

        Raises DataError for cells below `first` that were calculated and have no value, are an error, or are merged.
        """
        with catch_warnings(), sheet._get_source() as source:
            simplefilter("ignore")
            parser = self._parser(sheet, source)
            try:
                for number, cells in parser.parse():
                    yield number, {cell["column"]: self._value(cell, number >= first) for cell in cells}
            except _DAMAGE:
                raise DataError(f"{self.path}: the sheet is damaged; it cannot be read to its end") from None
        merged = parser.merged_cells.mergeCell if parser.merged_cells is not None else []
        if below := [each.ref for each in merged if each.max_row >= first]:
            raise DataError(
                f"{self.path}: cells are merged, such as {below[0]}: of these only the first has a value. Unmerge them "
                "and fill in the others, or, where they are above the names, set header_row (--header-row) below them."
            )

    def _value(self, cell: dict[str, Any], counts: bool) -> Any:
        value = cell["value"]
        if not counts:
            return value
        where = f"{self.path}: cell {_letter(cell['column'])}{cell['row']}"
        if cell["data_type"] == "f":
            raise DataError(f"{where} is a formula without a stored value. Open the workbook in Excel and save it.")
        if cell["data_type"] == "e" and value != _NOT_AVAILABLE:
            raise DataError(f"{where} is an error, such as #REF!. Mend it, or leave it empty.")
        if isinstance(value, str):
            return value or None
        if isinstance(value, int | float) and not isinstance(value, bool):
            shown = self._book._number_formats, self._book._cell_styles
            return _with_zeros(value, *shown, cell["style_id"])
        if isinstance(value, timedelta):
            return hours(value)
        if isinstance(value, time):
            return str(value)
        return value


def _filled(cells: Sequence[dict[str, Any]]) -> set[int]:
    """The columns in which a row has a value, or a formula."""
    return {cell["column"] for cell in cells if cell["value"] not in (None, "") or cell["data_type"] == "f"}


def _second_header(rows: Sequence[Sequence[dict[str, Any]]]) -> str:
    """Why the row below the names is none of a record; '' where it is one, or too few follow to tell.

    rows : with cells, from the names on
    """
    if len(rows) < _FEWEST_ROWS:
        return ""
    names, second, *records = map(_values, rows)
    below = {column: [row[column] for row in records if column in row] for column in {*second, *names}}
    if second.keys() - names.keys():
        usual = {column for column in names if len(below[column]) == len(records)}
        if 2 * len(usual - second.keys()) > len(usual):
            return "names columns that have no name there"
    if all(isinstance(cell, str) and cell not in MISSING_MARKS for cell in second.values()):
        over = [column for column in second if below[column] and not any(isinstance(x, str) for x in below[column])]
        if len(over) > 1:
            return f"holds words above {len(over)} columns of numbers"
    return ""


def _values(cells: Sequence[dict[str, Any]]) -> dict[int, Any]:
    return {cell["column"]: cell["value"] for cell in cells if cell["value"] not in (None, "")}


def _letter(column: int) -> str:
    return str(import_module("openpyxl.utils").get_column_letter(column))


def _column(cells: list[Any]) -> pa.Array:
    """Of one type where they are of one; else texts."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {int, float} or kinds == {bool} or kinds == {str}:
        with suppress(pa.ArrowInvalid, OverflowError):
            return pa.array(cells, pa.float64() if kinds == {int, float} else None)
    if kinds == {datetime}:
        return pa.array(cells, pa.timestamp("us"))
    return pa.array([None if cell is None else label(cell) for cell in cells], pa.string())


def _with_zeros(value: float, formats: Any, styles: Any, style: int) -> float | str:
    """The number, or its text where the cell shows it with zeros in front."""
    number = styles[style].numFmtId if 0 <= style < len(styles) else 0
    shown = formats[number - 164] if 164 <= number < 164 + len(formats) else ""
    if len(shown) > 1 and not shown.strip("0") and value == int(value) >= 0:
        return str(int(value)).zfill(len(shown))
    return value

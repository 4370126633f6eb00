"""CSV files: decoded, counted and cut into records strictly; nothing is padded, skipped or guessed but a separator
that nobody named, which the first line shows.
"""

import csv
import gzip
import io
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from time import sleep
from typing import Annotated, Any, ClassVar, Literal, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from pydantic import BeforeValidator, Field, field_validator, model_validator

from sluice.ground.errors import DataError
from sluice.ground.visible_text import Name
from sluice.sources.packed_file import unpacked
from sluice.sources.tabular_source import NAMELESS, TabularSource, mostly_expected, resolved

_NAMELESS = "\0"  # before the place of a column without a name, which no header holds
_BLANK = " \r\n"  # not the tab: in a file separated by tabs it makes a record
_THREAD_ENDS = 0.05  # seconds in which the thread that read ahead lets go of Python: it aborts one that ends before
_BLOCK = 4 << 20  # bytes that Arrow parses at once; also the longest record it can read


def _or_one_text(schema: dict[str, Any]) -> None:
    """For editors: a text stands for the list of it."""
    listed = {key: schema.pop(key) for key in ("type", "items", "minItems")}
    schema["anyOf"] = [listed["items"], listed]


def known_encoding(encoding: str) -> str:
    """The name of an encoding, as it is. Raises ValueError for one that is not known."""
    try:
        "".encode(encoding)
    except (LookupError, ValueError):
        raise ValueError("no such text encoding; for instance utf-8, latin-1 or cp1252") from None
    return encoding


class CsvSource(TabularSource):
    """One CSV file, or several with the same columns read one after the other.

    Blanks around a cell do not count, blank lines are skipped, a column without a name is left out. A gzip file, or a
    zip archive of one file, is unpacked on the way.
    """

    trims_texts: ClassVar[bool] = True

    type: Literal["csv"] = "csv"
    path: Annotated[tuple[Name, ...], BeforeValidator(lambda path: (path,) if isinstance(path, str) else path)] = Field(
        min_length=1,
        description="a file, or a list of files whose records are taken together",
        json_schema_extra=_or_one_text,
    )
    separator: str = Field(default=",", min_length=1, max_length=1)
    header: bool = Field(default=True, description="the first line names the columns")
    columns: tuple[str, ...] | None = Field(
        default=None,
        description="names of the columns of a file without header, '' of one to leave out; the contract's variables "
        "if not given",
    )
    decimal: Literal[".", ","] = Field(
        default=".", description="sign before a number's decimals; no sign may stand between its thousands"
    )
    encoding: str = Field(default="utf-8", description="utf-8 (with or without byte order mark), latin-1, cp1252, ...")
    quote: str | None = Field(default='"', min_length=1, max_length=1, description="null: quotes have no meaning")
    skip_lines: int = Field(default=0, ge=0, description="lines before the header or the first record")
    comment: str | None = Field(
        default=None,
        min_length=1,
        description="lines that begin with this are skipped and counted, but for those with all cells of a record",
    )
    line_breaks: bool = Field(
        default=False, description="quoted cells may hold line breaks; otherwise a record that spans lines is refused"
    )

    aligned: bool = Field(
        default=False, description="one blank or several stand between the cells, as in tables that are aligned"
    )

    _known = field_validator("encoding")(known_encoding)

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.header and self.columns is not None:
            raise ValueError("'columns' names the columns of a file without header: set header: false, or leave it out")
        return self

    @property
    def title(self) -> str:
        return ", ".join(self.path)

    @property
    def decimal_mark(self) -> str:
        return self.decimal

    def resolve(self, base: Path) -> Self:
        return self.relocated(lambda _, path: resolved(path, base))

    def relocated(self, place: Callable[[str, str], str]) -> Self:
        """With each path as `place` says, which gets the field's name and what is written there."""
        return self.model_copy(update={"path": tuple(place("path", path) for path in self.path)})

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(map(Path, self.path))

    def _names(self, expected: Sequence[str]) -> list[str]:
        return [name for name in self._open(Path(self.path[0]), expected)[0] if not name.startswith(_NAMELESS)]

    def left_out(self) -> dict[str, str]:
        """Columns that the header leaves without a name, by their places from 1."""
        names = self._open(Path(self.path[0]), ())[0]
        places = (place for place, name in enumerate(names, start=1) if name.startswith(_NAMELESS))
        return {f"column {place}": NAMELESS for place in places}

    def _are_names(self, names: Sequence[str], expected: Sequence[str]) -> bool:
        """A file whose header is missing has a record where the names should be: no cell of it is repeated."""
        return not self.header or mostly_expected(names, expected)

    def _doubt(self, names: Sequence[str]) -> str:
        other = next((sign for sign in ";\t|," if len(names) == 1 and sign in names[0]), None)
        if other is not None:
            return f"The one holds {other!r}; is that the separator?"
        passed = "A title above it is passed over by --header-row, where a command has it, or skip_lines of a source."
        return f"{super()._doubt(names)} {passed}"

    def _tables(self, columns: Sequence[str], expected: Sequence[str], size: int) -> Iterator[pa.Table]:
        first = None
        for path in map(Path, self.path):
            names, lines = self._open(path, expected)
            first = first or names
            if sorted(names) != sorted(first):
                # Only what the first file has is named: the other's header may be missing, and be a record.
                lacking = ", ".join(sorted(set(first) - set(names))) or "none"
                more = len(set(names) - set(first))
                raise DataError(
                    f"{path}: its columns are not those of {self.path[0]}; missing: {lacking}; others: {more}. "
                    "Has it a header?"
                )
            yield from self._parse(path, names, columns, lines, size)

    def _open(self, path: Path, expected: Sequence[str]) -> tuple[list[str], "_Lines"]:
        """Column names of one file, and its lines from the first record on."""
        lines = _Lines(path, self)
        first = lines.take()
        if first is None:
            raise DataError(f"{path}: is empty")
        lines.width = lines.width or len(self._cells(first))
        if self.header:
            return _named(self._cells(first)), lines
        lines.put_back(first)
        if self.columns is not None:
            return _named(self.columns), lines
        return list(expected) or [f"column_{i + 1}" for i in range(len(self._cells(first)))], lines

    def _cells(self, line: str, strict: bool = False) -> list[str]:
        if self.quote:
            row = next(csv.reader([line], delimiter=self.separator, quotechar=self.quote, strict=strict))
        else:
            row = line.rstrip("\n").split(self.separator)
        return [cell.strip() for cell in row]

    def _parse(
        self, path: Path, names: list[str], columns: Sequence[str], lines: "_Lines", size: int
    ) -> Iterator[pa.Table]:
        start = lines.take()
        if start is None:
            return
        lines.put_back(start)
        ragged: list[tuple[int, int | None]] = []

        def refuse(row: pyarrow.csv.InvalidRow) -> str:
            ragged.append((row.actual_columns, row.number))
            return "error"

        reader: Any = ()
        try:
            reader = pyarrow.csv.open_csv(
                lines,
                pyarrow.csv.ReadOptions(column_names=names, block_size=_BLOCK, use_threads=False),
                pyarrow.csv.ParseOptions(
                    delimiter=self.separator,
                    quote_char=self.quote or False,
                    newlines_in_values=self.line_breaks,
                    invalid_row_handler=refuse,
                ),
                pyarrow.csv.ConvertOptions(
                    include_columns=columns,
                    column_types=dict.fromkeys(names, pa.string()),
                    strings_can_be_null=False,
                    check_utf8=False,  # `_Lines` encodes it
                ),
            )
            records = 0
            waiting: list[pa.RecordBatch] = []
            for batch in reader:
                if sum(part.num_rows for part in waiting) >= size:
                    yield self._trimmed(waiting)
                    waiting = []
                waiting.append(batch)
                records += batch.num_rows
        except pa.ArrowInvalid:
            _end(reader, lines)
            if not ragged:
                raise DataError(f"{path}: cannot be cut into records. Is a quoted cell never closed?") from None
            found, number = ragged[0]
            where = f"line {lines.number_of(number)}" if number and not self.line_breaks else f"record {number or '?'}"
            expected = f"{len(names)} fields expected, {found} found"
            raise DataError(
                f"{path}: {where}: {expected}. Is the separator '{self.separator}', and every quote closed?"
            ) from None
        except GeneratorExit:  # in the middle of the file
            _end(reader, lines)
            raise
        if self.line_breaks and lines.quotes % 2:
            raise DataError(f"{path}: a quoted cell is never closed; the file has {lines.quotes} quotes, an odd number")
        if not self.line_breaks and records != lines.taken:
            raise DataError(
                f"{path}: {lines.taken} lines give {records} records. Is a quoted cell never closed? "
                "If cells hold line breaks, set line_breaks: true."
            )
        self._remark_on_skipped(lines, names, columns)  # before the last table, which takes the remarks along
        if waiting:
            yield self._trimmed(waiting)

    def _remark_on_skipped(self, lines: "_Lines", names: Sequence[str], columns: Sequence[str]) -> None:
        if lines.comments:
            self.remarks.add("comments", columns[0], lines.comments)
        if lines.blank and len(names) == 1:
            self.remarks.add("empty_lines", columns[0], lines.blank)

    def _trimmed(self, batches: list[pa.RecordBatch]) -> pa.Table:
        """The cells without blanks at either end; where there were some is remarked upon."""
        table = pa.Table.from_batches(batches)
        trimmed = [pc.utf8_trim_whitespace(column) for column in table.columns]
        for name, before, after in zip(table.column_names, table.columns, trimmed, strict=True):
            if pc.sum(pc.binary_length(before)) != pc.sum(pc.binary_length(after)):
                self.remarks.add("blanks", name, pc.sum(pc.not_equal(before, after)).as_py())
        return pa.table(trimmed, names=table.column_names)


class DocumentCsv(CsvSource):
    """A small CSV file that a document names, such as a hierarchy: it is read where the vault is open, so by Python's
    own parser, in which no file can go beyond an array, and not by Arrow's.

    It differs where a file is damaged: a quote that is never closed is named with its line.
    """

    def _parse(
        self, path: Path, names: list[str], columns: Sequence[str], lines: "_Lines", size: int
    ) -> Iterator[pa.Table]:
        kept = [names.index(name) for name in columns]
        records: list[list[str]] = []
        while (line := lines.take()) is not None:
            try:
                cells = self._cells(line, strict=True)
            except csv.Error:
                where = f"{path}: line {lines.number_of(len(records) + 1)}"
                raise DataError(f"{where}: a quoted cell is never closed") from None
            if len(cells) != len(names):
                where = f"{path}: line {lines.number_of(len(records) + 1)}"
                raise DataError(
                    f"{where}: {len(names)} fields expected, {len(cells)} found. Is the separator '{self.separator}', "
                    "and every quote closed?"
                )
            records.append(cells)
        if records:
            texts = [pa.array([cells[place] for cells in records], pa.string()) for place in kept]
            yield pa.table(texts, names=list(columns))


def _end(reader: Any, lines: "_Lines") -> None:
    """Let the thread that reads ahead come to its end."""
    lines.stop()
    with suppress(pa.ArrowException, DataError):
        deque(reader, maxlen=0)
    sleep(_THREAD_ENDS)


def _named(names: Sequence[str]) -> list[str]:
    return [name or f"{_NAMELESS}{place}" for place, name in enumerate(names)]


class _Lines:
    """The lines of one file that count: decoded, without blank lines, comments and those to skip.

    Arrow reads from it as from a binary file of UTF-8.
    """

    closed = False

    def __init__(self, path: Path, source: CsvSource) -> None:
        self.taken = 0  # lines handed to Arrow
        self.quotes = 0  # quote characters in them
        self.comments = 0  # lines that were skipped as such
        self.blank = 0  # lines without a sign, below the first that counts
        self.width = len(source.columns or ())  # cells of a record; 0 as long as that is not known
        self._path, self._source = path, source
        self._lines: Iterator[tuple[int, str]] = self._counting_lines()
        self._ready = bytearray()
        self._stray = self._cell = None  # what a stray quote looks like, and a whole cell
        if source.quote and not source.aligned:
            quote, mark = re.escape(source.quote), re.escape(source.separator)
            self._stray = re.compile(f"[^{quote}{mark}\\s] *{quote}[^{quote}{mark}\\r\\n]")
            self._cell = re.compile(
                f"(?:{quote}(?:[^{quote}]|{quote}{quote})*{quote}[ \\t]*|[^{quote}{mark}][^{mark}]*|)"
                f"(?:{mark}|(?=\\s*$))?"
            )
        self._first: list[str] = []

    def take(self) -> str | None:
        return self._first.pop() if self._first else next(self._lines, (0, None))[1]

    def put_back(self, line: str) -> None:
        self._first.append(line)

    def read(self, size: int) -> bytes:
        while len(self._ready) < size:
            lines = self._first or [line for _, line in islice(self._lines, 4096)]
            if not lines:
                break
            self._first = []
            self.taken += len(lines)
            text = "".join(lines)
            self.quotes += text.count(self._source.quote) if self._source.quote else 0
            self._ready += text.encode()
        block = bytes(self._ready[:size])
        del self._ready[:size]
        return block

    def stop(self) -> None:
        """Hand out no more: Arrow reads ahead, in a thread that must end before the process does."""
        self._first, self._lines = [], iter(())

    def number_of(self, record: int) -> int:
        """Line in the file of the record with this number, counted from 1."""
        again = self._counting_lines()
        return next(islice(again, record - 1 + self._source.header, None))[0]

    def _counting_lines(self) -> Iterator[tuple[int, str]]:
        """The lines that count, each with its number in the file from 1; every line ends in a line feed."""
        path, source = self._path, self._source
        encoding = "utf-8-sig" if source.encoding.lower().replace("_", "-") in ("utf-8", "utf8") else source.encoding
        number, begun, inside = 0, False, False  # inside a quoted cell
        below = source.columns is not None  # the names of the columns
        ends = "" if source.line_breaks else None  # within cells they stay as they are
        try:
            with unpacked(path, lines=True) as file:
                for number, line in enumerate(io.TextIOWrapper(file, encoding=encoding, newline=ends), start=1):
                    is_blank = not line.strip(_BLANK)
                    begun = begun or not is_blank
                    if is_blank and below and not inside and number > source.skip_lines:
                        self.blank += 1
                    if number <= source.skip_lines or not begun or (is_blank and not source.line_breaks):
                        continue  # Arrow skips the blank lines between records that may span lines
                    if source.comment is not None and not inside and self._is_comment(line, below):
                        self.comments += 1
                        continue
                    below = True
                    whole = not inside
                    if source.line_breaks:
                        inside ^= bool(source.quote and line.count(source.quote) % 2)
                        line = line if inside else line.rstrip("\r\n")
                    if whole and not inside and source.quote and source.quote in line:
                        self._refuse_stray_quote(number, line)
                    line = line if inside or line.endswith("\n") else line + "\n"
                    yield number, closed_up(line, source.quote) if source.aligned else line
        except UnicodeError as error:  # that UTF-16 has no mark is no UnicodeDecodeError before Python 3.13
            bad = number + 1
            bad += error.object[: error.start].count(b"\n") if isinstance(error, UnicodeDecodeError) else 0
            hint = "latin-1 or cp1252" if encoding == "utf-8-sig" else "another; `sluice init` looks which"
            raise DataError(f"{path}: line {bad} is not {source.encoding}. Is it {hint}?") from None

    def _refuse_stray_quote(self, number: int, line: str) -> None:
        """Raise DataError where text follows a closing quote ("a"b"): readers differ in what such a cell is."""
        if self._stray is None or self._cell is None or not self._stray.search(line):
            return
        at = column = 0
        while at < len(line) and (cell := self._cell.match(line, at)):
            if cell.end() == at:
                return  # a quote that is never closed is refused with the file
            column, at = column + 1, cell.end()
            if line[at - 1] != self._source.separator and line[at:].strip():
                raise DataError(
                    f"{self._path}: line {number}, column {column}: text follows a closing quote. Write quotes within "
                    'a cell twice (""), or set quote: null if they have no meaning.'
                )

    def _is_comment(self, line: str, below: bool) -> bool:
        """A line with as many cells as a record has, below the names, is a record that begins with the sign."""
        source = self._source
        if source.comment is None or not line.startswith(source.comment):
            return False
        cells = source._cells(closed_up(line, source.quote) if source.aligned else line)
        return not below or self.width < 2 or len(cells) != self.width


def closed_up(line: str, quote: str | None) -> str:
    """A line with one blank between its cells, and none around them; blanks within quotes stay."""
    mark = re.escape(quote) if quote else None
    cells = re.findall(rf"{mark}[^{mark}]*{mark}|\S+" if mark else r"\S+", line)
    return f"{' '.join(cells)}\n"


_SEPARATORS = ",;\t|"
_LONGEST = 1 << 20  # bytes of a line that are looked at


def described_csv(path: Path, separator: str | None = None, encoding: str = "utf-8") -> CsvSource:
    """The file as a source; unless a separator is named, with the one that stands most often in its first line.

    A file whose name ends in .gz is decompressed; what cannot be read the source says itself when it is.
    """
    return CsvSource(path=(str(path),), separator=separator or separator_of(_first_line(path)), encoding=encoding)


def document_csv(path: Path, separator: str | None = None, encoding: str = "utf-8") -> DocumentCsv:
    """The same of a file that a document names."""
    return DocumentCsv(path=(str(path),), separator=separator or separator_of(_first_line(path)), encoding=encoding)


def separator_of(header: str) -> str:
    """The sign of , ; tab | that stands most often outside quotes; the comma where none does."""
    return max(_SEPARATORS, key=re.sub('"[^"]*"', "", header).count)  # of equals the first


def _first_line(path: Path) -> str:
    """The first line that is not blank; '' where there is none."""
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            while line := file.readline(_LONGEST):
                if text := line.decode("utf-8-sig", errors="replace").strip():
                    return text
    except (OSError, EOFError):
        pass
    return ""

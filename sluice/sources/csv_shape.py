"""The shape of a CSV file that nobody described: separator, quote, header, decimal mark. What is not certain is asked.

A separator is one by which all lines have as many cells. Two that both do so are a question, not a guess, but for a
comma or colon that stands between digits only, as in 1,5 or 12:30.
"""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from itertools import pairwise
from typing import Literal

from sluice.ground.errors import DataError
from sluice.ground.values import DATE, LEADING_ZERO, MISSING_MARKS, NUMBER
from sluice.ground.visible_text import one_line
from sluice.sources.csv_source import closed_up
from sluice.sources.decimal_mark import decimal_of

SEPARATORS = {
    ",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar", ":": "colon", "^": "circumflex", "~": "tilde",
    "\x1f": "unit separator", "\x01": "start of heading", "¦": "broken bar", " ": "blank",
}  # fmt: skip
_REMARK = "#"
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)  # above the table, for Excel
_MOST_ABOVE = 30  # lines that may stand above the table
_FIXED = 12  # signs of a line that may hold columns of fixed width
_DAY = r"[0-9]{1,2}([-./])[0-9]{1,2}\1[0-9]{4}|[0-9]{4}([./])[0-9]{1,2}\2[0-9]{1,2}"  # that is none of ISO 8601
_YEAR = "1[89][0-9]{2}|20[0-9]{2}"
_NEARLY = 0.8  # share of the lines that have the same number of cells in a file with some broken ones


@dataclass(frozen=True)
class CsvShape:
    """As `CsvSource` names it, and sentences on what else was found."""

    separator: str = ","
    quote: str | None = '"'
    header: bool = True
    decimal: Literal[".", ","] = "."
    skip_lines: int = 0
    line_breaks: bool = False
    columns: tuple[str, ...] | None = None
    comment: str | None = None
    aligned: bool = False
    says: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class _Cut:
    """Lines cut into cells in one way."""

    separator: str
    quote: str | None
    rows: list[list[str]]
    ends: list[int]  # line in which each row ends
    above: int = 0  # rows that are none of the table

    @cached_property
    def width(self) -> int:
        return len(self.rows[-1]) if self.above else self.usual[0]

    @cached_property
    def usual(self) -> tuple[int, int]:
        return Counter(map(len, self.rows)).most_common(1)[0]

    @cached_property
    def open_quotes(self) -> int:
        """Most cells of a row in which a quote is not closed; two where one begins in a cell and ends in another."""
        return max((sum(cell.count('"') % 2 for cell in row) for row in self.rows), default=0)

    @property
    def cuts_quoted(self) -> bool:
        """Whether quotes are open, and the line above the table is no title but names that are one too few."""
        return self.open_quotes > (len(self.rows[self.above - 1]) < self.width - 1)

    @property
    def stripped(self) -> list[list[str]]:
        return [[cell.strip() for cell in row] for row in self.rows]

    @cached_property
    def is_even(self) -> bool:
        return self.width > 1 and all(len(row) == self.width for row in self.rows[self.above :])

    @cached_property
    def spans_lines(self) -> bool:
        return any("\n" in cell for row in self.rows for cell in row)


def shape_of(
    text: str,
    title: str,
    separator: str | None = None,
    decimal: str | None = None,
    header_row: int | None = None,
) -> CsvShape:
    """The shape of a file that begins with this text, which ends with a line.

    separator, decimal : where somebody knows them
    header_row : the line that names the columns, from 1, where somebody knows it
    raises : DataError, which names `title`, for a text whose shape is not certain, and what may be named
    """
    lines = list(StringIO(text, newline="\n"))  # as the records are cut: str.splitlines also cuts at other signs
    names_separator = re.fullmatch(_SEPARATOR_LINE, lines[0]) if lines else None
    if names_separator is not None:
        separator = separator or names_separator[1]
        lines[0] = "\n"
    if header_row is not None:
        lines = ["\n"] * (header_row - 1) + lines[header_row - 1 :]
    if not any(line.strip() for line in lines):
        raise DataError(f"{title}: is empty" if header_row is None else f"{title}: has no line {header_row}")
    remarks = [] if header_row is not None else _remarks(lines, separator)
    lines = [line if number not in remarks else "\n" for number, line in enumerate(lines)]
    aligned = separator is None and _are_aligned(lines)
    if aligned:
        lines = [closed_up(line, '"') for line in lines]
    short = _short_header(lines, " " if aligned else separator, title)
    if short is None:
        cut = _cut_of(lines, title, " " if aligned else separator)
    else:
        cut, columns = short
    rows = cut.rows[cut.above :]
    rows = [row for row in rows if len(row) == len(rows[0])]  # reading says which line is broken
    says: tuple[str, ...] = ()
    if short is not None:
        header: list[str] | None = columns
        named = ", ".join(columns) if columns[-1] else f"{', '.join(columns[:-1])}, and one without a name"
        says = (f"the first line has another number of cells than the records: the columns are {named}",)
    elif header_row is not None:
        header, rows = [cell.strip() for cell in rows[0]], rows[1:]
    else:
        header, rows = _header(rows, title)
        if header is not None:
            _refuse_second_header(rows, cut, title)
    _refuse_repetitions(header or (), title)
    mark, told = decimal_of(rows, header, cut.separator, title, decimal)
    above = cut.ends[cut.above - 1] if cut.above else header_row - 1 if header_row else 0
    if names_separator is not None:
        says += ("the first line names the separator, and is skipped",)
    above = above or int(names_separator is not None)
    if above > (names_separator is not None) and short is None:
        lines_above = "a line" if above == 1 else f"{above} lines"
        says += (f"{lines_above} above the {'names' if header_row else 'table'} skipped",)
    says += (f"lines that begin with {_REMARK} are comments, and skipped",) if remarks else ()
    says += ("the cells are aligned by blanks",) if aligned else ()
    return CsvShape(
        cut.separator, cut.quote, header is not None and short is None, mark, above, cut.spans_lines,
        tuple(header or ()) if short is not None else None, _REMARK if remarks else None, aligned, (*says, *told),
    )  # fmt: skip


def _remarks(lines: Sequence[str], separator: str | None) -> set[int]:
    """The places of comments: lines that begin with a sign, without which the others have equally many cells."""
    found = {number for number, line in enumerate(lines) if line.startswith(_REMARK)}
    kept = [line for number, line in enumerate(lines) if number not in found]
    if not found or not any(line.strip() for line in kept):
        return set()
    signs = [separator] if separator else [sign for sign in SEPARATORS if any(sign in line for line in kept)]
    cuts = [cut for sign in signs if (cut := _plainly_cut(kept, sign)).is_even]
    if not cuts or any(_plainly_cut(lines, sign).is_even for sign in signs):
        return set()
    names = next(number for number, line in enumerate(lines) if number not in found and line.strip(" \r\n"))
    sign, width = cuts[0].separator, cuts[0].width
    return {number for number in found if number < names or len(lines[number].split(sign)) != width}


def _are_aligned(lines: Sequence[str]) -> bool:
    """Whether runs of blanks stand between cells, equally many in all lines (the first may lack one), numbers among
    them; of fixed width are lines that only differ in their cells, all of one length."""
    kept = [line.rstrip("\r\n") for line in lines if line.strip()]
    if len(kept) < 3 or not any(re.search(r"\S {2,}\S|^ ", line) for line in kept):
        return False
    if any(sign in kept[-1] for sign in ",;\t|"):
        return False
    rows = [closed_up(line, '"').split(" ") for line in kept]
    width = len(rows[-1])
    even = width > 1 and all(len(row) == width for row in rows[1:]) and len(rows[0]) in (width, width - 1)
    return (
        even
        and len(rows[0]) > 1
        and any(all(map(_is_value, map(str.strip, column))) for column in zip(*rows[1:], strict=False))
    )


def _short_header(lines: Sequence[str], separator: str | None, title: str) -> tuple[_Cut, list[str]] | None:
    """The records below a line of names that is a cell shorter, as R's write.table writes it beside the names of rows
    or where a separator ends every record, or longer by an empty cell; and the names of the columns, '' of one that has
    none. None for any other file."""
    signs = [separator] if separator else [sign for sign in SEPARATORS if any(sign in line for line in lines)]
    cuts = [_best_quote(lines, sign, title) for sign in signs]
    if any(cut.is_even and cut.width > 1 and cut.separator != " " for cut in cuts):  # names and records alike
        return None
    for cut in cuts:
        if cut.is_even or len(cut.rows) < 3:
            continue
        first, width = [cell.strip() for cell in cut.rows[0]], len(cut.rows[-1])
        below = _Cut(cut.separator, cut.quote, cut.rows, cut.ends, 1)
        if not below.is_even or any(map(_is_value, first)) or len(set(first)) < len(first):
            continue
        if _header([list(row) for row in cut.rows[1:]], title)[0] is not None:  # a title above the names
            continue
        if len(first) == width - 1 and width > 1 and all(first) and not any(row[-1].strip() for row in cut.rows[1:]):
            return below, [*first, ""]
        unclear = cut.open_quotes or any('"' in name for name in first)
        if len(first) == width - 1 and width > 2 and all(first) and not unclear:
            return below, ["row_names_" if "row_names" in first else "row_names", *first]
        if len(first) == width + 1 and not first[-1] and all(first[:-1]):
            return below, first[:-1]
        if len(first) == width + 1 > 3 and all(first):
            raise DataError(
                f"{title}: line {cut.ends[0]} names {len(first)} columns, and each record has {width} cells. Take the "
                "name out that has no column, or put its cells in."
            )
    return None


def _refuse_repetitions(names: Sequence[str], title: str) -> None:
    """Raise DataError for columns of the same name."""
    places: dict[str, list[str]] = {}
    for place, name in enumerate(names, start=1):
        places.setdefault(name, []).append(str(place))
    twice = [f"{one_line(name)} (columns {', '.join(at)})" for name, at in places.items() if name and len(at) > 1]
    if twice:
        raise DataError(
            f"{title}: several columns have the same name: {', '.join(twice)}. Give each a name of its own in the "
            "file's header."
        )


def _refuse_second_header(rows: Sequence[Sequence[str]], cut: _Cut, title: str) -> None:
    """Raise DataError where the first record is none: words in every cell, above columns of numbers."""
    if len(rows) < 4:
        return
    first, below = (
        [cell.strip() for cell in rows[0]],
        [[cell.strip() for cell in row if cell.strip()] for row in zip(*rows[1:], strict=False)],
    )
    if any(map(_is_value, first)):
        return
    over = [cell for cell, column in zip(first, below, strict=True) if cell and column and all(map(_is_value, column))]
    if len(over) > 1:
        line = cut.ends[cut.above + 1]
        raise DataError(
            f"{title}: line {line} holds words above {len(over)} columns of numbers: names in two lines, or units? Say "
            f"which line names the columns (--header-row {line}), or take the other out."
        )


def _cut_of(lines: Sequence[str], title: str, separator: str | None) -> _Cut:
    signs = [separator] if separator else [sign for sign in SEPARATORS if any(sign in line for line in lines)]
    cuts = [_best_quote(lines, sign, title) for sign in signs]
    even = [cut for cut in cuts if cut.is_even]
    if not even:
        even = [below for cut in cuts if (below := _below_title(cut)) is not None and not below.cuts_quoted]
    even = _without_marks_in_numbers(even)
    even = [cut for cut in even if cut.separator != " " or (len(even) == 1 and _are_words(cut, lines))]
    if len(even) == 1:
        return even[0]
    if even:
        found = ", ".join(f"the {SEPARATORS[cut.separator]} ({cut.width} columns)" for cut in even)
        raise DataError(f"{title}: more than one sign may be the separator: {found}. Name it (--separator).")
    if separator and cuts:
        return cuts[0]  # reading it says which line is broken
    return _one_column(lines, cuts, title)


def _one_column(lines: Sequence[str], cuts: Sequence[_Cut], title: str) -> _Cut:
    """The file as one column. Raises DataError where it seems to have several."""
    nearly = [cut for cut in cuts if cut.width > 1 and cut.usual[1] >= _NEARLY * len(cut.rows) and len(cut.rows) > 2]
    nearly = [cut for cut in nearly if cut.separator != " "]
    if nearly:
        cut = max(nearly, key=lambda cut: cut.usual[1])
        broken = [at for at, row in enumerate(cut.rows) if len(row) != cut.width]
        line = cut.ends[broken[0]]
        if len(cut.rows) - broken[0] == len(broken):
            raise DataError(
                f"{title}: the lines from {line} to the end have another number of cells than the {broken[0]} above, "
                f"{cut.width}, if the {SEPARATORS[cut.separator]} is the separator. Take notes and totals out."
            )
        raise DataError(
            f"{title}: line {line} has another number of cells than {cut.usual[1]} of {len(cut.rows)} lines, "
            f"{cut.width}, if the {SEPARATORS[cut.separator]} is the separator. Is every quote closed, and each cell "
            "quoted that holds the separator?"
        )
    first = next(line for line in lines if line.strip())
    lengths = {len(line.rstrip("\r\n")) for line in lines[:-1]}
    if len(lengths) == 1 and max(lengths) >= _FIXED and any(sign.isdigit() for sign in first):
        raise DataError(
            f"{title}: all lines have {max(lengths)} signs and no separator: of fixed width. Name a layout, which says "
            "where each column stands (--layout)."
        )
    if _are_in_columns(lines):
        raise DataError(
            f"{title}: several blanks stand between the cells of each line, and the cells hold blanks, too. Name a "
            "layout, which says where each column stands (--layout)."
        )
    likely = [sign for sign in ";\t|,^~" if sign in first]
    if likely:
        sign = max(likely, key=first.count)
        raise DataError(
            f"{title}: by no separator all lines have as many cells. The first line holds {first.count(sign)} times "
            f"the {SEPARATORS[sign]}, {sign!r}: is it the separator? Name it, and reading says which line is broken "
            "(--separator). Where each line is a set, such as a basket, it belongs into one cell: "
            "docs/sets-of-items.md."
        )
    kept = [(line.strip(), number) for number, line in enumerate(lines, start=1) if line.strip()]
    quoted = '"' if all(cell.count('"') in (0, 2) for cell, _ in kept) else None
    return _Cut(
        ",", quoted, [[cell.strip('"') if quoted else cell] for cell, _ in kept], [number for _, number in kept]
    )


def _are_in_columns(lines: Sequence[str]) -> bool:
    """Whether words stand apart by several blanks in the first line and in nearly all others, with numbers."""
    kept = [line.rstrip("\r\n") for line in lines if line.strip()]
    gaps = [re.search(r"\S {2,}\S", line) is not None for line in kept]
    numbers = sum(re.search(r"\d", line) is not None for line in kept[1:])
    return len(kept) > 3 and gaps[0] and min(sum(gaps[1:]), numbers) >= _NEARLY * (len(kept) - 1)


def _best_quote(lines: Sequence[str], separator: str, title: str) -> _Cut:
    """The lines cut by a separator, with the quote by which that goes best."""
    plain = _plainly_cut(lines, separator)
    _refuse_quotes_behind_blanks(lines, plain, title)
    begin = {mark: any(cell[:1] == mark for row in plain.rows for cell in map(str.strip, row)) for mark in "\"'"}
    for mark in (each for each, begins in begin.items() if begins):
        quoted = _cut(lines, separator, mark)
        if quoted is None or not (quoted.is_even or _below_title(quoted)):
            continue
        if plain.is_even and (quoted.spans_lines or (mark == "'" and not _are_wrapped(plain.rows, mark))):
            if quoted.spans_lines and mark == '"':
                raise DataError(
                    f"{title}: the quote may stand around cells with line breaks, or mean nothing. Mend it."
                )
            continue
        return quoted
    if begin['"'] and (not plain.is_even or _are_wrapped(plain.rows, '"')) and any('\\"' in line for line in lines):
        cut = _cut(lines, separator, '"', escaped=True)
        if cut is not None and cut.is_even:
            raise DataError(
                f"{title}: quotes within quoted cells have a backslash before them, which is not read. Write each of "
                'them twice, "" in place of \\".'
            )
    return _Cut(separator, None if begin['"'] else '"', plain.rows, plain.ends)


def _refuse_quotes_behind_blanks(lines: Sequence[str], plain: _Cut, title: str) -> None:
    """Raise DataError where blanks stand between separators and the quotes around cells."""
    sign = plain.separator
    if not any(' "' in line for line in lines):
        return
    behind = [at for at, row in enumerate(plain.rows) if any(re.match(' +"', cell) for cell in row[1:])]
    if sign == " " or not behind:
        return
    cut = _cut(lines, sign, '"')
    close = _cut(lines, sign, '"', blanks=True)
    if close is None or not close.is_even or (cut is not None and cut.stripped == close.stripped):
        return
    raise DataError(
        f"{title}: line {plain.ends[behind[0]]}: a blank stands between the {SEPARATORS.get(sign, repr(sign))} and a "
        "quote, so the quote encloses no cell. Take such blanks out."
    )


def _are_wrapped(rows: Sequence[Sequence[str]], mark: str) -> bool:
    """Whether each cell that begins with the mark ends with it, too."""
    cells = [cell.strip() for row in rows for cell in row if cell.strip()[:1] == mark]
    return all(len(cell) > 1 and cell[-1] == mark for cell in cells)


def _plainly_cut(lines: Sequence[str], separator: str) -> _Cut:
    kept = [(line, number) for number, line in enumerate(lines, start=1) if line.strip(" \r\n")]
    cells = [line.rstrip("\r\n").split(separator) for line, _ in kept]
    return _Cut(separator, None, cells, [number for _, number in kept])


def _cut(lines: Sequence[str], separator: str, quote: str, escaped: bool = False, blanks: bool = False) -> _Cut | None:
    """None where a quote is not closed, or something stands between it and the separator.

    escaped : quotes within cells have a backslash before them, and do not stand twice
    blanks  : may stand before quoted cells
    """
    rows, ends = [], []
    escape = "\\" if escaped else None
    reader = csv.reader(
        lines, delimiter=separator, quotechar=quote, strict=True, doublequote=not escaped, escapechar=escape,
        skipinitialspace=blanks,
    )  # fmt: skip
    try:
        for row in reader:
            if len(row) > 1 or (row and row[0].strip(" ")):
                rows.append(row)
                ends.append(reader.line_num)
    except csv.Error:
        return None
    return _Cut(separator, quote, rows, ends) if rows else None


def _are_words(cut: _Cut, lines: Sequence[str]) -> bool:
    """Whether a blank stands between all cells, and none is empty, as it would be in columns of fixed width."""
    lengths = {len(line) for line in lines[:-1]}
    return len(lengths) > 1 and all(cell for row in cut.rows[cut.above :] for cell in row)


def _below_title(cut: _Cut) -> _Cut | None:
    """The same without the lines above the table, where there are some and all below have as many cells."""
    width = len(cut.rows[-1])
    first = next((place for place in range(len(cut.rows), 0, -1) if len(cut.rows[place - 1]) != width), 0)
    if width < 2 or not 0 < first <= min(_MOST_ABOVE, len(cut.rows) - 2):
        return None
    if any(len(row) == width for row in cut.rows[:first]):  # no title, but a line that is broken
        return None
    return _Cut(cut.separator, cut.quote, cut.rows, cut.ends, first)


def _without_marks_in_numbers(cuts: Sequence[_Cut]) -> list[_Cut]:
    """Without those whose separator only stands between digits, where another does not: 1,5 and 12:30."""

    def in_numbers(cut: _Cut) -> bool:
        joined = (cut.separator.join(row) for row in cut.rows[cut.above :])
        mark = re.escape(cut.separator)
        return all(re.search(rf"(?<!\d){mark}|{mark}(?!\d)", line) is None for line in joined)

    inside = [cut for cut in cuts if cut.separator in ",:" and in_numbers(cut)]
    return [cut for cut in cuts if cut not in inside] or list(cuts)


def _header(rows: list[list[str]], title: str) -> tuple[list[str] | None, list[list[str]]]:
    """The names of the columns, None where the first row is a record; and the records."""
    rows = [[cell.strip() for cell in row] for row in rows]
    first, others = rows[0], rows[1:]
    below = [[row[place] for row in others if row[place] and row != first] for place in range(len(first))]
    # A day above other things than days is the name of a column, in a table that has one for each day; so are years.
    years = _years_in_a_row(first, below)
    above_values = any(
        name and not _is_value(name) and column and all(map(_is_value, column))
        for name, column in zip(first, below, strict=True)
    )
    are_names = (
        (bool(column) and ((_is_day(cell) and not any(map(_is_day, column))) or cell in years))
        or (above_values and cell in MISSING_MARKS)  # a column called NA, or null, beside others with names
        for cell, column in zip(first, below, strict=True)
    )
    if any(_is_value(cell) and not is_name for cell, is_name in zip(first, are_names, strict=True)):
        return None, rows
    if any(column and all(map(_is_value, column)) for column in below):  # names above values
        if first in others:
            raise DataError(f"{title}: the line with the names of the columns occurs again. Remove the repetitions.")
        return first, others
    again = first in others or any(name in column for name, column in zip(first, below, strict=True) if name)
    return (None, rows) if again else (first, others)


def _years_in_a_row(first: Sequence[str], below: Sequence[Sequence[str]]) -> set[str]:
    """The years among the cells of a first line that is one of names: each cell is above other values than itself."""
    if any(cell in column for cell, column in zip(first, below, strict=True)):
        return set()
    return {cell for cell in first if re.fullmatch(_YEAR, cell)} if names_years(first) else set()


def names_years(names: Sequence[str]) -> bool:
    """Whether names that are values are years, one after the other at the same distance, beside at least one word."""
    values = [name for name in names if _is_value(name)]
    years = [int(name) for name in values if re.fullmatch(_YEAR, name)]
    steps = {later - earlier for earlier, later in pairwise(years)}
    words = [name for name in names if name and name not in values]
    return len(years) == len(values) > 1 and len(steps) == 1 and steps != {0} and bool(words)


def _is_value(cell: str) -> bool:
    """Whether it is a number, day or mark for missing, as no name of a column is."""
    number = f"{NUMBER}|{LEADING_ZERO}|[+-]?[0-9]*,[0-9]+"
    return re.fullmatch(number, cell) is not None or cell in MISSING_MARKS or _is_day(cell)


def _is_day(cell: str) -> bool:
    """Whether it is a date, in the digits of any order."""
    return any(re.fullmatch(form, cell) for form in (DATE, _DAY))

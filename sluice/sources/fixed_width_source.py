"""A text whose columns have fixed places, which a layout names: one of mu-ARGUS (.rda), or a CSV of columns.

The CSV has the columns name, start (from 1), length, and perhaps missing (codes with blanks between) and label. The
other form has a line a variable, with name, start, length and missing codes, and lines in angle brackets that say more
of it (user's manual of mu-ARGUS). Where it has <SEPARATOR>, there are no starts: it is of a CSV file without header.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import ClassVar, Literal

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, field_validator

from sluice.ground.errors import DataError
from sluice.ground.visible_text import Name, unseen
from sluice.sources.csv_source import known_encoding
from sluice.sources.packed_file import unpacked
from sluice.sources.tabular_source import ColumnDescription, Descriptions, FileSource, missing_file, mostly_expected

_LARGEST = 4 << 20
_ROLES = {
    "WEIGHT": "weight",
    "HOUSE_ID": "household",
}
_KNOWN = re.compile(r"<[A-Z_]+>")


@dataclass(frozen=True)
class Place:
    """One column, and the layout's line that names it: the signs from `start` (1 is the first) on; 0 in a file with
    separators."""

    name: str
    start: int
    length: int
    said: ColumnDescription
    line: int
    code_list: str = ""  # name of a file beside the layout

    @property
    def end(self) -> int:
        return self.start + self.length - 1


@dataclass(frozen=True)
class Layout:
    """All columns, in their order; with the separator of a file that has one."""

    places: tuple[Place, ...]
    separator: str = ""

    def described(self, folder: Path) -> Descriptions:
        """What the layout says of each column, with the labels of code lists that lie in its folder."""
        return {place.name: _with_labels(place, folder) for place in self.places}


def read_layout(path: Path) -> Layout:
    """The layout in a file. Raises DataError, which names its line, where it is none, or its columns overlap."""
    lines = _lines(path)
    first = next((line for line in lines if line.strip()), "")
    layout = _of_table(lines, path) if _is_table(first) else _of_argus(lines, path)
    names = [place.name for place in layout.places]
    if not names:
        raise DataError(f"{path}: names no column. A layout has name, start and length of each.")
    # By its lines: a file of records can be named as a layout, and no cell of it is repeated.
    if twice := [str(place.line) for place in layout.places if names.count(place.name) > 1]:
        raise DataError(f"{path}: column named twice: see lines {', '.join(twice[:5])}")
    in_order = sorted(layout.places, key=lambda place: place.start)
    for one, other in pairwise(in_order):
        if not layout.separator and one.end >= other.start:
            raise DataError(f"{path}: the columns of lines {one.line} and {other.line} overlap")
    return layout


def is_layout(start: str) -> bool:
    """Whether a text begins as a layout of mu-ARGUS does."""
    lines = [line for line in start.splitlines() if line.strip()][:3]
    return len(lines) > 1 and any(_KNOWN.match(line.strip()) for line in lines)


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        raise missing_file(path)
    content = path.read_bytes()[: _LARGEST + 1]
    if len(content) > _LARGEST or b"\0" in content:
        raise DataError(f"{path}: is not a layout, which is a short text")
    try:
        return content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        return content.decode("latin-1").splitlines()


def _is_table(first: str) -> bool:
    return {"name", "start", "length"} <= set(re.split(r"[,;\t|]", first.lower().replace(" ", "").replace('"', "")))


def _of_table(lines: Sequence[str], path: Path) -> Layout:
    first = next(line for line in lines if line.strip())
    separator = max(",;\t|", key=first.count)
    places = []
    for number, row in enumerate(csv.DictReader(lines, delimiter=separator, skipinitialspace=True), start=2):
        cells = {(name or "").strip().lower(): (cell or "").strip() for name, cell in row.items() if name is not None}
        places.append(
            _place(
                [cells["name"], cells["start"], cells["length"], *cells.get("missing", "").split()],
                path,
                number,
                cells.get("label", ""),
            )
        )
    return Layout(tuple(places))


def _of_argus(lines: Sequence[str], path: Path) -> Layout:
    separator, places = "", list[Place]()
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text:
            continue
        if not text.startswith("<"):
            words = [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', text)]
            places.append(_place([words[0], "0", *words[1:]] if separator else words, path, number))
            continue
        sign, _, value = text.partition(">")
        value = value.strip().strip('"')
        if sign == "<SEPARATOR":
            separator = value or ","
        elif places:
            places[-1] = _with_sign(places[-1], sign[1:], value)
    return Layout(tuple(places), separator)


def _place(words: Sequence[str], path: Path, line: int, label: str = "") -> Place:
    """Name, start, length and missing codes."""
    where = f"{path}: line {line}"
    if len(words) < 3 or not all(re.fullmatch("[0-9]{1,9}", word) for word in words[1:3]) or not int(words[2]):
        raise DataError("wanted a name, the start and the length of a column, as in AGE 6 2", field=where)
    if not words[0] or unseen(words[0], one_line=True):
        raise DataError("the name of a column is empty, or holds signs that nobody sees", field=where)
    missing = tuple(dict.fromkeys(words[3:]))
    return Place(words[0], int(words[1]), int(words[2]), ColumnDescription(label=label, missing_codes=missing), line)


def _with_sign(place: Place, sign: str, value: str) -> Place:
    said = place.said
    if sign == "CODELIST":
        return replace(place, code_list=value)
    if sign == "RECODABLE":
        said = said.model_copy(update={"measure": "nominal"})
    elif sign == "NUMERIC":
        said = said.model_copy(update={"measure": "scale"})
    elif sign in _ROLES or (sign == "IDLEVEL" and value.isdecimal() and int(value)):
        said = said.model_copy(update={"role": _ROLES.get(sign, "quasi_identifier")})
    return replace(place, said=said)


def _with_labels(place: Place, folder: Path) -> ColumnDescription:
    """With the labels of its code list: a code, a comma and a meaning a line, in a file beside the layout."""
    if not place.code_list or Path(place.code_list).name != place.code_list:
        return place.said
    wanted = place.code_list.casefold()
    found = next((each for each in sorted(folder.iterdir()) if each.name.casefold() == wanted and each.is_file()), None)
    if found is None or found.is_symlink():
        return place.said
    labels = {}
    for line in _lines(found):
        code, separator, label = line.partition(",")
        if separator and code.strip():
            labels[code.strip()] = label.strip()
    return place.said.model_copy(update={"labels": labels})


class FixedWidthSource(FileSource):
    """A record a line; each cell without the blanks around it. Numbers are read as they stand: no decimals are implied.

    A gzip file, or a zip archive of one file, is unpacked on the way.
    """

    path_fields: ClassVar[tuple[str, ...]] = ("path", "layout")
    trims_texts: ClassVar[bool] = True
    type: Literal["fixed_width"] = "fixed_width"
    layout: Name = Field(description="file that says where the columns stand: of mu-ARGUS (.rda), or a CSV with the "
                         "columns name, start, length, missing, label")  # fmt: skip
    encoding: str = Field(default="utf-8", description="utf-8, latin-1, cp1252, ...")
    decimal: Literal[".", ","] = Field(default=".", description="sign before a number's decimals")

    _known = field_validator("encoding")(known_encoding)

    @property
    def decimal_mark(self) -> str:
        return self.decimal

    def described(self) -> Descriptions:
        return self._layout().described(Path(self.layout).parent)

    def _layout(self) -> Layout:
        layout = read_layout(Path(self.layout))
        if layout.separator:
            raise DataError(f"{self.layout}: is of a file with separators, {layout.separator!r}: name it as type: csv")
        if any(not place.start for place in layout.places):
            raise DataError(f"{self.layout}: a column starts at 0; the first sign of a line is 1")
        return layout

    def _names(self, expected: Sequence[str]) -> list[str]:
        return [place.name for place in self._layout().places]

    def _are_names(self, names: Sequence[str], expected: Sequence[str]) -> bool:
        """What is named as a layout may be a file of records, which some are read as: no cell of it is repeated."""
        return mostly_expected(names, expected)

    def _tables(self, columns: Sequence[str], expected: Sequence[str], size: int) -> Iterator[pa.Table]:
        layout = self._layout()
        by_name = {place.name: place for place in layout.places}
        least, number = max(place.end for place in layout.places), 0
        try:
            with unpacked(Path(self.path), lines=True) as file:
                lines = io.TextIOWrapper(file, encoding="utf-8-sig" if self.encoding == "utf-8" else self.encoding)
                while block := list(islice(lines, size)):
                    texts = pc.utf8_rtrim(pa.array(block, pa.string()), characters="\n")
                    blank = pc.equal(pc.utf8_trim_whitespace(texts), "")
                    short = pc.and_not(pc.less(pc.utf8_length(texts), least), blank)
                    if (first := pc.index(short, pa.scalar(True)).as_py()) >= 0:
                        raise DataError(
                            f"{self.path}: line {number + first + 1} has {len(texts[first].as_py())} signs; the layout "
                            f"asks for {least} at least. Is it the layout of this file?"
                        )
                    texts = texts.filter(pc.invert(blank))
                    cells = [pc.utf8_slice_codeunits(texts, by_name[n].start - 1, by_name[n].end) for n in columns]
                    yield pa.table([pc.utf8_trim_whitespace(each) for each in cells], names=list(columns))
                    number += len(block)
        except UnicodeError:
            raise DataError(
                f"{self.path}: is not {self.encoding}, after line {number}. Is it latin-1 or cp1252?"
            ) from None

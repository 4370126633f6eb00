"""Where the columns of a file of fixed width stand: a layout of mu-ARGUS (.rda), or a CSV of columns.

The CSV has the columns name, start (from 1), length, and perhaps missing (codes with blanks between) and label. The
other form has a line a variable, with name, start, length and missing codes, and lines in angle brackets that say more
of it (user's manual of mu-ARGUS). Where it has <SEPARATOR>, there are no starts: it is of a CSV file without header.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from sluice.ground.errors import DataError
from sluice.ground.visible_text import unseen
from sluice.sources.description import ColumnDescription, Descriptions
from sluice.sources.tabular_source import missing_file

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
        raise DataError(f"{path}: is no layout, which is a short text")
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

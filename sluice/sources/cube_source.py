"""Tables as offices publish them on their web pages: files of PC-Axis (.px), and JSON-stat 1 and 2. They hold a value
for each combination of codes, in a fixed order; here they are rows of codes with a column `value`.

Where a value is missing, `value` has the mark that stands in its place, as a CSV file would. Sources: PX-file format
specification 2013 (Statistics Sweden), sections on STUB, HEADING, CODES, DATASYMBOL and DATA; JSON-stat 2.0.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from sluice.ground.errors import DataError
from sluice.ground.values import label as text_of
from sluice.sources.tabular_source import FileSource, missing_file
from sluice.sources.text_encoding import encoding_of

VALUE, STATUS = "value", "status"
_LARGEST = 256 << 20  # bytes
_MOST_CELLS = 10_000_000  # JSON-stat may list a few of them, and its dimensions ask for all
_KEYWORD = re.compile(r'\s*([A-Z][A-Z0-9-]*)(?:\[\w+\])?(?:\(((?:"[^"]*"\s*,?\s*)+)\))?\s*=')
_QUOTED = re.compile(r'"([^"]*)"')
_DATUM = re.compile(r'"[^"]*"|[^\s,;"]+')


@dataclass(frozen=True)
class Cube:
    """Dimensions with their codes, the last of which runs fastest; a value for each combination, None where the file
    lists none.

    status : what the file says of values that are there, or an empty text; None where it says nothing of any
    """

    dimensions: Mapping[str, Sequence[str]]
    values: Sequence[str | None]
    status: Sequence[str] | None = None

    def columns(self) -> dict[str, list[str]]:
        """A list for each dimension, one of the values, and one of their status."""
        there = [at for at, value in enumerate(self.values) if value is not None]
        combinations = list(product(*self.dimensions.values()))
        found = {name: [combinations[at][axis] for at in there] for axis, name in enumerate(self.dimensions)}
        told = {} if self.status is None else {STATUS: [self.status[at] for at in there]}
        return {**found, VALUE: [self.values[at] or "" for at in there], **told}


class CubeSource(FileSource):
    """One such file; for tables that are audited, not for releases."""

    type: Literal["cube"] = "cube"

    @cached_property
    def cube(self) -> Cube:
        """What the file holds. Raises DataError."""
        path = Path(self.path)
        if not path.is_file():
            raise missing_file(path)
        if path.stat().st_size > _LARGEST:
            raise DataError(f"{path}: has more than {_LARGEST >> 20} MiB; save fewer cells")
        text = _text(path)
        try:
            made = _of_json(json.loads(text)) if text.lstrip()[:1] == "{" else _of_px(text)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
            raise DataError(f"{path}: cannot be read as a table of PC-Axis or JSON-stat; it may be damaged") from None
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
        wanted = prod(map(len, made.dimensions.values()))
        if not made.dimensions or len(made.values) != wanted:
            raise DataError(f"{path}: has {len(made.values):,} values; its dimensions ask for {wanted:,}")
        for name in (VALUE, *([] if made.status is None else [STATUS])):
            if name in made.dimensions:
                raise DataError(f"{path}: a dimension is called '{name}'; save it with another name")
        return made

    def _names(self, expected: Sequence[str]) -> list[str]:
        return [*self.cube.dimensions, VALUE, *([] if self.cube.status is None else [STATUS])]

    def _tables(self, columns: Sequence[str], expected: Sequence[str], size: int) -> Iterator[pa.Table]:
        held = self.cube.columns()
        yield pa.table({name: pa.array(held[name], pa.string()) for name in columns})


def is_cube(path: Path) -> bool:
    """Whether a file is of PC-Axis by its ending, or of JSON-stat by what it begins with."""
    if path.suffix.lower() == ".px":
        return True
    if path.suffix.lower() not in (".json", ".jsonstat") or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{"


def _text(path: Path) -> str:
    content = path.read_bytes()
    told = re.search(rb'CODEPAGE\s*=\s*"([\w-]{1,20})"', content[:2000])
    try:
        return content.decode(told[1].decode() if told else encoding_of(path)).lstrip("\ufeff")
    except (UnicodeDecodeError, LookupError):
        raise DataError(f"{path}: cannot be decoded; save it as UTF-8") from None


def _of_px(text: str) -> Cube:
    said: dict[tuple[str, str], str] = {}
    place = 0
    while (found := _KEYWORD.match(text, place)) is not None:
        ends = _end(text, found.end())
        of = _QUOTED.findall(found[2] or "")
        said.setdefault((found[1], of[0] if of else ""), text[found.end() : ends])  # the first language counts
        place = ends + 1
    if any(keyword == "KEYS" for keyword, _ in said):
        raise DataError("lists cells by KEYS, which is not read; save it with all cells")
    names = [name for where in ("STUB", "HEADING") for name in _QUOTED.findall(said.get((where, ""), ""))]
    dimensions = {name: _QUOTED.findall(said.get(("CODES", name)) or said["VALUES", name]) for name in names}
    marks = {"." * at: _joined(said.get((f"DATASYMBOL{at}", ""), "")) for at in range(1, 7)}
    marks["-"] = _joined(said.get(("DATASYMBOLNIL", ""), ""))
    values = [each.strip('"') for each in _DATUM.findall(said["DATA", ""])]
    return Cube(dimensions, [marks.get(each) or each for each in values])


def _end(text: str, start: int) -> int:
    """Where a statement ends: at the next semicolon outside quotes."""
    place = start
    while True:
        ends, quote = text.find(";", place), text.find('"', place)
        if ends < 0 or not 0 <= quote < ends:
            return ends if ends >= 0 else len(text)
        place = text.index('"', quote + 1) + 1


def _joined(written: str) -> str:
    return "".join(_QUOTED.findall(written))


def _of_json(read: Any) -> Cube:
    if read.get("class", "dataset") != "dataset":
        raise DataError(f"is a {read['class']} of JSON-stat; save one data set")
    if "dataset" in read:
        read = read["dataset"]
    elif "dimension" not in read:
        if len(read) != 1:
            raise DataError(f"holds {len(read)} data sets; save one")
        (read,) = read.values()
    listed = read["dimension"]
    names, sizes = (read.get(key) or listed[key] for key in ("id", "size"))
    dimensions = {name: _codes(listed[name].get("category", {})) for name in names}
    if [len(codes) for codes in dimensions.values()] != list(sizes):
        raise DataError("has other numbers of categories than its sizes say")
    if (count := prod(sizes)) > _MOST_CELLS:
        raise DataError(
            f"has {count:,} cells by its dimensions; at most {_MOST_CELLS:,} are read. Save fewer categories"
        )
    values, status = read["value"], read.get("status")
    if isinstance(status, str):
        status = [status] * count
    told = ["" if _entry(values, at) is None else str(_entry(status, at) or "") for at in range(count)]
    return Cube(dimensions, [_value(values, status, at) for at in range(count)], told if any(told) else None)


def _codes(category: Mapping[str, Any]) -> list[str]:
    index = category.get("index")
    if isinstance(index, Mapping):
        return sorted(index, key=lambda code: int(index[code]))
    return list(map(str, index if index is not None else category.get("label", {"": ""})))


def _value(values: Any, status: Any, at: int) -> str | None:
    """A value; where there is none, its status, or an empty text; None where a list of single cells lacks it."""
    said = _entry(status, at)
    value = _entry(values, at)
    if value is not None:
        return text_of(value)
    if said is None and isinstance(values, Mapping) and str(at) not in values:
        return None
    return "" if said is None else str(said)


def _entry(entries: Any, at: int) -> Any:
    if isinstance(entries, Mapping):
        return entries.get(str(at))
    return entries[at] if entries is not None else None

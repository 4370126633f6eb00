"""What a text file is: its encoding, separator, quote, decimal mark and header, or the layout that says so."""

import codecs
import csv
from pathlib import Path

from sluice.ground.errors import DataError
from sluice.ground.visible_text import one_line
from sluice.sources.csv_shape import SEPARATORS, decimal_of, shape_of
from sluice.sources.csv_source import CsvSource
from sluice.sources.fixed_width_layout import is_layout, read_layout
from sluice.sources.fixed_width_source import FixedWidthSource
from sluice.sources.packed_file import unpacked
from sluice.sources.recognised import Recognised
from sluice.sources.text_encoding import encoding_of
from sluice.sources.unreadable_formats import OF_TEXT

_SAMPLE = 1 << 20  # bytes by which the shape is found; the encoding is found in all of them


def recognised_text(
    path: Path, start: bytes, packed: str, separator: str | None, decimal: str | None, encoding: str | None
) -> Recognised:
    begins = start.lstrip(codecs.BOM_UTF8).lstrip().lower()
    for beginning, found in OF_TEXT.items():
        if begins.startswith(beginning.encode()) and not begins.startswith(b"[]"):
            raise DataError(f"{path}: is {found[0]}, which is not read; {found[1]}")
    if is_layout(start.decode("latin-1")):
        raise DataError(f"{path}: is a layout of mu-ARGUS. Name the file of the records, and this one with --layout.")
    beside = path.with_suffix(".rda")
    if beside.is_file() and beside != path and is_layout(_first_bytes(beside).decode("latin-1")):
        raise DataError(f"{path}: a layout of mu-ARGUS lies beside it: name it, too (--layout {one_line(beside.name)})")
    encoding = encoding or encoding_of(path)
    text = _sample(path, encoding)
    shape = shape_of(text, str(path), separator, decimal)
    source = CsvSource(
        path=(str(path),),
        separator=shape.separator,
        quote=shape.quote,
        header=shape.header,
        decimal=shape.decimal,
        skip_lines=shape.skip_lines,
        line_breaks=shape.line_breaks,
        encoding=encoding,
    )
    names = source.column_names()
    title = f"text with {len(names)} columns" if len(names) > 1 else "text with one column"
    says = [
        f"{title}, separated by {SEPARATORS.get(shape.separator, repr(shape.separator))} in {encoding}"
        f"{', packed by ' + packed if packed else ''}",
        f"numbers have a decimal {'comma' if shape.decimal == ',' else 'point'}",
    ]
    if not shape.header:
        says.append(
            f"the first line holds a value, not names: the columns are called {names[0]} to {names[-1]}. Name them: "
            "--columns A,B,... of sluice init, 'columns' of the source in a definition"
        )
    if shape.quote != '"':
        says.append("quotes have no meaning" if shape.quote is None else f"cells may be quoted by {shape.quote}")
    if shape.line_breaks:
        says.append("quoted cells hold line breaks")
    return Recognised(source, (*says, *shape.says))


def _sample(path: Path, encoding: str) -> str:
    """The first lines of a text, all of them where it is short, each with a line feed at its end."""
    with unpacked(path, lines=True) as file:
        sample = file.read(_SAMPLE)
        whole = not file.read(1)
    try:
        text = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)().decode(sample, whole)
    except (UnicodeDecodeError, LookupError):
        raise DataError(f"{path}: is not {encoding}. Leave the encoding out, or name another.") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if whole else text[: text.rfind("\n") + 1]


def recognised_by_layout(path: Path, layout: Path, decimal: str | None, encoding: str | None) -> Recognised:
    """A text whose columns a layout names, with separators or at fixed places."""
    encoding = encoding or encoding_of(path)
    found = read_layout(layout)
    names = [place.name for place in found.places]
    lines = [line for line in _sample(path, encoding).splitlines() if line.strip()]
    if found.separator:
        cells = [row for row in csv.reader(lines, delimiter=found.separator) if len(row) == len(names)]
    else:
        cells = [[line[place.start - 1 : place.end].strip() for place in found.places] for line in lines]
    codes = [place.said.missing_codes for place in found.places]
    known = [["" if cell in missing else cell for cell, missing in zip(row, codes, strict=True)] for row in cells]
    mark, says = decimal_of(known, names, "", str(path), decimal)
    says = (f"numbers have a decimal {'comma' if mark == ',' else 'point'}", *says)
    if found.separator:
        told = f"text with {len(names)} columns by a layout, separated by {found.separator!r} in {encoding}"
        source = CsvSource(
            path=(str(path),), separator=found.separator, header=False, columns=tuple(names), decimal=mark,
            encoding=encoding,
        )  # fmt: skip
        return Recognised(source, (told, *says), found.described(layout.parent))
    told = f"text of fixed width with {len(names)} columns by a layout, in {encoding}"
    fixed = FixedWidthSource(path=str(path), layout=str(layout), decimal=mark, encoding=encoding)
    return Recognised(fixed, (told, *says))


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4096)

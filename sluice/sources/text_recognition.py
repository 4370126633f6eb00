"""Recognising a text file: its encoding, separator, quote, decimal mark and header, or the layout that names them.

Also the formats that are not read, each by its first bytes, with what to do instead.
"""

import codecs
import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from os.path import relpath
from pathlib import Path
from typing import Any

from sluice.ground.errors import DataError
from sluice.ground.visible_text import one_line
from sluice.sources.csv_shape import SEPARATORS, shape_of
from sluice.sources.csv_source import CsvSource
from sluice.sources.decimal_mark import decimal_of
from sluice.sources.fixed_width_source import FixedWidthSource, is_layout, read_layout
from sluice.sources.packed_file import unpacked
from sluice.sources.sources import DatabaseFile
from sluice.sources.tabular_source import Descriptions, FileSource, TabularSource
from sluice.sources.text_encoding import encoding_of

_ALWAYS_WRITTEN = {"type", "path", "separator", "decimal", "encoding", "quote", "header", "sheet", "header_row"}


@dataclass(frozen=True)
class Recognised:
    """A file, ready to be read.

    source : as a release definition names it
    says   : what was found, a sentence each
    said   : what a layout says of the columns of a CSV file
    """

    source: FileSource | CsvSource | DatabaseFile
    says: tuple[str, ...]
    said: Descriptions = field(default_factory=dict)

    @property
    def records(self) -> TabularSource:
        """What reads the records."""
        if not isinstance(self.source, DatabaseFile):
            return self.source
        from sluice.sources.permission import file_url
        from sluice.sources.sql_source import SqlSource

        return SqlSource(url=file_url(self.source, Path(self.source.path)), table=self.source.table)

    def described(self) -> Descriptions:
        """What the file says of its columns."""
        return self.source.described() if isinstance(self.source, FileSource) else self.said

    def written(self, base: Path) -> dict[str, Any]:
        """The source for a release definition in the folder `base`, with all that was found."""
        found = self.source.model_dump(mode="json")
        default = self.source.model_dump(mode="json", exclude_defaults=True)
        kept = {name: value for name, value in found.items() if name in default or name in _ALWAYS_WRITTEN}
        kept["path"] = relpath(self.source.files[0] if isinstance(self.source, CsvSource) else self.source.path, base)
        kept |= {"layout": relpath(layout, base)} if (layout := kept.get("layout")) else {}
        return {"type": kept.pop("type"), **kept}


_LONE_RETURN = re.compile(r"\r(?!\r*\n)")
_QUOTED = re.compile(rf"(?<![^{re.escape(''.join(SEPARATORS))}\r\n])\"(?:[^\"]|\"\")*\"")
_SAMPLE = 1 << 20  # bytes by which the shape is found; the encoding is found in all of them


def recognised_text(
    path: Path,
    start: bytes,
    packed: str,
    separator: str | None,
    decimal: str | None,
    encoding: str | None,
    header_row: int | None = None,
) -> Recognised:
    begins = start.lstrip(codecs.BOM_UTF8).lstrip().lower()
    for beginning, found in OF_TEXT.items():
        if begins.startswith(beginning.encode()) and not begins.startswith(b"[]"):
            raise DataError(f"{path}: is {found[0]}, which is not read; {found[1]}")
    if path.suffix.lower() in (".yaml", ".yml") and separator is None:
        raise DataError(f"{path}: is a document by its ending. Name the file of the records.")
    if is_layout(start.decode("latin-1")):
        raise DataError(f"{path}: is a layout of mu-ARGUS. Name the file of the records, and this one with --layout.")
    beside = path.with_suffix(".rda")
    if beside.is_file() and beside != path and is_layout(_first_bytes(beside).decode("latin-1")):
        raise DataError(f"{path}: a layout of mu-ARGUS lies beside it: name it, too (--layout {one_line(beside.name)})")
    text, encoding = _sample(path, encoding)
    shape = shape_of(text, str(path), separator, decimal, header_row)
    source = CsvSource(
        path=(str(path),),
        separator=shape.separator,
        quote=shape.quote,
        header=shape.header,
        columns=shape.columns,
        decimal=shape.decimal,
        skip_lines=shape.skip_lines,
        comment=shape.comment,
        aligned=shape.aligned,
        line_breaks=shape.line_breaks,
        encoding=encoding,
    )
    names = source.column_names()
    if not names:
        raise DataError(f"{path}: no column has a name. Name them (--columns A,B,...)")
    title = f"text with {len(names)} columns" if len(names) > 1 else "text with one column"
    says = [
        f"{title}, separated by {SEPARATORS.get(shape.separator, repr(shape.separator))} in {encoding}"
        f"{', packed by ' + packed if packed else ''}",
        f"numbers have a decimal {'comma' if shape.decimal == ',' else 'point'}",
    ]
    if unread := source.left_out():
        says.append(f"not read, as they have no name: {', '.join(unread)}; --columns names all columns")
    if not shape.header and shape.columns is None:
        says.append(
            f"the first line holds a value, not names: the columns are called {names[0]} to {names[-1]}. Name them: "
            "--columns A,B,... of sluice init, 'columns' of the source in a definition"
        )
    if shape.quote != '"':
        says.append("quotes have no meaning" if shape.quote is None else f"cells may be quoted by {shape.quote}")
    if shape.line_breaks:
        says.append("quoted cells hold line breaks")
    return Recognised(source, (*says, *shape.says))


def _sample(path: Path, named: str | None) -> tuple[str, str]:
    """The first lines of a text, each with a line feed at its end; and its encoding, found where none is named."""
    encoding = named or encoding_of(path)
    with unpacked(path, lines=True) as file:
        sample = file.read(_SAMPLE)
        whole = not file.read(1)
    try:
        text = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)().decode(sample, whole)
    except (UnicodeDecodeError, LookupError):
        if named is None:
            says = f"begins as {encoding}, but is not all of it. Is it damaged? If not, name its encoding (--encoding)."
            raise DataError(f"{path}: {says}") from None
        raise DataError(f"{path}: is not {encoding}. Leave the encoding out, or name another.") from None
    _refuse_mixed_line_ends(path, text)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if whole else text[: text.rfind("\n") + 1], encoding


def _refuse_mixed_line_ends(path: Path, text: str) -> None:
    """Raise DataError for a carriage return outside quotes in a text whose lines end in line feeds."""
    if re.search(_LONE_RETURN, text) is None:
        return
    bare = re.sub(_QUOTED, lambda cell: "x" * len(cell[0]), text)
    if "\n" in bare and (lone := re.search(_LONE_RETURN, bare)) is not None:
        line = 1 + len(re.findall(r"\r\n|\r|\n", text[: lone.start()]))
        raise DataError(
            f"{path}: line {line} is cut by a carriage return, and other lines end in a line feed: is it a line break "
            "within a cell? Quote such cells, or write the file with line ends of one kind."
        )


def recognised_by_layout(path: Path, layout: Path, decimal: str | None, encoding: str | None) -> Recognised:
    """A text whose columns a layout names, with separators or at fixed places."""
    text, encoding = _sample(path, encoding)
    found = read_layout(layout)
    names = [place.name for place in found.places]
    lines = [line for line in text.split("\n") if line.strip()]
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


_EXPORT = "save the table as CSV, Excel (.xlsx) or Parquet in the program that wrote it"
_FROM_R = "in R: haven::write_dta(x, 'file.dta'), or arrow::write_parquet(x, 'file.parquet')"
_PICTURE = "it holds no records"

SIGNATURES: Mapping[bytes, tuple[str, str]] = {
    b"%PDF": ("a PDF document", _EXPORT),
    b"{\\rtf": ("an RTF document", _EXPORT),
    b"RDX2\n": ("an R workspace (.RData, .rda)", _FROM_R),
    b"RDX3\n": ("an R workspace (.RData, .rda)", _FROM_R),
    b"RDA2\n": ("an R workspace (.RData, .rda)", _FROM_R),
    b"RDA3\n": ("an R workspace (.RData, .rda)", _FROM_R),
    b"X\n\0\0\0": ("an R object (.rds)", _FROM_R),
    b"A\n2\n": ("an R object (.rds)", _FROM_R),
    b"A\n3\n": ("an R object (.rds)", _FROM_R),
    b"\x1c\0\0\0\0\0\0\0ENCRYPTEDSAV": ("an SPSS file with a password", "save it without one in SPSS"),
    b"**COMPRESSED** **COMPRESSED**": ("a SAS transport file of PROC CPORT", "write it with PROC COPY or as .sas7bdat"),
    b"PARE": ("an encrypted Parquet file", "write it without encryption"),
    b"FEA1": ("a Feather file of version 1", "write it as version 2 (Arrow) or Parquet"),
    b"\x89HDF\r\n": ("an HDF5 file", _EXPORT),
    b"MATLAB 5.0": ("a MATLAB file", "in MATLAB: writetable, or parquetwrite"),
    b"\x93NUMPY": ("a NumPy array", "write it as Parquet or CSV with the names of the columns"),
    b"\0\1\0\0Standard Jet DB": ("an Access database", "export the table as CSV or Excel"),
    b"\0\1\0\0Standard ACE DB": ("an Access database", "export the table as CSV or Excel"),
    b"ORC": ("an ORC file", "write it as Parquet"),
    b"Obj\x01": ("an Avro file", "write it as Parquet"),
    b"BZh": ("packed by bzip2", "unpack it, or use gzip or zip"),
    b"\xfd7zXZ\0": ("packed by xz", "unpack it, or use gzip or zip"),
    b"(\xb5/\xfd": ("packed by Zstandard", "unpack it, or use gzip or zip"),
    b"7z\xbc\xaf'\x1c": ("a 7-Zip archive", "unpack it, or use gzip or zip"),
    b"Rar!": ("a RAR archive", "unpack it, or use gzip or zip"),
    b"\x89PNG": ("a picture (PNG)", _PICTURE),
    b"\xff\xd8\xff": ("a picture (JPEG)", _PICTURE),
    b"GIF8": ("a picture (GIF)", _PICTURE),
    b"II*\0": ("a picture (TIFF)", _PICTURE),
    b"MM\0*": ("a picture (TIFF)", _PICTURE),
    b"RIFF": ("a sound, film or picture", _PICTURE),
    b"\x7fELF": ("a program", _PICTURE),
    b"MZ\x90": ("a program", _PICTURE),
    b"\xff\xfe\0\0": ("text in UTF-32", "write it as UTF-8"),
    b"\0\0\xfe\xff": ("text in UTF-32", "write it as UTF-8"),
}
PICKLE = ("a Python pickle, which runs code when it is read", "write it with DataFrame.to_parquet")
OLD_EXCEL = ("an Excel workbook of the old format (.xls)", "save it as .xlsx in Excel")
WITH_PASSWORD = ("an Office document with a password", "save it without one, where it may lie in the clear")
OLD_OFFICE = ("an Office document of an old format", _EXPORT)
TAR = ("a tar archive", "unpack it and name the file")
IN_ARCHIVE: Mapping[str, tuple[str, str]] = {
    "word/": ("a Word document", _EXPORT),
    "ppt/": ("a PowerPoint document", _EXPORT),
    "xl/workbook.bin": ("an Excel workbook in binary form (.xlsb)", "save it as .xlsx in Excel"),
    "content.xml": ("an OpenDocument file (.ods, .odt)", "save it as .xlsx"),
    "Index/Document.iwa": ("an iWork document", "export it as .xlsx"),
}
OF_TEXT: Mapping[str, tuple[str, str]] = {
    "<!doctype html": ("a web page", "download the file itself, not the page about it"),
    "<html": ("a web page", "download the file itself, not the page about it"),
    **dict.fromkeys(
        ("<table", "<meta", "<style", "<head", "<body", "<div", "<!--", "mime-version:"),
        ("a table in HTML", "open it in a spreadsheet and save it as .xlsx"),
    ),
    "<?xml": ("an XML document", _EXPORT),
    "{": ("JSON", "write it as CSV or Parquet"),
    "[{": ("JSON", "write it as CSV or Parquet"),
    "[": ("JSON, or another notation in brackets", "write it as CSV or Parquet"),
    "-----begin": ("an encrypted or signed text", "decrypt it where it may lie in the clear"),
    "@relation": ("an ARFF file", "write it as CSV"),
}


def unreadable(start: bytes) -> tuple[str, str] | None:
    """The name of the format whose files begin with these bytes and are not read, and a hint; None for others."""
    for signature, found in SIGNATURES.items():
        if start.startswith(signature):
            return found
    if start[:1] == b"\x80" and start[1:2] in (b"\2", b"\3", b"\4", b"\5"):
        return PICKLE
    if start[257:262] == b"ustar":
        return TAR
    if start.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return OLD_OFFICE
    return None

"""The parts of an Excel workbook as openpyxl is given them: none that wants to grow, and of each only what counts."""

import codecs
import re
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring, tostring

from sluice.ground.errors import DataError

_LARGEST, _MOST_TEXT = 2 << 30, 256 << 20  # bytes of the parts of a workbook; of its texts, which are held in memory
_MOST_STRINGS, _MOST_ELEMENTS = 4 << 20, 1 << 18  # elements of the shared strings; of another part that is held
_PROLOGUE = 1 << 16
_REDUCED = ("styles.xml", "workbook.xml")
_COUNTS = ("workbookPr", "sheets", "numFmts", "cellXfs")  # elements of these parts
_STRICT = b"http://purl.oclc.org/ooxml/spreadsheetml"  # a dialect that openpyxl reads nothing of
_NEVER_READ = "customXml/"  # where Excel keeps the queries of Power Query
_FORMULA, _VALUE = (f"{{http://schemas.openxmlformats.org/spreadsheetml/2006/main}}{tag}" for tag in "fv")
TRUE = ("1", "true")


def workbook_reader(path: Path) -> Any:
    """openpyxl's reader of a workbook, which counts what it will hold in memory, by whatever name a part goes."""
    library: Any = import_module("openpyxl.reader.excel")  # which has no types; it is loaded where it is needed

    class Archive(zipfile.ZipFile):
        def read(self, name: Any, pwd: bytes | None = None) -> bytes:
            _refuse_many(path, self, name, _MOST_ELEMENTS)
            part = super().read(name, pwd)
            return _what_counts(part) if str(name).endswith(_REDUCED) else part

    class Reader(library.ExcelReader):  # type: ignore[misc]
        def __init__(self, file: Any, **options: Any) -> None:
            super().__init__(file, **options)
            self.archive = Archive(file)

        def read_strings(self) -> None:
            if (part := self.package.find(library.SHARED_STRINGS)) is not None:
                _refuse_many(path, self.archive, part.PartName[1:], _MOST_STRINGS)
            super().read_strings()

        def read_chartsheet(self, sheet: Any, relation: Any) -> None:
            _refuse_many(path, self.archive, relation.target, _MOST_ELEMENTS)
            super().read_chartsheet(sheet, relation)

        def read_properties(self) -> None:
            """Not read: who wrote it and its colours, which other programs write as they like."""

        read_custom = read_theme = read_properties

    return Reader


def _what_counts(part: bytes) -> bytes:
    """The list of sheets, or the formats of cells, without all that does not count, in which openpyxl takes what Excel
    takes, such as an empty fill or the view of a sheet that is not there, for damage."""
    root = fromstring(part)
    for child in list(root):
        kind = child.tag.rpartition("}")[2]
        if kind not in _COUNTS:
            root.remove(child)
        for grandchild in child if kind == "cellXfs" else ():
            grandchild[:] = []
            grandchild.attrib = {name: value for name, value in grandchild.items() if name == "numFmtId"}
        if kind == "workbookPr":
            child.attrib = {name: value for name, value in child.items() if name == "date1904"}
    return tostring(root)


def _refuse_many(path: Path, archive: zipfile.ZipFile, name: str, most: int) -> None:
    """Raise DataError for a part that small files can fill with more than any workbook holds in it.

    cost : one pass, which ends where there is too much; openpyxl takes a hundred times as long to hold it
    """
    size = elements = 0
    with archive.open(name) as part:
        while block := part.read(1 << 20):
            size, elements = size + len(block), elements + block.count(b"<") - block.count(b"</")
            if elements > most or size > _MOST_TEXT:
                kind = "its shared strings hold" if most == _MOST_STRINGS else "a part of it holds"
                raise DataError(
                    f"{path}: {kind} more than {most:,} elements, or {_MOST_TEXT >> 20} MiB. Save the sheet as CSV."
                )


BEYOND_CALENDAR = "\0 a date beyond the calendar"
"""In place of the value of such a cell, which no cell can hold."""


def sheet_parser() -> Any:
    """openpyxl's reader of a sheet, which also tells a formula without a value, and keeps nothing of each row."""
    library: Any = import_module("openpyxl.worksheet._reader")

    class Parser(library.WorkSheetParser):  # type: ignore[misc]
        hidden_rows, has_formulas = 0, False

        def parse(self) -> Iterator[Any]:
            """The rows; of what stands beside them, such as filters and views, only columns and merged cells."""
            beside = {getattr(library, name) for name in dir(library) if name.endswith("_TAG")}
            beside -= {library.CELL_TAG, library.VALUE_TAG, library.FORMULA_TAG}  # of a row, which is read whole
            for _, element in library.iterparse(self.source):
                if element.tag == library.ROW_TAG:
                    row = self.parse_row(element)
                    element.clear()
                    yield row
                    continue
                if element.tag == library.COL_TAG:
                    self.parse_column_dimensions(element)
                elif element.tag == library.MERGE_TAG:
                    self.merged_cells = library.MergeCells.from_tree(element)
                if element.tag in beside:
                    element.clear()

        def parse_row(self, row: Any) -> Any:
            self.hidden_rows += row.get("hidden") in TRUE
            self.row_dimensions.clear()
            return super().parse_row(row)

        def parse_cell(self, element: Any) -> dict[str, Any]:
            cell: dict[str, Any] = super().parse_cell(element)
            if element.find(_FORMULA) is not None:
                self.has_formulas = True
                if not element.findtext(_VALUE) and element.get("t") != "str":  # of which "" may be the result
                    cell["data_type"] = "f"
            elif cell["data_type"] == "e" and element.get("t", "n") == "n":
                cell["value"], cell["data_type"] = (
                    BEYOND_CALENDAR,
                    "s",
                )  # openpyxl's error, of a date that it cannot make
            return cell

    return Parser


def _begins(start: bytes) -> bool:
    """Whether the first element is within this start of a part, after which no definitions may come; or it is empty."""
    seen = re.sub(rb"<!--.*?(-->|\Z)|<\?.*?(\?>|\Z)", b"", start, flags=re.DOTALL)
    return re.search(rb"<[^!?]", seen) is not None or not start


def _in_utf8(start: bytes) -> bytes:
    """The start of a part that says by its byte order mark that it is UTF-16, as others are written."""
    if not start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return start
    return start[: len(start) // 2 * 2].decode("utf-16", errors="replace").encode()


def refuse_bombs(path: Path) -> None:
    """Raise DataError for a workbook whose parts are out of proportion, or hold definitions that could grow."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        texts = sum(member.file_size for member in members if "sharedStrings" in member.filename)
        if sum(member.file_size for member in members) > _LARGEST or texts > _MOST_TEXT:
            raise DataError(f"{path}: its parts are larger than {_LARGEST >> 30} GiB, or its texts than 256 MiB")
        for member in members:
            if member.filename.endswith((".xml", ".rels", ".vml")) and not member.filename.startswith(_NEVER_READ):
                with archive.open(member) as part:
                    start = _in_utf8(part.read(_PROLOGUE))
                if _STRICT in start:
                    raise DataError(f"{path}: is saved as strict Open XML. Save it as Excel workbook (.xlsx) in Excel.")
                if b"<!DOCTYPE" in start or b"<!ENTITY" in start or b"\0" in start or not _begins(start):
                    raise DataError(f"{path}: a part of it defines its own language (DTD), which no workbook needs")

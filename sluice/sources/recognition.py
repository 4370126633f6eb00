"""What a file is, by its bytes: the source that reads it, every setting found, and sentences that say so.

What is found is written into the release definition. A run never looks anew, so a file that comes in another shape
later is refused.
"""

import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sluice.ground.errors import DataError
from sluice.ground.visible_text import one_line
from sluice.sources.arrow_source import ArrowSource, ParquetSource
from sluice.sources.excel_source import ExcelSource
from sluice.sources.packed_file import packing, the_member, unpacked
from sluice.sources.sources import DatabaseFile
from sluice.sources.statistical_file import SasSource, SpssSource, StataSource
from sluice.sources.tabular_source import missing_file
from sluice.sources.text_recognition import (
    IN_ARCHIVE,
    OLD_EXCEL,
    OLD_OFFICE,
    WITH_PASSWORD,
    Recognised,
    recognised_by_layout,
    recognised_text,
    unreadable,
)

__all__ = ["Recognised", "recognise"]

_START, _OLE = 4096, 8 << 20
_SAS = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")
_OLD_STATA = (104, 105, 108, 110, 111, 113, 114, 115)  # versions before 117 begin with their number


def recognise(
    path: Path,
    table: str | None = None,
    layout: Path | None = None,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header_row: int | None = None,
) -> Recognised:
    """The source that reads this file.

    table  : of a database in a file, or the sheet of a workbook; not needed where there is only one
    layout : file that says where the columns of a file of fixed width stand, or what those of a CSV file are called
    separator, decimal, encoding : of a text, where somebody knows them
    header_row : of a text or a workbook: the line or row that names the columns, from 1
    raises : DataError for a file that is absent, is of a format that is not read, which it names, or whose settings are
             not certain, with what to name
    cost   : one pass over a text file, for its encoding; of others, their description
    """
    for name, given, fits in (
        ("separator", separator, len(separator or " ") == 1),
        ("decimal mark", decimal, decimal in (None, ".", ",")),
        ("encoding", encoding, _is_encoding(encoding or "utf-8")),
    ):
        if not fits:
            allowed = {"separator": "one sign", "decimal mark": "'.' or ','", "encoding": "one such as utf-8 or cp1252"}
            raise DataError(f"the {name} must be {allowed[name]}; got {given!r}")
    if not path.is_file():
        raise missing_file(path)
    path = path.absolute()
    start = _start(path)
    if not start.strip(b"\0 \r\n\t"):
        raise DataError(f"{path}: is empty" if not start else f"{path}: holds nothing but blanks")
    if packing(path) == "zip" and (found := _office(path, table, header_row)) is not None:
        return found
    packed = packing(path)
    if packed:
        with unpacked(path) as file:
            start = file.read(_START)
    for model in (StataSource, SpssSource, SasSource):
        if _STATISTICAL[model.__name__](start):
            return _statistical(model, path, encoding, packed)
    if (format_ := _binary(start, path)) is not None:
        if packed:
            raise DataError(f"{path}: a {format_} file is read as it is. Unpack it.")
        return _of_format(format_, path, table)
    if layout is not None:
        return recognised_by_layout(path, layout.absolute(), decimal, encoding)
    return recognised_text(path, start, packed, separator, decimal, encoding, header_row)


def _is_encoding(name: str) -> bool:
    try:
        "".encode(name)
    except (LookupError, ValueError):
        return False
    return True


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_START)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None


# -- formats that say what they are

_STATISTICAL: Mapping[str, Callable[[bytes], bool]] = {
    "StataSource": lambda start: (
        start.startswith(b"<stata_dta>")
        or (start[0] in _OLD_STATA and start[1:2] in (b"\1", b"\2") and start[2:3] == b"\1")
    ),
    "SpssSource": lambda start: start[:4] in (b"$FL2", b"$FL3") or b"SPSS PORT FILE" in start[:500],
    "SasSource": lambda start: start.startswith((_SAS, b"HEADER RECORD*******LIB")),
}


def _statistical(
    model: type[StataSource | SpssSource | SasSource], path: Path, encoding: str | None, packed: str
) -> Recognised:
    source = model(path=str(path), encoding=encoding)
    described = source.described()
    labelled = sum(bool(column.labels) for column in described.values())
    missing = sum(bool(column.declared_missing) for column in described.values()) if model is SpssSource else 0
    zeros = [name for name, column in described.items() if column.is_code]
    says = [f"{source.program} file with {len(described)} columns{', packed by ' + packed if packed else ''}"]
    says += (
        [f"the file has value labels of {labelled} column{'s' * (labelled != 1)}; the records keep their codes"]
        if labelled
        else []
    )
    says += [f"the file declares missing codes of {missing} column{'s' * (missing != 1)}"] if missing else []
    says += [f"numbers shown with zeros in front are read as codes: {', '.join(zeros)}"] if zeros else []
    return Recognised(source, tuple(says))


def _binary(start: bytes, path: Path) -> str | None:
    """The name of another format that is read. Raises DataError for one that is not."""
    if start.startswith(b"PAR1"):
        return "Parquet"
    if start.startswith((b"ARROW1\0\0", b"\xff\xff\xff\xff")):
        return "Arrow"
    if start.startswith(b"SQLite format 3\0"):
        return "SQLite"
    if start[8:12] == b"DUCK":
        return "DuckDB"
    if start.startswith((b"\x1f\x8b", b"PK\3\4")):
        raise DataError(f"{path}: is packed twice. Unpack it.")
    if (found := unreadable(start)) is not None:
        raise _not_read(path, _within_ole(path) if found is OLD_OFFICE else found)
    return None


def _of_format(format_: str, path: Path, table: str | None) -> Recognised:
    if format_ in ("Parquet", "Arrow"):
        source = (ParquetSource if format_ == "Parquet" else ArrowSource)(path=str(path))
        return _with_unread(Recognised(source, (f"{format_} file with {len(source.column_names())} columns",)))
    names = _tables(path, format_)
    if table is None and len(names) != 1:
        raise DataError(f"{path}: is a {format_} file with {len(names)} tables; name one (--table): {', '.join(names)}")
    found = DatabaseFile(type="duckdb" if format_ == "DuckDB" else "sqlite", path=str(path), table=table or names[0])
    return _with_unread(Recognised(found, (f"table {found.table} of a {format_} file",)))


def _with_unread(found: Recognised) -> Recognised:
    """Saying, too, which columns are not read."""
    unread = "; ".join(f"{one_line(name)} {why}" for name, why in found.records.left_out().items())
    if unread and not found.records.column_names():
        raise DataError(f"{found.records.title}: no column is read: {unread}")
    return replace(found, says=(*found.says, f"not read: {unread}")) if unread else found


def _tables(path: Path, format_: str) -> list[str]:
    """Names of tables and views; of DuckDB with their schema, where it is not the one that is looked in by itself."""
    import sqlalchemy as sa

    from sluice.ground.databases import database_url

    address = sa.URL.create(format_.lower(), database=str(path)).render_as_string()
    engine = sa.create_engine(database_url(address))
    try:
        if format_ == "DuckDB":
            listed = sa.text(
                "SELECT table_schema, table_name FROM information_schema.tables "
                "WHERE table_catalog = current_database() ORDER BY ALL"
            )
            with engine.connect() as connection:
                found = connection.execute(listed).all()
            return [one_line(name if schema == "main" else f"{schema}.{name}") for schema, name in found]
        seen = sa.inspect(engine)
        return [one_line(name) for name in (*seen.get_table_names(), *seen.get_view_names())]
    except sa.exc.SQLAlchemyError as error:
        if "storage version" in str(error):
            why = "is of another version of DuckDB, which this one does not read; write it anew there (EXPORT DATABASE)"
            raise DataError(f"{path}: {why}") from None
        raise DataError(f"{path}: is damaged, or locked by another program; its tables cannot be listed") from None
    finally:
        engine.dispose()


def _not_read(path: Path, found: tuple[str, str]) -> DataError:
    return DataError(f"{path}: is {found[0]}, which is not read; {found[1]}")


def _within_ole(path: Path) -> tuple[str, str]:
    with path.open("rb") as file:
        content = file.read(_OLE)
    if "EncryptedPackage".encode("utf-16-le") in content:
        return WITH_PASSWORD
    return OLD_EXCEL if any(name.encode("utf-16-le") in content for name in ("Workbook", "Book")) else OLD_OFFICE


def _office(path: Path, sheet: str | None, header_row: int | None) -> Recognised | None:
    """A workbook; None for an archive of one file. Raises DataError for another document, or several files."""
    try:
        with closing(zipfile.ZipFile(path)) as archive:
            names = set(archive.namelist())
            for part, found in IN_ARCHIVE.items():
                is_there = any(name == part or (part.endswith("/") and name.startswith(part)) for name in names)
                if is_there and len(names) > 1:
                    raise _not_read(path, found)
            if "[Content_Types].xml" not in names:
                the_member(path, archive)
                return None
    except (zipfile.BadZipFile, OSError, NotImplementedError):
        raise DataError(f"{path}: is a damaged zip archive") from None
    return _workbook(path, sheet, header_row)


def _workbook(path: Path, sheet: str | None, header_row: int | None) -> Recognised:
    source = ExcelSource(path=str(path), sheet=sheet)
    outlines = source.outlines(sheet, header_row)
    if not any(outline.columns for outline in outlines):
        raise DataError(f"{path}: {f'sheet {sheet!r} has' if sheet else 'its sheets have'} no cell with a value")
    visible = [outline for outline in outlines if outline.is_visible and outline.columns] or list(outlines)
    if sheet is None and len(visible) != 1:
        names = ", ".join(one_line(outline.name) for outline in visible)
        raise DataError(f"{path}: holds {len(visible)} sheets with cells; name one (--table): {names}")
    found = visible[0]
    if found.doubt:
        raise DataError(
            f"{path}: sheet '{one_line(found.name)}': row {found.header_row} names the columns, and the next one "
            f"{found.doubt}: names in several rows, or units? Write the names in one row and take the other out. Or "
            f"say which row names the columns (--header-row {found.header_row + 1}); it must name all that are read."
        )
    says = [f"sheet '{found.name}' of an Excel workbook, with {found.columns} columns named in row {found.header_row}"]
    hidden = [outline.name for outline in outlines if not outline.is_visible]
    says += [f"hidden sheets are not read: {', '.join(hidden)}"] if hidden and sheet is None else []
    says += [f"hidden columns are read as others are: {found.hidden_columns}"] if found.hidden_columns else []
    says += [f"hidden rows are read as others are: {found.hidden_rows} at least"] if found.hidden_rows else []
    says += ["of formulas the stored values are read"] if found.has_formulas else []
    says += [f"columns without a name are not read: {', '.join(found.nameless)}"] if found.nameless else []
    return Recognised(source.model_copy(update={"sheet": found.name, "header_row": found.header_row}), tuple(says))

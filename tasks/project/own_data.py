"""Somebody's own data, as `sluice init` is given them: a file or a table, and how a release definition names it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from sluice.documents.documents import parse_document
from sluice.errors import SluiceError
from sluice.settings import settings
from sluice.sources.csv_source import CsvSource
from sluice.sources.database_url import typed_address
from sluice.sources.parquet_source import ParquetSource
from sluice.sources.sql_source import SqlSource
from sluice.sources.tabular_source import TabularSource

CONNECTION = "warehouse"


@dataclass(frozen=True)
class OwnData:
    """What is read, and how documents name it.

    records    : what reads it
    file       : None for a table of a database
    settings   : of the source in a definition, but for the path
    connection : of a database, for connections.yaml
    says       : what was found of its form, a sentence each
    """

    records: TabularSource
    file: Path | None
    settings: Mapping[str, Any]
    connection: Mapping[str, Any] | None = None
    says: tuple[str, ...] = ()

    def written(self, base: Path) -> dict[str, Any]:
        """The source in a release definition that lies in the folder `base`."""
        path = {} if self.file is None else {"path": relpath(self.file.resolve(), base)}
        kind = {key: value for key, value in self.settings.items() if key == "type"}
        return {**kind, **path, **{key: value for key, value in self.settings.items() if key != "type"}}

    def needs_permission(self, project: Path) -> bool:
        """Whether the operator must say that it may be read: for a database, and for a file that lies neither beside
        the definition nor below the current folder."""
        if self.file is None:
            return True
        file = self.file.resolve()
        return not any(file.is_relative_to(folder.resolve()) for folder in (project / "releases", settings().project))


def own_data(
    source: str,
    table: str | None = None,
    *,
    separator: str = ",",
    decimal: str = ".",
    encoding: str = "utf-8",
    columns: tuple[str, ...] = (),
) -> OwnData:
    """The data at a path or URL. Raises SluiceError: what is lacking, or what it is instead."""
    if "://" in source or source.startswith("${"):
        return _of_database(source, table)
    if source.endswith((".duckdb", ".db", ".sqlite")):
        engine = "duckdb" if source.endswith(".duckdb") else "sqlite"
        raise SluiceError(
            f"a database in a file is named by its URL: sluice init {engine}:///{source} --table schema.table"
        )
    if source.endswith(".parquet"):
        parquet = parse_document(ParquetSource, {"path": source}, "the source")
        return OwnData(parquet, Path(source), {"type": "parquet"})
    written: dict[str, Any] = {"separator": separator, "decimal": decimal, "encoding": encoding}
    if columns:
        written |= {"header": False, "columns": list(columns)}
    csv = parse_document(CsvSource, {"path": source, **written}, "the source")
    default = {"decimal": ".", "encoding": "utf-8"}
    kept = {key: value for key, value in written.items() if default.get(key) != value}
    return OwnData(csv, Path(source), {"type": "csv", **kept})


def _of_database(source: str, table: str | None) -> OwnData:
    if table is None:
        raise SluiceError("of a database, name the table, too: sluice init URL --table schema.table")
    try:
        address = typed_address(source)
    except ValueError as error:
        raise SluiceError(f"SOURCE: {error}") from None
    records = parse_document(SqlSource, {"url": address, "table": table}, "the source")
    url = sa.make_url(address)
    named: dict[str, Any] = {"url": address, "tables": [table]}
    if source.startswith("${"):  # may hold a password: only its name is written
        named = {"url": source, "secrets": re.findall(r"\w+", source)[:1], "tables": [table]}
    elif url.database and not url.host and not url.database.startswith(":"):
        named["url"] = url.set(database=str(Path(url.database).resolve())).render_as_string()
    return OwnData(records, None, {"connection": CONNECTION, "table": table}, named)

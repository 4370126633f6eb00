"""Somebody's own data, as `sluice init` is given them: a file or a table, and how a release definition names it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from sluice.documents.document_reading import parse_document
from sluice.ground.databases import typed_address
from sluice.ground.errors import SluiceError
from sluice.settings import settings
from sluice.sources.csv_source import CsvSource
from sluice.sources.recognition import Recognised, recognise
from sluice.sources.sdmx_structure_file import structure_descriptions
from sluice.sources.sql_source import SqlSource
from sluice.sources.tabular_source import Descriptions, TabularSource

CONNECTION = "warehouse"


@dataclass(frozen=True)
class OwnData:
    """What is read, and how documents name it.

    records    : what reads it
    file       : None for a table of a database
    described  : what the file says of its columns
    recognised : of a file, what it is
    connection : of a database, for connections.yaml
    """

    records: TabularSource
    file: Path | None = None
    described: Descriptions = field(default_factory=dict)
    recognised: Recognised | None = None
    table: str | None = None
    connection: Mapping[str, Any] | None = None

    @property
    def says(self) -> tuple[str, ...]:
        """What was found of its form, a sentence each."""
        return () if self.recognised is None else self.recognised.says

    def written(self, base: Path) -> dict[str, Any]:
        """The source in a release definition that lies in the folder `base`."""
        if self.recognised is None:
            return {"connection": CONNECTION, "table": self.table}
        return self.recognised.written(base)

    def lies_outside(self, project: Path) -> bool:
        """Whether it is a file that commands in the project's folder may not read unless the operator says so."""
        return self.file is not None and not self.file.resolve().is_relative_to(project.resolve())

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
    layout: Path | None = None,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    columns: tuple[str, ...] = (),
    structure: Path | None = None,
) -> OwnData:
    """The data at a path or URL, by their content. Raises SluiceError: what is lacking, or what it is instead.

    structure : of SDMX-CSV: the structure message, which says what columns and codes mean
    """
    if "://" in source or source.startswith("${"):
        if structure is not None:
            raise SluiceError(
                "says what the codes of an SDMX-CSV file mean; a database is not such a file", field="--structure"
            )
        return _of_database(source, table)
    path = Path(source)
    found = recognise(path, table, layout, separator=separator, decimal=decimal, encoding=encoding)
    if columns:
        if not isinstance(found.source, CsvSource):
            raise SluiceError(
                "names the columns of a text without a header; this file names its own", field="--columns"
            )
        found = replace(found, source=found.source.model_copy(update={"header": False, "columns": columns}))
    described = found.described()
    if structure is not None:
        described = {**described, **structure_descriptions(structure, tuple(found.records.column_names()))}
    return OwnData(found.records, path, described, found)


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
    return OwnData(records, table=table, connection=named)

"""The sources that a release definition can name: files, and the connections of whoever runs Sluice."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from sluice.ground.visible_text import Name
from sluice.sources.arrow_source import ArrowSource, ParquetSource
from sluice.sources.csv_source import CsvSource
from sluice.sources.excel_source import ExcelSource
from sluice.sources.fixed_width_source import FixedWidthSource
from sluice.sources.statistical_file import SasSource, SpssSource, StataSource
from sluice.sources.tabular_source import resolved

__all__ = [
    "ArrowSource",
    "ConnectionSource",
    "CsvSource",
    "DatabaseFile",
    "ExcelSource",
    "FixedWidthSource",
    "ParquetSource",
    "SasSource",
    "Source",
    "SpssSource",
    "StataSource",
]


class _TableOrQuery(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    table: Name | None = Field(default=None, min_length=1, description="a table or view, or schema.table")
    query: str | None = Field(default=None, min_length=1, description="one select over tables, with plain functions")

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.table is None) == (self.query is None):
            raise ValueError("give either 'table' or 'query'")
        return self

    @property
    def decimal_mark(self) -> str:
        """The sign before the decimals of a number that is written as text."""
        return "."


class ConnectionSource(_TableOrQuery):
    """A table of a database that whoever runs Sluice named in connections.yaml, or a query over its tables."""

    type: Literal["connection"] = "connection"
    connection: Name = Field(min_length=1, description="the name that connections.yaml has for the database")

    def resolve(self, _: Path) -> Self:
        return self


class DatabaseFile(_TableOrQuery):
    """A table of a DuckDB or SQLite file, or a query over its tables."""

    type: Literal["duckdb", "sqlite"]
    path: Name

    def resolve(self, base: Path) -> Self:
        return self.model_copy(update={"path": resolved(self.path, base)})


def _without_address(written: Any) -> Any:
    """Refuse an address, which a definition of another submitter's choice could have secrets sent to."""
    if not isinstance(written, dict):
        return written
    if "url" in written or written.get("type") == "sql":
        raise ValueError(
            "a definition holds no address. Name a connection, as in {connection: warehouse, table: survey.fair}; "
            "the operator writes its url into connections.yaml. For a file: {type: duckdb, path: ..., table: ...}"
        )
    return {"type": "connection", **written} if "connection" in written else written


Source = Annotated[
    Annotated[
        CsvSource
        | FixedWidthSource
        | ParquetSource
        | ArrowSource
        | ExcelSource
        | StataSource
        | SpssSource
        | SasSource
        | DatabaseFile
        | ConnectionSource,
        Field(discriminator="type"),
    ],
    BeforeValidator(_without_address),
]

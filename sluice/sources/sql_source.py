"""A table or query of a database, read through SQLAlchemy as a stream."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

import pyarrow as pa
import sqlalchemy as sa
from pydantic import ConfigDict, Field, model_validator

from sluice.errors import DataError
from sluice.settings import PREFIX, Settings
from sluice.sources.database_url import database_url
from sluice.sources.reading_engine import reading_engine
from sluice.sources.select_guard import guarded_query, refuse_strange_name
from sluice.sources.tabular_source import TabularSource, missing_file, resolved

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_USER_AND_PASSWORD = re.compile(r"^[^:]+://[^:@/]*:([^@]*)@")
_SECRET_OPTION = re.compile(r"[?&](?:\w*password|passwd|pwd|\w*token|\w*secret)=([^&]*)", re.IGNORECASE)
_FILE_URL = re.compile(r"^((?:duckdb|sqlite)[^:]*:///)([^:?$][^?]*)(.*)$")
_OWN = ("PREFECT_", *(f"{PREFIX}{name.upper()}" for name in Settings.model_fields))
Answer = TypeVar("Answer")


class SqlSource(TabularSource):
    """One table, or the result of one query.

    A secret stands in the environment together with the host that it is for: `${NAME}` is the whole URL or no part
    of it. Else whoever writes a definition could have any secret of the environment sent to a host of their own.
    """

    model_config = ConfigDict(hide_input_in_errors=True)  # a URL that is refused for its password

    type: Literal["sql"] = "sql"
    url: str = Field(
        description="SQLAlchemy URL without a password, or ${NAME} of an environment variable that holds it whole"
    )
    table: str | None = Field(default=None, min_length=1, description="a table or view, or schema.table")
    query: str | None = Field(default=None, min_length=1, description="one select over tables, with plain functions")

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        variable = _VARIABLE.fullmatch(self.url)
        if "${" in self.url and not variable:
            raise ValueError("'url' must be ${NAME} as a whole, of an environment variable that holds host and secret")
        if variable and variable[1].upper().startswith(_OWN):
            raise ValueError(f"'url' must not be {variable[1]}, a setting of Sluice or Prefect itself")
        if any([*_USER_AND_PASSWORD.findall(self.url), *_SECRET_OPTION.findall(self.url)]):
            raise ValueError("'url' holds a password. Put the whole URL into an environment variable and write ${NAME}")
        if (self.table is None) == (self.query is None):
            raise ValueError("give either 'table' or 'query'")
        return self

    @property
    def title(self) -> str:
        return f"table {self.table}" if self.table else "query"

    def resolve(self, base: Path) -> Self:
        """DuckDB and SQLite name a file; SQLAlchemy's own rule counts its slashes: three relative, four absolute."""
        found = _FILE_URL.match(self.url)
        if not found:
            return self
        scheme, path, options = found.groups()
        return self.model_copy(update={"url": f"{scheme}{resolved(path, base)}{options}"})

    def connection_url(self) -> sa.URL:
        """The URL, from the environment where it is there. Raises DataError when the variable is not set."""
        variable = _VARIABLE.fullmatch(self.url)
        if variable and not os.environ.get(variable[1]):
            raise DataError(f"{self.title}: 'url' needs the environment variable {variable[1]}, which is not set")
        if variable:
            return _parsed(os.environ[variable[1]], self.title)
        url = _parsed(self.url, self.title)
        # PostgreSQL's client would send PGPASSWORD, which names no host, to the one that the definition names.
        return url.update_query_dict({"password": ""}) if url.get_backend_name() == "postgresql" else url

    def _names(self, expected: Sequence[str]) -> list[str]:
        names: list[str] = next(self._rows(self._select("*").where(sa.false()), 1))
        return names

    def _tables(self, columns: Sequence[str], expected: Sequence[str], size: int) -> Iterator[pa.Table]:
        rows = self._rows(self._select(*columns), size)
        next(rows)  # the names
        for batch in rows:
            yield pa.table([_arrow(values) for values in zip(*batch, strict=True)], names=list(columns))

    def _select(self, *columns: str) -> sa.Select[Any]:
        named: list[Any] = [sa.literal_column("*") if name == "*" else sa.column(name) for name in columns]
        if self.table:
            schema, _, table = self.table.rpartition(".")
            for name in self.table.split("."):
                refuse_strange_name(name)
            return sa.select(*named).select_from(sa.table(table, schema=schema or None))
        assert self.query
        query = guarded_query(self.query, self.connection_url().get_backend_name())
        return sa.select(*named).select_from(sa.text(f"({query}) AS source_query".replace(":", r"\:")))  # no parameter

    def _rows(self, statement: sa.Select[Any], size: int) -> Iterator[Any]:
        """First the column names, then lists of rows. The connection lives as long as the generator."""
        url = self.connection_url()
        if url.get_backend_name() in ("duckdb", "sqlite") and url.database and url.database != ":memory:":
            path = Path(url.database)
            if not path.is_file():  # these databases would make an empty one
                raise missing_file(path)
        engine = _try(lambda: reading_engine(url), f"{self.title}: no driver for this URL")
        try:
            connection = _try(engine.connect, f"{self.title}: the database cannot be reached")
            with closing(connection):
                streaming = connection.execution_options(stream_results=True, max_row_buffer=size)
                result = _try(lambda: streaming.execute(statement), f"{self.title}: the database refuses to read it")
                yield list(result.keys())
                records = 0
                while rows := _try(
                    lambda: result.fetchmany(size), f"{self.title}: the database went away after {records} records"
                ):
                    yield rows
                    records += len(rows)
        finally:
            engine.dispose()


def _parsed(url: str, title: str) -> sa.URL:
    try:
        return database_url(url)
    except ValueError:
        raise DataError(f"{title}: 'url' is no SQLAlchemy URL, e.g. postgresql://user@host/database") from None


def _try(act: Callable[[], Answer], says: str) -> Answer:
    """Do it; of a failure only its kind is named, for the driver's text can hold values and passwords."""
    try:
        return act()
    except Exception as error:  # drivers raise what they like
        kind = type(getattr(error, "orig", None) or error).__name__
    raise DataError(f"{says} ({kind}).")


def _arrow(values: tuple[Any, ...]) -> pa.Array:
    """A column of a driver's values; decimals as numbers, and whatever Arrow has no one plain type for as text."""
    if any(isinstance(value, Decimal) for value in values):
        values = tuple(_number(value) if isinstance(value, Decimal) else value for value in values)
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        array = None
    if array is None or pa.types.is_nested(array.type) or isinstance(array.type, pa.BaseExtensionType):
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    return array


def _number(value: Decimal) -> int | float:
    """A whole decimal as int, which keeps every digit of a long identifier."""
    return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)

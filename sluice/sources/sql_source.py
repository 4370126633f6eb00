"""A table or query of a database, read through SQLAlchemy as a stream."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence, Sized
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

import pyarrow as pa
import sqlalchemy as sa
from pydantic import ConfigDict, Field

from sluice.ground.databases import DIALECTS, IN_FILES, database_url, refuse_absent
from sluice.ground.errors import DataError, SourceUnreachableError
from sluice.ground.readable_tables import DEFAULT_SCHEMA, ReadableTables
from sluice.ground.visible_text import one_line
from sluice.sources.reading_engine import (
    arrow_reader,
    as_arrow,
    of_single_precision,
    plain_column,
    reading_engine,
    single_precision,
    unfit_columns,
)
from sluice.sources.tabular_source import NAMELESS, TabularSource, missing_file
from sluice.transport import is_of_transport

_BESIDE = {"duckdb": (".wal",), "sqlite": ("-wal", "-shm", "-journal")}  # what was written and is not yet in the file
_LOOKED_INTO = ("duckdb", "sqlite", "postgresql", "mysql", "mariadb")  # a warehouse may bill a look at all columns
_DNS = 53
_UNDECODED = re.compile(r"Could not decode to UTF-8 column '(.+?)' with text ", re.DOTALL)  # as SQLite says it
_NOTHING = pa.RecordBatch.from_pylist([])
Answer = TypeVar("Answer")
Batch = TypeVar("Batch", bound=Sized)


class SqlSource(TabularSource):
    """One table, or the result of one query, with the address of its database.

    No document names an address: a connection of the operator does, or the person at the terminal.
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    type: Literal["sql"] = "sql"
    url: str = Field(repr=False, description="SQLAlchemy URL, with its secrets")
    table: str | None = Field(default=None, description="a table or view, or schema.table")
    query: str | None = Field(default=None, description="one select over tables, with plain functions")
    readable: ReadableTables | None = Field(default=None, description="the tables that may be read; None: any")

    @property
    def title(self) -> str:
        return f"table {self.table}" if self.table else "query"

    @property
    def address(self) -> sa.URL:
        """Raises DataError when the URL is none."""
        try:
            return database_url(self.url)
        except ValueError:
            raise DataError(
                f"{self.title}: 'url' is not an SQLAlchemy URL, e.g. postgresql://user@host/database"
            ) from None

    @property
    def files(self) -> tuple[Path, ...]:
        url = self.address
        backend = url.get_backend_name()
        if backend not in IN_FILES:
            return server_files(url)
        if not url.database or url.database == ":memory:":
            return ()
        beside = [Path(f"{url.database}{ending}") for ending in _BESIDE[backend]]
        return (Path(url.database), *(path for path in beside if path.is_file() and not path.is_symlink()))

    @property
    def ports(self) -> tuple[int, ...] | None:
        return ports_of(self.address)

    @property
    def needs_pandas(self) -> bool:
        backend = self.address.get_backend_name()
        return backend in DIALECTS and DIALECTS[backend].pandas

    def _names(self, expected: Sequence[str]) -> list[str]:
        statement = self._select("*").where(sa.false())
        with self._connected() as connection:
            with closing(self._executed(connection, statement, 1)) as result:
                names = list(result.keys())
            unread = self._unfit(connection)
        return [name for name in names if name not in unread and (name.strip() or not self._may_leave_out)]

    def left_out(self) -> dict[str, str]:
        """Of a table. What a query selects is meant, and refused where it cannot be described."""
        if not self._may_leave_out:
            return {}
        with self._connected() as connection:
            with closing(self._executed(connection, self._select("*").where(sa.false()), 1)) as result:
                places = [place for place, name in enumerate(result.keys(), start=1) if not name.strip()]
            fit = {name: why for name, why in self._unfit(connection).items() if name.strip()}
            return {**{f"column {place}": NAMELESS for place in places}, **fit}

    @property
    def _may_leave_out(self) -> bool:
        return self.table is not None and self.address.get_backend_name() in _LOOKED_INTO

    def _unfit(self, connection: sa.Connection) -> dict[str, str]:
        if not self._may_leave_out:
            return {}
        return _try(lambda: unfit_columns(connection, self._select("*")), self._refused)

    def _tables(self, columns: Sequence[str], expected: Sequence[str], size: int) -> Iterator[pa.Table]:
        statement = self._select(*columns)
        with self._connected() as connection:
            reader = _try(lambda: arrow_reader(connection, statement, size), self._refused)
            if reader is not None:
                with reader:
                    for batch in self._fetched(lambda: next(reader, _NOTHING)):
                        yield pa.table([plain_column(column) for column in batch.columns], names=list(columns))
                return
            single = _try(lambda: of_single_precision(connection, statement), self._refused)
            result = self._executed(connection, self._select(*columns, doubled=single), size)
            made = [single_precision if name in single else as_arrow for name in columns]
            for rows in self._fetched(lambda: result.fetchmany(size)):
                cells = zip(made, zip(*rows, strict=True), strict=True)
                yield pa.table([make(values) for make, values in cells], names=list(columns))

    def _select(self, *columns: str, doubled: Collection[str] = ()) -> sa.Select[Any]:
        """doubled : numbers that are taken with the digits of a DOUBLE"""

        def selected(name: str) -> Any:
            if name == "*":
                return sa.literal_column("*")
            return (sa.column(name) + sa.literal_column("0e0")).label(name) if name in doubled else sa.column(name)

        return sa.select(*map(selected, columns)).select_from(self.records())

    def records(self) -> sa.FromClause:
        """What is selected from: the table, or the query as the guard wrote it anew.

        raises : DataError for a table that may not be read, or a query that is not let through
        """
        # It loads a parser of SQL, which a document that names a source need not wait for.
        from sluice.ground.select_guard import guarded_query, refuse_strange_columns, refuse_strange_name, tables_of

        backend = self.address.get_backend_name()
        looked_for = DEFAULT_SCHEMA[backend] if self.readable and backend == "postgresql" else ""
        if self.table:
            schema, _, table = self.table.rpartition(".")
            for name in self.table.split("."):
                refuse_strange_name(name)
            if self.readable:
                self.readable.refuse_others([(schema, table)], backend)
            return sa.table(table, schema=schema or looked_for or None)
        assert self.query
        query = guarded_query(self.query, backend, looked_for)
        if self.readable:
            self.readable.refuse_others(tables_of(self.query, backend), backend)

        def columns_of(schema: str, table: str) -> list[str]:
            nothing: sa.Select[Any] = sa.select(sa.literal_column("*")).select_from(
                sa.table(table, schema=schema or looked_for or None)
            )
            return list(self._executed(connection, nothing.where(sa.false()), 1).keys())

        with self._connected() as connection:
            refuse_strange_columns(self.query, backend, columns_of)
        text = sa.text(query.replace(":", r"\:"))  # a colon begins no parameter
        return text.columns().subquery("source_query")

    def rows(self, statement: sa.Select[Any], size: int) -> Iterator[Any]:
        """First the column names, then lists of rows. The connection lives as long as the generator."""
        with self._connected() as connection:
            result = self._executed(connection, statement, size)
            yield list(result.keys())
            yield from self._fetched(lambda: result.fetchmany(size))

    @contextmanager
    def _connected(self) -> Iterator[sa.Connection]:
        url = self.address
        if url.get_backend_name() in IN_FILES and url.database and url.database != ":memory:":
            path = Path(url.database)
            if not path.is_file():  # these databases would make an empty one
                raise missing_file(path)
        refuse_absent(url, self.title)
        engine = _try(
            lambda: reading_engine(url, of_connection=self.readable is not None),
            f"{self.title}: no driver for this URL",
        )
        try:
            with closing(_try(engine.connect, f"{self.title}: the database cannot be reached")) as connection:
                yield connection
        finally:
            engine.dispose()

    def _executed(self, connection: sa.Connection, statement: sa.Select[Any], size: int) -> sa.CursorResult[Any]:
        streaming = connection.execution_options(stream_results=True, max_row_buffer=size)
        return _try(lambda: streaming.execute(statement), self._refused)

    @property
    def _refused(self) -> str:
        return f"{self.title}: the database refuses to read it"

    def _fetched(self, fetch: Callable[[], Batch]) -> Iterator[Batch]:
        """Batches, until one is empty."""
        records = 0
        while len(batch := _try(fetch, f"{self.title}: the database went away after {records} records")):
            yield batch
            records += len(batch)


def server_files(url: sa.URL) -> tuple[Path, ...]:
    """The files that the address of a server names, such as certificates."""
    named = (Path(value) for value in url.query.values() if isinstance(value, str))
    return tuple(path.resolve() for path in named if path.is_absolute() and path.is_file())


def ports_of(url: sa.URL) -> tuple[int, ...] | None:
    """The TCP ports that a database of this address is reached by: () for a file, None where that is not known."""
    backend = url.get_backend_name()
    if backend in IN_FILES:
        return ()
    usual = DIALECTS[backend].ports if backend in DIALECTS else ()
    ports = (url.port,) if url.port else usual
    return None if not ports or not url.host or {"host", "port"} & {*url.query} else (*ports, _DNS)


def _try(act: Callable[[], Answer], says: str) -> Answer:
    """Do it; of a failure only its kind is named, for the driver's text can hold values and passwords."""
    try:
        return act()
    except Exception as error:  # drivers raise what they like
        cause = getattr(error, "orig", None) or error
        kind, lost = type(cause).__name__, is_of_transport(error)
        if undecoded := _UNDECODED.match(str(cause)):
            says = f"{says}: column '{one_line(undecoded[1])}' holds texts that are not of UTF-8. Write them anew"
    if kind in ("MemoryError", "OutOfMemoryException"):  # the second is DuckDB's
        raise MemoryError
    raise (SourceUnreachableError if lost else DataError)(f"{says} ({kind}).")

"""Schema change: editions as tables of a database, and views that show the current ones, all of it or nothing.

A table holds what a published Parquet file holds and is read back before anybody can see it. In DuckDB, SQLite and
PostgreSQL the whole change is one transaction. In MySQL and MariaDB, where each statement about a table commits by
itself, a table is filled under another name and renamed, and a view is replaced in one statement, in this order: so a
change that breaks off leaves a table that nobody looks at, and is finished when it is asked for again.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.dialects.mysql import DATETIME, LONGTEXT

from sluice.errors import DataError
from sluice.sources.database_url import database_url
from sluice.sources.dialects import MYSQL

_DRAFT = "_draft"  # the ending of a table that is not whole yet
_BATCH = 20_000  # records
_FACTS = sa.table(
    "tables",
    *map(sa.column, ("table_schema", "table_name", "table_type")),
    schema="information_schema",
)
_OF_SQLITE = sa.table("sqlite_master", sa.column("name"), sa.column("type"))


class SchemaChange(BaseModel):
    """What is to hold of a schema, whatever holds of it now."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    url: str = Field(repr=False, description="of the database, with its secrets")
    into: str = Field(description="the schema; of MySQL the database")
    tables: dict[str, Path] = Field(default={}, description="tables that hold what these Parquet files hold")
    views: dict[str, str | None] = Field(default={}, description="views, and the table that each shows; None: no view")
    own_views: tuple[str, ...] = Field(default=(), description="views of ours, which alone may be replaced")
    free: tuple[str, ...] = Field(default=(), description="names that nothing may bear yet")
    gone: tuple[str, ...] = Field(default=(), description="tables that are not to be there")


def carry_out(change: SchemaChange, fault_hook: Callable[[str], None] | None = None) -> None:
    """Make the change, and read back what was written. What holds already is left as it is.

    fault_hook : called with the name of each step when it is done; lets a test stop there
    raises     : DataError, which names the table or view: for a table with other content, a view that is not ours, a
                 view on a table that is not there, and whatever the database refuses
    cost       : two passes over the files, and one over each table
    """
    url = database_url(change.url)
    engine = _engine(url)
    try:
        with engine.connect() as connection, connection.begin():
            _Work(connection, change, fault_hook or (lambda step: None)).do()
    except sa.exc.SQLAlchemyError as error:  # its text can hold records and the address
        kind = type(getattr(error, "orig", None) or error).__name__
    else:
        return
    finally:
        engine.dispose()
    raise DataError(f"the database refuses to publish into schema '{change.into}' ({kind}).")


def _engine(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(url, poolclass=sa.NullPool, hide_parameters=True)
    if url.get_backend_name() == "sqlite":
        # Python's module commits before a statement about tables; so it is told to leave transactions alone.
        sa.event.listen(engine, "connect", lambda connection, _: setattr(connection, "isolation_level", None))
        sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    return engine


class _Work:
    """One change in its transaction."""

    def __init__(self, connection: sa.Connection, change: SchemaChange, reached: Callable[[str], None]) -> None:
        self.connection, self.change, self.reached = connection, change, reached
        self.backend = connection.dialect.name
        self.schema = None if self.backend == "sqlite" else change.into

    def do(self) -> None:
        for name in self.change.free:
            if self.kind_of(name):
                raise self.not_ours(name)
        for name, path in self.change.tables.items():
            self.write(name, path)
            self.reached(f"{name} written")
        for view, table in self.change.views.items():
            self.show(view, table)
            self.reached(f"{view} swapped")
        for name in self.change.gone:
            if self.kind_of(name) == "table":
                self.run(f"DROP TABLE {self.quoted(name)}")

    def write(self, name: str, path: Path) -> None:
        with pq.ParquetFile(path) as file:
            wanted = _digest(record for batch in file.iter_batches(_BATCH) for record in _records(batch))
            table = self.table(name, file.schema_arrow)
            if kind := self.kind_of(name):
                if kind != "table" or self.digest_of(table) != wanted:
                    raise DataError(
                        f"'{self.change.into}.{name}' exists with other content. It was left as it is; a release that "
                        "was published is never overwritten."
                    )
                return
            draft = self.table(name + _DRAFT, file.schema_arrow)
            if self.kind_of(draft.name):
                draft.drop(self.connection, checkfirst=False)
            draft.create(self.connection, checkfirst=False)
            for batch in file.iter_batches(_BATCH):
                self.insert(draft, batch)
        self.reached(f"{draft.name} filled")
        if self.digest_of(draft) != wanted:
            raise DataError(f"'{self.change.into}.{name}' does not hold what was written; the database changed values")
        if self.backend in MYSQL:
            self.run(f"RENAME TABLE {self.quoted(draft.name)} TO {self.quoted(name)}")
        else:
            self.run(f"ALTER TABLE {self.quoted(draft.name)} RENAME TO {self.plain(name)}")

    def insert(self, table: sa.Table, batch: pa.RecordBatch) -> None:
        """PostgreSQL and DuckDB have ways of their own, tens of times as fast."""
        columns = ", ".join(map(self.plain, table.columns.keys()))
        if self.backend == "postgresql":
            cursor: Any = self.connection.connection.cursor()
            with cursor, cursor.copy(f"COPY {self.quoted(table.name)} ({columns}) FROM STDIN") as copy:
                for record in _records(batch):
                    copy.write_row(record)
        elif self.backend == "duckdb":
            self.connection.exec_driver_sql("register", ("sluice_batch", pa.table(batch)))
            self.run(f"INSERT INTO {self.quoted(table.name)} ({columns}) SELECT * FROM sluice_batch")
        else:
            names = table.columns.keys()
            rows = [dict(zip(names, record, strict=True)) for record in _records(batch)]
            self.connection.execute(table.insert(), rows)

    def show(self, view: str, table: str | None) -> None:
        """Let a view show a table, or be gone."""
        kind = self.kind_of(view)
        if kind is not None and (kind != "view" or view not in self.change.own_views):
            raise self.not_ours(view)
        if table is None:
            if kind:
                self.run(f"DROP VIEW {self.quoted(view)}")
            return
        if self.kind_of(table) != "table":
            raise DataError(f"'{self.change.into}.{table}' is not there, so '{view}' cannot show it")
        made = f"VIEW {self.quoted(view)} AS SELECT * FROM {self.quoted(table)}"
        if kind and self.backend == "postgresql":
            try:  # it keeps who may read it, and what else looks at it
                with self.connection.begin_nested():
                    self.run(f"CREATE OR REPLACE {made}")
                return
            except sa.exc.ProgrammingError:  # other columns: no view can be replaced by such
                self.run(f"DROP VIEW {self.quoted(view)}")
        if kind and self.backend == "sqlite":
            self.run(f"DROP VIEW {self.quoted(view)}")
        self.run(f"CREATE {'OR REPLACE ' if self.backend in ('duckdb', *MYSQL) else ''}{made}")

    def not_ours(self, name: str) -> DataError:
        return DataError(
            f"'{self.change.into}.{name}' exists and is no view that editions of this definition made; it was left as "
            "it is. Rename it, or publish into another schema."
        )

    def kind_of(self, name: str) -> str | None:
        """'table' or 'view'; None where there is nothing of this name."""
        if self.backend == "sqlite":
            asked = sa.select(_OF_SQLITE.c.type).where(_OF_SQLITE.c.name == name)
        else:
            asked = sa.select(_FACTS.c.table_type).where(
                _FACTS.c.table_schema == self.change.into, _FACTS.c.table_name == name
            )
        found = self.connection.execute(asked).scalar()
        return None if found is None else "view" if "view" in str(found).lower() else "table"

    def table(self, name: str, schema: pa.Schema) -> sa.Table:
        columns = [sa.Column(field.name, _column_type(field.type)) for field in schema]
        kept: dict[str, Any] = {"mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin", "mysql_engine": "InnoDB"}
        return sa.Table(name, sa.MetaData(), *columns, schema=self.schema, **kept)

    def digest_of(self, table: sa.Table) -> tuple[int, int]:
        rows = self.connection.execute(sa.select(table), execution_options={"yield_per": _BATCH})
        return _digest(map(tuple, rows))

    def run(self, statement: str) -> None:
        self.connection.exec_driver_sql(statement)

    def plain(self, name: str) -> str:
        return self.connection.dialect.identifier_preparer.quote_identifier(name)

    def quoted(self, name: str) -> str:
        return self.plain(name) if self.schema is None else f"{self.plain(self.schema)}.{self.plain(name)}"


def _column_type(kind: pa.DataType) -> sa.types.TypeEngine[Any]:
    if pa.types.is_floating(kind):
        return sa.Double()
    if pa.types.is_integer(kind):
        return sa.BigInteger()
    if pa.types.is_timestamp(kind):
        return sa.DateTime().with_variant(DATETIME(fsp=6), *MYSQL)
    if pa.types.is_decimal(kind):
        return sa.Numeric(kind.precision, kind.scale)
    return sa.Text().with_variant(LONGTEXT(), *MYSQL)


def _records(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _digest(records: Iterable[tuple[Any, ...]]) -> tuple[int, int]:
    """How many records, and a digest of them in whatever order: a database has none."""
    count = total = 0
    for record in records:
        hashed = hashlib.blake2b(repr(tuple(map(_plain, record))).encode(), digest_size=32).digest()
        count, total = count + 1, (total + int.from_bytes(hashed, "big")) % (1 << 256)
    return count, total


def _plain(value: Any) -> Any:
    """A value as it is told apart from others: no two spellings of one number."""
    if isinstance(value, Decimal):
        return str(value.normalize() + 0)
    return value + 0.0 if isinstance(value, float) else value

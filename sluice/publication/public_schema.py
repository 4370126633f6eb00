"""Public schema: what stands in a schema of a database that editions are published into, as the database says it."""

import hashlib
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.dialects.mysql import DATETIME, LONGTEXT

from sluice.ground.databases import IN_FILES, MYSQL

BATCH = 20_000  # records
_SECONDS = 60  # that a server is waited for, or for others who use a table or view
_TABLES = sa.table(
    "tables",
    *map(sa.column, ("table_schema", "table_name", "table_type")),
    schema="information_schema",
)
_VIEWS = sa.table(
    "views",
    *map(sa.column, ("table_schema", "table_name", "view_definition")),
    schema="information_schema",
)
_NAMING = {"this", "db", "catalog", "alias"}  # what a plain name of a table consists of
_OF_SQLITE = sa.table("sqlite_master", *map(sa.column, ("name", "type", "sql")))
_OF_POSTGRESQL = sa.table("pg_tables", *map(sa.column, ("schemaname", "tablename", "tableowner")), schema="pg_catalog")


def writing_engine(url: sa.URL, *, reads_only: bool = False) -> sa.Engine:
    """An engine by which a schema is written, or looked at. It waits a minute for a server and for locks of others.

    A view that somebody reads cannot be replaced meanwhile; whoever waits for it lets nobody else read it either.
    """
    backend = url.get_backend_name()
    options: dict[str, Any] = {}
    if backend == "duckdb":
        options = {"read_only": reads_only}
    elif backend == "sqlite":
        options = {"timeout": _SECONDS}
    elif backend not in IN_FILES:
        options = {"connect_timeout": _SECONDS}
    engine = sa.create_engine(url, poolclass=sa.NullPool, hide_parameters=True, connect_args=options)
    if backend == "sqlite":
        # Python's module commits before a statement about tables; so it is told to leave transactions alone.
        begin = "BEGIN" if reads_only else "BEGIN IMMEDIATE"
        sa.event.listen(engine, "connect", lambda connection, _: setattr(connection, "isolation_level", None))
        sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    elif backend == "postgresql":
        wait = f"SET LOCAL lock_timeout = '{_SECONDS}s'"
        sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(wait))
    elif backend in MYSQL:
        wait = f"SET SESSION lock_wait_timeout = {_SECONDS}"
        sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(wait))
    return engine


class PublicSchema:
    """One schema, looked at by one connection."""

    def __init__(self, connection: sa.Connection, into: str) -> None:
        self.connection, self.into = connection, into
        self.backend = connection.dialect.name
        self.schema = None if self.backend == "sqlite" else into

    def kind_of(self, name: str) -> str | None:
        """'table' or 'view'; None where there is nothing of this name."""
        if self.backend == "sqlite":
            asked = sa.select(_OF_SQLITE.c.type).where(_OF_SQLITE.c.name == name)
        else:
            asked = sa.select(_TABLES.c.table_type).where(
                _TABLES.c.table_schema == self.into, _TABLES.c.table_name == name
            )
        found = self.connection.execute(asked).scalar()
        return None if found is None else "view" if "view" in str(found).lower() else "table"

    def shown_by(self, view: str) -> str | None:
        """The table of this schema that a view shows as it is; None for a view that shows anything else.

        Of another owner's view PostgreSQL gives no definition, so that none of these is taken for ours.
        """
        import sqlglot  # which no run needs that publishes into no schema
        from sqlglot import exp
        from sqlglot.errors import SqlglotError

        if self.backend == "sqlite":
            asked = sa.select(_OF_SQLITE.c.sql).where(_OF_SQLITE.c.name == view)
        else:
            asked = sa.select(_VIEWS.c.view_definition).where(
                _VIEWS.c.table_schema == self.into, _VIEWS.c.table_name == view
            )
        dialect = {"postgresql": "postgres", "mariadb": "mysql"}.get(self.backend, self.backend)
        try:
            found = sqlglot.parse_one(str(self.connection.execute(asked).scalar() or ""), dialect=dialect)
        except SqlglotError:
            return None
        select = found.expression if isinstance(found, exp.Create) else found
        if not isinstance(select, exp.Select) or {
            name for name, part in select.args.items() if part and name not in ("expressions", "from_", "kind")
        }:
            return None
        shown = select.args.get("from_")
        table = shown.this if shown else None
        plain = all(
            isinstance(each.unalias(), exp.Column | exp.Star)
            and (isinstance(each, exp.Star) or each.alias_or_name == each.unalias().name)
            for each in select.expressions
        )
        # Neither a part of it (a subselect, a sample) nor with other values, as `* REPLACE` of DuckDB gives them.
        if not isinstance(table, exp.Table) or {name for name, part in table.args.items() if part} - _NAMING:
            return None
        changed = any(part for star in select.find_all(exp.Star) for part in star.args.values())
        if not plain or changed or table.alias_column_names or table.db not in ("", self.into):
            return None
        return table.name

    def visible_in(self, schema: str) -> bool:
        """Whether a server shows this account anything in another schema, which it does where it may use it."""
        if self.backend in IN_FILES or schema == self.into:
            return False
        asked = sa.select(sa.func.count()).select_from(_TABLES).where(_TABLES.c.table_schema == schema)
        return bool(self.connection.execute(asked).scalar())

    def is_of_another(self, table: str) -> bool:
        """Whether a table is another account's, who could change it at any time. Only PostgreSQL knows owners."""
        if self.backend != "postgresql":
            return False
        asked = sa.select(_OF_POSTGRESQL.c.tableowner == sa.func.current_user()).where(
            _OF_POSTGRESQL.c.schemaname == self.into, _OF_POSTGRESQL.c.tablename == table
        )
        return self.connection.execute(asked).scalar() is False

    def columns_of(self, name: str) -> list[str]:
        """The names of the columns of a table or view."""
        return list(self.connection.execute(sa.text(f"SELECT * FROM {self.quoted(name)} WHERE 1 = 0")).keys())

    def table(self, name: str, schema: pa.Schema, *, temporary: bool = False) -> sa.Table:
        """A table for what a file of this schema holds; a temporary one is in no schema, and its session's alone."""
        columns = [sa.Column(field.name, _column_type(field.type)) for field in schema]
        kept: dict[str, Any] = {"mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin", "mysql_engine": "InnoDB"}
        prefixes = ["TEMPORARY"] if temporary else []
        return sa.Table(name, sa.MetaData(), *columns, schema=self.schema, prefixes=prefixes, **kept)

    def digest_of(self, table: sa.Table) -> tuple[int, int]:
        rows = self.connection.execute(sa.select(table), execution_options={"yield_per": BATCH})
        return digest(map(tuple, rows))

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


def records_of(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)


def digest(records: Iterable[tuple[Any, ...]]) -> tuple[int, int]:
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

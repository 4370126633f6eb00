"""Engines whose connections can only read the tables of one database, whatever their account may do.

What a driver hands out becomes columns of Arrow.
"""

import json
import resource
import sqlite3
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from sluice.ground.databases import MYSQL
from sluice.sources.tabular_source import unfit

_SECONDS = 3600  # that a database works at one statement, or at the next rows of one

# Reading a table takes these and no other.
_SQLITE_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_SQLITE_FUNCTIONS_BEYOND = {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"}

_DUCKDB = (
    "SET enable_progress_bar = false",  # drawn on standard output
    "SET python_enable_replacements = false",  # a name that is no table would be looked up among Python's variables
    "SET enable_external_access = false",  # no file, no address, no other database, no extension
    "SET lock_configuration = true",
)


def reading_engine(url: sa.URL, *, of_connection: bool = False) -> sa.Engine:
    """An engine whose connections can only read, and see one state of the data from their first statement on.

    DuckDB     : the file opened to read; no other file, and no setting can be changed
    SQLite     : the same; an authorizer lets through what selects, and nothing else
    PostgreSQL : a transaction that only reads, repeatable, each statement an hour at most
    MySQL      : and MariaDB: the same, each select an hour at most
    others     : as their account and driver have it

    of_connection : PostgreSQL finds nothing of the warehouse's own by a name without a schema: no function, operator or
                    type that somebody put there, whatever the account's settings say
    raises        : what SQLAlchemy does when it has no driver
    """
    backend = url.get_backend_name()
    in_a_file = bool(url.database) and url.database != ":memory:"
    if backend == "sqlite":
        path = _sqlite_file(Path(str(url.database))) if in_a_file else ":memory:"
        engine = sa.create_engine(
            url, poolclass=sa.NullPool, creator=lambda: sqlite3.connect(path, uri=True, check_same_thread=False)
        )
        sa.event.listen(engine, "connect", lambda connection, _: connection.set_authorizer(_authorized))
        return engine
    if backend == "duckdb":
        engine = sa.create_engine(url, poolclass=sa.NullPool, connect_args={"read_only": in_a_file})
        sa.event.listen(engine, "connect", _lock_duckdb)
        return engine
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    if backend == "postgresql":
        sa.event.listen(engine, "connect", _limit_postgresql)
        if of_connection:
            sa.event.listen(engine, "connect", _name_schema)
        return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    if backend in MYSQL:
        sa.event.listen(engine, "connect", _limit_mysql)
        return engine.execution_options(isolation_level="REPEATABLE READ")
    return engine


def _sqlite_file(path: Path) -> str:
    """The file as SQLite opens it: one that was closed in WAL mode cannot be read otherwise by who cannot write."""
    with path.open("rb") as file:
        in_wal_mode = file.read(20)[18:] == b"\2\2"
    alone = in_wal_mode and not path.with_name(f"{path.name}-wal").exists()
    return f"file:{quote(str(path))}?mode=ro{'&immutable=1' if alone else ''}"


def _authorized(action: int, first: str | None, second: str | None, *_: Any) -> int:
    """What SQLite asks before each part of a statement."""
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if str(second).lower() in _SQLITE_FUNCTIONS_BEYOND else sqlite3.SQLITE_OK
    return sqlite3.SQLITE_OK if action in _SQLITE_READING else sqlite3.SQLITE_DENY


def _lock_duckdb(connection: Any, _: Any) -> None:
    most = resource.getrlimit(resource.RLIMIT_DATA)[0]  # of the process that reads apart
    if most != resource.RLIM_INFINITY:  # DuckDB would keep what it read until it had most of the machine's
        connection.cursor().execute(f"SET memory_limit = '{most // 3}B'")
    for setting in _DUCKDB:
        connection.cursor().execute(setting)


def _limit_postgresql(connection: Any, _: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET statement_timeout = '{_SECONDS}s'")
    connection.commit()


def _limit_mysql(connection: Any, _: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION TRANSACTION READ ONLY")
        cursor.execute("SELECT version()")
        if "mariadb" in str(cursor.fetchone()).lower():
            cursor.execute(f"SET SESSION max_statement_time = {_SECONDS}")
        else:
            cursor.execute(f"SET SESSION max_execution_time = {_SECONDS * 1000}")
    connection.commit()


def _name_schema(connection: Any, _: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET search_path = pg_catalog")
    connection.commit()


# Of DuckDB, those that Arrow and Python know alike; another, such as a number of 128 bits, is taken as Python has it.
_ALIKE = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "FLOAT", "DOUBLE",
    "VARCHAR", "DATE", "TIMESTAMP",
)  # fmt: skip
_ALIKE_OF_A_KIND = ("ENUM(", "DECIMAL(")
_LOOKED_AT = 100  # records, for the types of columns
_YEARS = {pa.date32(): (date.min, date.max), pa.timestamp("us"): (datetime.min, datetime.max)}


def arrow_reader(connection: sa.Connection, statement: sa.Select[Any], size: int) -> pa.RecordBatchReader | None:
    """What is selected, in batches of at most `size` records; None where rows must be made Python's first.

    cost : a twelfth of the time that rows take, with DuckDB
    """
    if connection.dialect.name != "duckdb":
        return None
    cursor: Any = connection.connection.cursor()
    relation = cursor.sql(str(statement.compile(connection)))
    kinds = [str(kind) for kind in relation.types]
    alike = all(kind in _ALIKE or kind.startswith(_ALIKE_OF_A_KIND) for kind in kinds)
    return relation.to_arrow_reader(size) if alike else None


def unfit_columns(connection: sa.Connection, statement: sa.Select[Any]) -> dict[str, str]:
    """Why no contract can describe columns of what is selected, by name: of DuckDB by their types, else by what the
    first records hold."""
    if connection.dialect.name == "duckdb":
        cursor: Any = connection.connection.cursor()
        schema: pa.Schema = cursor.sql(f"{statement.compile(connection)} LIMIT 0").to_arrow_table().schema
        return {each.name: why for each in schema if (why := unfit(each.type))}
    result = connection.execute(statement.limit(_LOOKED_AT))
    columns = zip(*result.fetchall(), strict=True)
    kinds = {name: as_arrow(held).type for name, held in zip(result.keys(), columns, strict=False)}  # none of no record
    return {name: why for name, kind in kinds.items() if (why := unfit(kind))}


def plain_column(column: pa.Array) -> pa.Array:
    """A column of such a result in the type that `as_arrow` finds for its values."""
    kind = column.type
    if pa.types.is_integer(kind):
        return column.cast(pa.int64())
    if pa.types.is_floating(kind):
        return pc.if_else(pc.is_nan(column), None, column).cast(pa.float64())
    if pa.types.is_dictionary(kind) or pa.types.is_large_string(kind):
        return column.cast(pa.string())
    if kind in _YEARS:
        least, most = (pa.scalar(end, kind) for end in _YEARS[kind])
        known = pc.and_(pc.greater_equal(column, least), pc.less_equal(column, most))
        return column if pc.all(known).as_py() is not False else column.cast(pa.string())
    return as_arrow(column.to_pylist()) if pa.types.is_decimal(kind) else column


def as_arrow(values: "tuple[Any, ...] | list[Any]") -> pa.Array:
    """A column of a driver's values; decimals as numbers, and whatever Arrow has no one type for as text. Lists stay
    lists, and mappings are left to whoever refuses them by the column's name."""
    if any(isinstance(value, Decimal) for value in values):
        numbers = tuple(_number(value) if isinstance(value, Decimal) else value for value in values)
        if all(not isinstance(was, Decimal) or _same(now, was) for now, was in zip(numbers, values, strict=True)):
            values = numbers  # others stay decimals, so that whoever reads them sees that a number has not all digits
    if any(isinstance(value, time) and value.tzinfo for value in values):  # Arrow's times have no zone
        return _texts(values)
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return _texts(values)
    return _texts(values) if isinstance(array.type, pa.BaseExtensionType) else array


def _texts(values: "tuple[Any, ...] | list[Any]") -> pa.Array:
    """Lists and mappings, as drivers make of JSON, are JSON again."""
    texts = [
        json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list | dict) else str(value)
        for value in values
        if value is not None
    ]
    found = iter(texts)
    return pa.array([None if value is None else next(found) for value in values], pa.string())


def _same(number: int | float, decimal: Decimal) -> bool:
    return not decimal.is_finite() or Decimal(repr(number)) == decimal


def _number(value: Decimal) -> int | float:
    """A whole decimal as int, which keeps every digit of a long identifier."""
    return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)

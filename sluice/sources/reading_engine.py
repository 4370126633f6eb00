"""Engines whose connections can only read the tables of one database, whatever their account may do.

What a driver hands out becomes columns of Arrow.
"""

import json
import resource
import sqlite3
from contextlib import closing
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from sluice.ground.databases import MYSQL
from sluice.ground.values import within_calendar
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
    engine = sa.create_engine(url, poolclass=sa.NullPool, connect_args=_as_mysql_shows(url))
    if backend == "postgresql":
        sa.event.listen(engine, "connect", _limit_postgresql)
        if url.get_driver_name() == "psycopg":
            sa.event.listen(engine, "connect", _as_postgresql_shows)
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


_SHOWN = ("json", "jsonb", *(f"{each}{of}" for each in ("int4", "int8", "num", "date", "ts", "tstz")
                                for of in ("range", "multirange")))  # fmt: skip
_TIMES = ("date", "time", "timestamp", "timestamptz")


def _as_postgresql_shows(connection: Any, _: Any) -> None:
    """JSON and ranges as PostgreSQL shows them, not as what Python would make of them; and so a date that Python does
    not know, such as infinity or one before Christ: whoever reads it sees that it is none, and of which column."""
    from psycopg import Error, pq
    from psycopg.adapt import Loader
    from psycopg.types.string import TextLoader

    def or_text(known: Any) -> type[Loader]:
        class OrText(Loader):
            def __init__(self, oid: int, context: Any = None) -> None:
                super().__init__(oid, context)
                self._known = known(oid, context)

            def load(self, data: Any) -> Any:
                try:
                    return self._known.load(data)
                except (Error, ValueError, OverflowError):
                    return bytes(data).decode()

        return OrText

    adapters = connection.adapters
    for name in _SHOWN:
        adapters.register_loader(name, TextLoader)
    for name in _TIMES:
        adapters.register_loader(name, or_text(adapters.get_loader(adapters.types[name].oid, pq.Format.TEXT)))


def _as_mysql_shows(url: sa.URL) -> dict[str, Any]:
    """For PyMySQL: a time, which may have more than a day, and a number with zeros in front as the server shows them;
    bits as a number."""
    if url.get_driver_name() != "pymysql":
        return {}
    from pymysql.constants import FIELD_TYPE
    from pymysql.converters import conversions

    def whole(digits: str) -> int | str:
        return digits if digits[:1] == "0" and digits != "0" else int(digits)

    numbers = (FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.INT24, FIELD_TYPE.LONG, FIELD_TYPE.LONGLONG)
    bits: dict[int, Any] = {FIELD_TYPE.BIT: lambda shown: int.from_bytes(shown, "big"), FIELD_TYPE.TIME: str}
    return {"conv": {**conversions, **bits, **dict.fromkeys(numbers, whole)}}


_MYSQL_FLOAT = 4  # in the protocol


def of_single_precision(connection: sa.Connection, statement: sa.Select[Any]) -> set[str]:
    """The columns of MySQL's type FLOAT, of which the server shows six digits only, unless asked for a DOUBLE."""
    if connection.dialect.name not in MYSQL:
        return set()
    with closing(connection.execute(statement.where(sa.false()))) as result:
        return {str(each[0]) for each in result.cursor.description if each[1] == _MYSQL_FLOAT}


def single_precision(values: "tuple[Any, ...] | list[Any]") -> pa.Array:
    """Doubles of such a column by as few digits as tell them from other numbers of its type: 0.1, as everybody sees."""
    return pa.array(values, pa.float32()).cast(pa.string()).cast(pa.float64())


# Of DuckDB, those that Arrow has to the last digit; another, such as a number of 128 bits, comes as DuckDB shows it.
_EXACT = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "FLOAT",
    "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS",
    "TIMESTAMP WITH TIME ZONE", "INTERVAL", "BLOB",
)  # fmt: skip
_EXACT_OF_A_KIND = ("ENUM(", "DECIMAL(", "STRUCT(", "MAP(", "UNION(")
_LOOKED_AT = 100  # records, for the types of columns


def arrow_reader(connection: sa.Connection, statement: sa.Select[Any], size: int) -> pa.RecordBatchReader | None:
    """What is selected, in batches of at most `size` records; None where rows must be made Python's first.

    cost : a twelfth of the time that rows take, with DuckDB
    """
    if connection.dialect.name != "duckdb":
        return None
    reader: pa.RecordBatchReader = _exact_relation(connection, str(statement.compile(connection))).to_arrow_reader(size)
    return reader


def _exact_relation(connection: sa.Connection, statement: str) -> Any:
    """What DuckDB selects, as texts where neither Arrow nor Python has its values."""
    cursor: Any = connection.connection.cursor()
    relation = cursor.sql(statement)
    columns = []
    for name, kind in zip(relation.columns, map(str, relation.types), strict=True):
        quoted = '"' + name.replace('"', '""') + '"'
        exact = kind in _EXACT or kind.startswith(_EXACT_OF_A_KIND) or kind.endswith("]")
        columns.append(quoted if exact else f"CAST({quoted} AS VARCHAR) AS {quoted}")
    return relation.project(", ".join(columns))


def unfit_columns(connection: sa.Connection, statement: sa.Select[Any]) -> dict[str, str]:
    """Why no contract can describe columns of what is selected, by name: of DuckDB by their types, else by what the
    first records hold."""
    if connection.dialect.name == "duckdb":
        schema: pa.Schema = (
            _exact_relation(connection, f"{statement.compile(connection)} LIMIT 0").to_arrow_table().schema
        )
        return {each.name: why for each in schema if (why := unfit(each.type))}
    result = connection.execute(statement.limit(_LOOKED_AT))
    columns = zip(*result.fetchall(), strict=True)
    kinds = {name: as_arrow(held).type for name, held in zip(result.keys(), columns, strict=False)}  # none of no record
    return {name: why for name, kind in kinds.items() if (why := unfit(kind))}


def plain_column(column: pa.Array) -> pa.Array:
    """A column of such a result in the type that `as_arrow` finds for its values."""
    kind = column.type
    if pa.types.is_integer(kind):
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:  # of 64 bits without a sign
            return column.cast(pa.string())
    if pa.types.is_floating(kind):
        return pc.if_else(pc.is_nan(column), None, column).cast(pa.float64())
    if pa.types.is_dictionary(kind) or pa.types.is_large_string(kind):
        return column.cast(pa.string())
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _known_dates(column)
    return as_arrow(column.to_pylist()) if pa.types.is_decimal(kind) else column


def _known_dates(column: pa.Array) -> pa.Array:
    """Dates as they are; as texts where one is infinite, or outside the years that Python knows."""
    count = column.cast(pa.int32() if pa.types.is_date32(column.type) else pa.int64())
    endless = 2 ** (count.type.bit_width - 1) - 1
    found = pc.if_else(pc.equal(pc.abs(count), endless), None, column)
    if found.null_count == column.null_count and pc.all(within_calendar(found)).as_py() is not False:
        return column
    texts = pc.if_else(pc.equal(count, endless), "infinity", found.cast(pa.string()))
    return pc.if_else(pc.equal(count, -endless), "-infinity", texts)


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
        json.dumps(value, ensure_ascii=False, default=str)
        if isinstance(value, list | dict)
        else value.isoformat()  # as dates beside which there is no text
        if isinstance(value, date | time)
        else str(value)
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

"""Dialects: the databases that a release can be read from, and what of ours or of others each of them needs.

DuckDB, SQLite and PostgreSQL are read with what Sluice itself requires; each other one is an extra, by which pip
installs its dialect of SQLAlchemy and its driver.

The address of a database, and the driver that it is read with.
"""

import os
import re
from dataclasses import dataclass
from importlib.util import find_spec

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError

from sluice.ground.errors import DataError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_OPTION = re.compile(
    r"\w*(password|passwd|pwd|passphrase|token|secret|credentials\w*|access_key\w*|api_?key|private_key)", re.IGNORECASE
)
_WITHIN_ODBC = re.compile(r"\b(?:pwd|password)\s*=\s*([^;]*)", re.IGNORECASE)


@dataclass(frozen=True)
class Dialect:
    """One kind of database.

    driver  : SQLAlchemy's name for dialect and driver, where an address names no driver
    modules : what must be importable for it
    extra   : of pip install 'sluice-sdc[...]'; empty for what Sluice requires itself
    ports   : of TCP, that its driver connects to where an address names none; () for a file
    pandas  : whether its driver loads pandas
    """

    driver: str
    modules: tuple[str, ...]
    ports: tuple[int, ...] = ()
    extra: str = ""
    pandas: bool = False


_HTTPS = 443

DIALECTS: dict[str, Dialect] = {
    "duckdb": Dialect("duckdb", ("duckdb_engine",)),
    "sqlite": Dialect("sqlite", ("sqlite3",)),
    "postgresql": Dialect("postgresql+psycopg", ("psycopg",), (5432,)),
    "mysql": Dialect("mysql+pymysql", ("pymysql",), (3306,), "mysql"),
    "mariadb": Dialect("mariadb+pymysql", ("pymysql",), (3306,), "mysql"),
    "mssql": Dialect("mssql+pymssql", ("pymssql",), (1433,), "mssql"),
    "oracle": Dialect("oracle+oracledb", ("oracledb",), (1521,), "oracle"),
    "redshift": Dialect(
        "redshift+redshift_connector", ("sqlalchemy_redshift", "redshift_connector"), (5439,), "redshift"
    ),
    "snowflake": Dialect("snowflake", ("snowflake.sqlalchemy",), (_HTTPS, 80), "snowflake"),  # 80: revoked certificates
    "bigquery": Dialect("bigquery", ("sqlalchemy_bigquery",), (_HTTPS,), "bigquery"),
    "databricks": Dialect("databricks", ("databricks.sqlalchemy",), (_HTTPS,), "databricks", pandas=True),
    "trino": Dialect("trino", ("trino.sqlalchemy",), (8080,), "trino"),
}
IN_FILES = ("duckdb", "sqlite")
MYSQL = ("mysql", "mariadb")
"""Two names of SQLAlchemy for servers of one protocol."""

PUBLISHABLE = ("duckdb", "sqlite", "postgresql", *MYSQL)
"""Databases of which it was tried that they keep what is written, and swap a view, see `publication.schema_change`."""


def with_driver(url: sa.URL) -> sa.URL:
    """The address with the driver that Sluice installs for its database, unless it names one."""
    dialect = DIALECTS.get(url.drivername)
    return url.set(drivername=dialect.driver) if dialect else url


def refuse_absent(url: sa.URL, title: str) -> None:
    """Raise DataError where the database of an address cannot be read as things are: says which extra it needs.

    title : what the error calls the source
    """
    backend = url.get_backend_name()
    dialect = DIALECTS.get(backend)
    if backend == "duckdb" and str(url.database or "").startswith(("md:", "motherduck:")):
        raise DataError(
            f"{title}: MotherDuck is read by an extension that DuckDB downloads while it runs, which a process that "
            "reads a source may not. Name a copy in a file, or MotherDuck's address for PostgreSQL, if it has one"
        )
    if dialect is None or url.drivername != dialect.driver:
        return  # of the operator's own choice: SQLAlchemy says whether it is there
    if not all(map(_is_installed, dialect.modules)):
        needs = f"the extra '{dialect.extra}', which is not installed: pip install 'sluice-sdc[{dialect.extra}]'"
        raise DataError(f"{title}: a database of the dialect '{backend}' needs {needs}")


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package that it is in
        return False


def database_url(address: str | sa.URL) -> sa.URL:
    """The address with our driver, unless it names one: `postgresql://` means `postgresql+psycopg://`.

    SQLAlchemy's own choice is often another, which is not installed.

    raises : ValueError when it is no address; its text repeats nothing of it, which may hold a password
    """
    try:
        url = sa.make_url(address)
    except (ArgumentError, ValueError):  # the latter for a port that is no number
        raise ValueError("no address of a database, such as postgresql://user@host/database") from None
    return with_driver(url)


def typed_address(written: str) -> str:
    """An address as a person types it at the terminal: without a password, or ${NAME} of an environment variable.

    raises : ValueError; its text repeats nothing of it
    """
    if variable := _VARIABLE.fullmatch(written):
        if not os.environ.get(variable[1]):
            raise ValueError(f"the environment variable {variable[1]} is not set")
        return os.environ[variable[1]]
    if holds_password(database_url(written)):
        raise ValueError(
            "the address holds a password, which your shell's history may hold now, too. Read it whole into an "
            "environment variable, where no history keeps it (read -rs WAREHOUSE; export WAREHOUSE), and write "
            "'${WAREHOUSE}'"
        )
    return written


def holds_password(url: sa.URL, *, but: re.Pattern[str] | None = None) -> bool:
    """Whether a password stands in an address, or an option that is called like one; `but` what such a pattern fits."""
    given = [url.password or "", *(str(url.query[name]) for name in url.query if _SECRET_OPTION.fullmatch(name))]
    given += _WITHIN_ODBC.findall(str(url.query.get("odbc_connect", "")))
    return any(value and not (but and but.fullmatch(value)) for value in map(str, given))

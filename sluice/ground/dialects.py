"""Dialects: the databases that a release can be read from, and what of ours or of others each of them needs.

DuckDB, SQLite and PostgreSQL are read with what Sluice itself requires; each other one is an extra, by which pip
installs its dialect of SQLAlchemy and its driver.
"""

from dataclasses import dataclass
from importlib.util import find_spec

import sqlalchemy as sa

from sluice.ground.errors import DataError


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

"""Dialects: what each database is asked in its own SQL, what it needs installed, and which ports it may reach."""

import tomllib
from importlib.metadata import requires
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from sluice.ground.databases import DIALECTS, IN_FILES, database_url, refuse_absent, typed_address
from sluice.ground.errors import DataError, SluiceError
from sluice.ground.readable_tables import ReadableTables
from sluice.ground.select_guard import QUERYABLE
from sluice.sources.reading_engine import reading_engine
from sluice.sources.separate_reading import read_apart
from sluice.sources.sql_source import SqlSource
from tasks.project.own_project import own_data
from tests.golden import golden
from tests.sources.readers import READERS

ROOT = Path(__file__).parents[2]
ADDRESSES = {
    "mysql": "mysql://u@w/house",
    "mariadb": "mariadb://u@w/house",
    "mssql": "mssql://u@w/house",
    "oracle": "oracle://u@w/?service_name=house",
    "redshift": "redshift://u@w/house",
    "snowflake": "snowflake://u@w/house",
    "bigquery": "bigquery://house/survey",
    "databricks": "databricks://token:x@w?http_path=p&catalog=c&schema=s",
    "trino": "trino://u@w/house",
    "postgresql": "postgresql://u@w/house",
    "duckdb": "duckdb:///house.duckdb",
    "sqlite": "sqlite:///house.db",
}


def compiled(statement: sa.Select[Any], backend: str) -> str:
    """The statement as this dialect has it; its compiler needs no driver and no server."""
    dialect = database_url(ADDRESSES[backend]).get_dialect()()
    return " ".join(str(statement.compile(dialect=dialect, compile_kwargs={"literal_binds": True})).split())


@pytest.mark.parametrize(
    ("backend", "wanted"),
    [
        ("mysql", "SELECT id, `Age`, `table` FROM survey.people"),
        ("mariadb", "SELECT id, `Age`, `table` FROM survey.people"),
        ("mssql", "SELECT id, [Age], [table] FROM survey.people"),
        ("oracle", 'SELECT id, "Age", "table" FROM survey.people'),
        ("redshift", 'SELECT id, "Age", "table" FROM survey.people'),
        ("snowflake", 'SELECT id, "Age", "table" FROM survey.people'),
        ("bigquery", "SELECT `id`, `Age`, `table` FROM `survey`.`people`"),
        ("databricks", "SELECT id, `Age`, `table` FROM survey.people"),
        ("trino", 'SELECT id, "Age", "table" FROM survey.people'),
        ("postgresql", 'SELECT id, "Age", "table" FROM survey.people'),
        ("duckdb", 'SELECT id, "Age", "table" FROM survey.people'),
        ("sqlite", 'SELECT id, "Age", "table" FROM survey.people'),
    ],
)
def test_a_table_is_read_in_the_sql_of_its_database(backend: str, wanted: str) -> None:
    source = SqlSource(url=ADDRESSES[backend], table="survey.people")
    assert compiled(source._select("id", "Age", "table"), backend) == wanted
    none = compiled(source._select("*").where(sa.false()), backend)
    assert none.startswith("SELECT * FROM ")
    assert none.endswith(("WHERE false", "WHERE 0 = 1", "WHERE false = 1"))


def test_oracle_has_no_as_before_a_table() -> None:
    """A query is let through to none but the three that were tried; yet it would be read."""
    text = sa.select(sa.text("*")).select_from(sa.text("SELECT 1 FROM t").columns().subquery("source_query"))
    assert compiled(text, "oracle") == "SELECT * FROM (SELECT 1 FROM t) source_query"
    assert compiled(text, "postgresql") == "SELECT * FROM (SELECT 1 FROM t) AS source_query"


@pytest.mark.parametrize("backend", sorted(DIALECTS.keys() - {*QUERYABLE}))
def test_a_query_goes_to_no_database_of_which_nobody_tried_how_it_reads_it(backend: str) -> None:
    """In MySQL's usual mode "town" is a text and no name, and /*! */ is no comment: it would read another query."""
    source = SqlSource(url=ADDRESSES[backend], query='SELECT "town" FROM survey.people')
    with golden.raises(DataError):
        source._select("*")


@pytest.mark.parametrize("backend", sorted(each for each in DIALECTS if DIALECTS[each].extra))
def test_a_dialect_that_is_not_installed_names_its_extra(backend: str) -> None:
    extra = DIALECTS[backend].extra
    url = database_url(ADDRESSES[backend])
    with patch("sluice.ground.databases.find_spec", return_value=None), golden.raises(DataError):
        refuse_absent(url, "connection 'w'")
    written = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extra in written


def test_a_package_that_is_not_there_at_all_is_no_traceback() -> None:
    with (
        patch.dict(
            DIALECTS, {"oracle": DIALECTS["oracle"].__class__("oracle+oracledb", ("no.such.package",), (), "o")}
        ),
        golden.raises(DataError),
    ):
        refuse_absent(database_url(ADDRESSES["oracle"]), "table t")


def test_a_driver_of_the_operator_s_own_choice_is_left_to_sqlalchemy() -> None:
    refuse_absent(database_url("mysql+mysqldb://u@w/house"), "table t")
    refuse_absent(database_url("firebird://u@w/house"), "table t")


def test_motherduck_is_refused_with_the_reason() -> None:
    with golden.raises(DataError):
        refuse_absent(database_url("duckdb:///md:house"), "connection 'w'")


@pytest.mark.parametrize("backend", sorted(DIALECTS.keys() - {*IN_FILES}))
def test_a_reader_reaches_the_server_s_ports_and_no_others(backend: str) -> None:
    """None would be any port; () none at all."""
    source = SqlSource(url=ADDRESSES[backend], table="survey.people")
    assert source.ports == (*DIALECTS[backend].ports, 53)
    assert DIALECTS[backend].ports
    other = database_url(ADDRESSES[backend]).set(port=4711).render_as_string(hide_password=False)
    assert SqlSource(url=other, table="survey.people").ports == (4711, 53)


def test_another_database_of_the_same_server_is_another_schema() -> None:
    """Names with a database in front are read only where the operator lists the schema with it."""
    some = ReadableTables(schemas=("survey",))
    assert some.permits("survey", "people", "snowflake")
    assert not some.permits("other.survey", "people", "snowflake")
    assert not some.permits("Survey", "people", "snowflake")
    assert not some.permits("", "people", "snowflake")


@pytest.mark.servers
@pytest.mark.parametrize(
    "statement", ["DELETE FROM records", "CREATE TABLE mine (a INT)", "UPDATE records SET pay = 0"]
)
def test_a_session_that_reads_mariadb_cannot_write(mariadb: str, statement: str) -> None:
    READERS["mariadb"].write(READERS["mariadb"].records(), mariadb)
    engine = reading_engine(database_url(mariadb))
    with engine.connect() as connection, pytest.raises(sa.exc.OperationalError, match="READ ONLY"):
        connection.exec_driver_sql(statement)
    engine.dispose()


@pytest.mark.smoke
@pytest.mark.servers
@pytest.mark.reads_apart
def test_mariadb_is_read_behind_the_walls(mariadb: str) -> None:
    READERS["mariadb"].write(READERS["mariadb"].records(1000), mariadb)
    source = SqlSource(url=mariadb, table=f"{sa.make_url(mariadb).database}.records")
    assert sum(map(len, read_apart(source, ["code"]))) == 1000


# Addresses of databases: a plain postgresql:// reaches the driver that is installed, all else is left as written.


def test_postgresql_means_the_driver_that_sluice_requires() -> None:
    url = database_url("postgresql://reader@host:5433/house?sslmode=require")
    assert url.drivername == "postgresql+psycopg"
    assert url.render_as_string().endswith("://reader@host:5433/house?sslmode=require")
    assert sa.create_engine(url).dialect.dbapi.__name__ == "psycopg"
    assert "psycopg" in {Requirement(needed).name for needed in requires("sluice-sdc") or []}


@pytest.mark.parametrize("driver", ["postgresql+psycopg", "postgresql+asyncpg", "sqlite", "duckdb", "mssql+pyodbc"])
def test_a_driver_that_is_named_is_kept(driver: str) -> None:
    assert database_url(f"{driver}:///x").drivername == driver


@given(st.text(min_size=1), st.text(min_size=1), st.integers(1, 65535))
def test_nothing_but_the_driver_changes(user: str, password: str, port: int) -> None:
    url = sa.URL.create("postgresql", user, password, "host", port, "house", {"application_name": "sluice"})
    assert database_url(url).set(drivername="postgresql") == url
    assert database_url(database_url(url)) == database_url(url)


@pytest.mark.parametrize("address", ["", "nowhere", "postgresql://u:hunter2@host:hunter2/x"])
def test_what_is_no_address_is_refused_and_not_repeated(address: str) -> None:
    with golden.raises(ValueError) as refused:
        database_url(address)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://u:geheim-4711@host/db",
        "postgresql://u@host/db?sslpassword=geheim-4711",
        "snowflake://u@account/db?private_key_passphrase=geheim-4711",
        "bigquery://project/dataset?credentials_base64=geheim-4711",
        "awsathena+rest://@host/db?aws_secret_access_key=geheim-4711",
        "mssql+pyodbc:///?odbc_connect=DRIVER%3DODBC%3BUID%3Du%3BPWD%3Dgeheim-4711%3BEncrypt%3Dyes",
    ],
)
def test_a_password_is_not_typed_and_not_repeated(address: str) -> None:
    """In no file, no message, and the advice does not put it into the shell's history."""
    with golden.raises(ValueError) as raised:
        typed_address(address)
    assert "geheim" not in str(raised.value)
    with pytest.raises(SluiceError) as refused:
        own_data(address, "survey.people")
    assert "geheim" not in str(refused.value)


def test_an_address_without_a_password_may_be_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    for address in ("postgresql://u@host/db?sslmode=require", "mssql+pyodbc:///?odbc_connect=DRIVER%3DODBC%3BUID%3Du"):
        assert typed_address(address) == address
    monkeypatch.setenv("WAREHOUSE", "postgresql://u:geheim-4711@host/db")
    found = own_data("${WAREHOUSE}", "survey.people")
    assert found.connection == {"url": "${WAREHOUSE}", "secrets": ["WAREHOUSE"], "tables": ["survey.people"]}
    assert "geheim" not in repr(found)

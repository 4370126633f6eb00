"""Addresses of databases: a plain postgresql:// reaches the driver that is installed, all else is left as written."""

from importlib.metadata import requires

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from sluice.ground.databases import database_url, typed_address
from sluice.ground.errors import SluiceError
from tasks.project.own_project import own_data
from tests.golden import golden


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

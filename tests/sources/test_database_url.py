"""Addresses of databases: a plain postgresql:// reaches the driver that is installed, all else is left as written."""

from importlib.metadata import requires

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement

from sluice.sources.database_url import database_url


def test_postgresql_means_the_driver_that_sluice_requires() -> None:
    url = database_url("postgresql://reader@host:5433/house?sslmode=require")
    assert url.drivername == "postgresql+psycopg"
    assert url.render_as_string().endswith("://reader@host:5433/house?sslmode=require")
    assert sa.create_engine(url).dialect.dbapi.__name__ == "psycopg"
    assert "psycopg" in {Requirement(needed).name for needed in requires("sluice") or []}


@pytest.mark.parametrize("driver", ["postgresql+psycopg", "postgresql+asyncpg", "sqlite", "duckdb", "mssql+pyodbc"])
def test_a_driver_that_is_named_is_kept(driver: str) -> None:
    assert database_url(f"{driver}:///x").drivername == driver


@settings(max_examples=50)
@given(st.text(min_size=1), st.text(min_size=1), st.integers(1, 65535))
def test_nothing_but_the_driver_changes(user: str, password: str, port: int) -> None:
    url = sa.URL.create("postgresql", user, password, "host", port, "house", {"application_name": "sluice"})
    assert database_url(url).set(drivername="postgresql") == url
    assert database_url(database_url(url)) == database_url(url)


@pytest.mark.parametrize("address", ["", "nowhere", "postgresql://u:hunter2@host:hunter2/x"])
def test_what_is_no_address_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(ValueError, match=r"no address of a database, such as postgresql://user@host") as refused:
        database_url(address)
    assert "hunter2" not in str(refused.value)

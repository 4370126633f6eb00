"""Behind the guard of queries stands another wall: a connection that can only read the tables of one database."""

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pandas as pd
import pytest
import sqlalchemy as sa

from sluice.ground.databases import database_url
from sluice.sources.reading_engine import reading_engine

SECRET = "swordfish-4711"


@pytest.fixture(params=["duckdb", "sqlite", pytest.param("postgresql", marks=pytest.mark.servers)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[sa.Engine]:
    """An engine on a database with a table of three people; beside it a file that nobody shall read."""
    (tmp_path / "secret.csv").write_text(f"a\n{SECRET}\n")
    address = request.getfixturevalue("postgresql") if request.param == "postgresql" else ""
    url = database_url(address or f"{request.param}:///{tmp_path}/w.db")
    filling = sa.create_engine(url, poolclass=sa.NullPool)
    with filling.begin() as connection:
        connection.execute(sa.text("CREATE TABLE people (id INTEGER)"))
        connection.execute(sa.text("INSERT INTO people VALUES (1), (2), (3)"))
        if request.param == "postgresql":
            connection.execute(sa.text("CREATE SEQUENCE numbers"))
    filling.dispose()
    made = reading_engine(url)
    yield made
    made.dispose()


def test_it_reads(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT sum(id) FROM people")).scalar() == 6


BEYOND = {
    "any": ["INSERT INTO people VALUES (4)", "UPDATE people SET id = 0", "DELETE FROM people", "DROP TABLE people",
            "CREATE TABLE more (id INTEGER)"],
    "duckdb": ["SELECT * FROM read_text('{folder}/secret.csv')", "SELECT * FROM '{folder}/secret.csv'",
               "SELECT * FROM read_blob('/proc/self/environ')", "SELECT * FROM glob('{folder}/*')",
               "COPY people TO '{folder}/out.csv'", "ATTACH '{folder}/other.db' AS other", "INSTALL httpfs",
               "LOAD '{folder}/x.duckdb_extension'", "SET enable_external_access = true", "SET threads = 1",
               "SET lock_configuration = false", "EXPORT DATABASE '{folder}/out'"],
    "sqlite": ["ATTACH '{folder}/other.db' AS other", "VACUUM INTO '{folder}/out.db'", "PRAGMA query_only = off",
               "PRAGMA writable_schema = on", "SELECT load_extension('{folder}/x')",
               "CREATE TEMP TABLE t AS SELECT * FROM people"],
    "postgresql": ["SELECT nextval('numbers')", "SET TRANSACTION READ WRITE",
                   "SELECT set_config('transaction_read_only', 'off', false)"],
}  # fmt: skip


REFUSALS = {
    "duckdb": "read-only|disabled|configuration has been locked|Cannot change",
    "sqlite": "not authorized|authorization denied|readonly",
    "postgresql": "read-only|read-write|before any query",
}


@pytest.mark.chain
def test_and_can_do_nothing_else(engine: sa.Engine, tmp_path: Path) -> None:
    dialect = engine.dialect.name
    before = sorted(path.name for path in tmp_path.iterdir())
    for statement in (*BEYOND["any"], *BEYOND[dialect]):
        with engine.connect() as connection:
            connection.execute(sa.text("SELECT count(*) FROM people"))  # a transaction is under way, as in a reading
            with pytest.raises(sa.exc.DBAPIError) as raised:
                connection.execute(sa.text(statement.format(folder=tmp_path)))
            says = str(raised.value.orig)
            assert SECRET not in says, statement
            assert re.search(REFUSALS[dialect], says), (statement, says)
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM people")).scalar() == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.servers
def test_one_state_of_the_data_is_read(postgresql: str) -> None:
    """What others write between two statements of a reading is not seen by it."""
    writing = sa.create_engine(database_url(postgresql), poolclass=sa.NullPool)
    with writing.begin() as connection:
        connection.execute(sa.text("CREATE TABLE people AS SELECT 1 AS id"))
    reading = reading_engine(database_url(postgresql))
    with reading.connect() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM people")).scalar() == 1
        with writing.begin() as other:
            other.execute(sa.text("INSERT INTO people VALUES (2)"))
        assert connection.execute(sa.text("SELECT count(*) FROM people")).scalar() == 1
        assert connection.execute(sa.text("SHOW statement_timeout")).scalar() == "1h"
    writing.dispose()


def test_a_variable_of_python_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    duckdb.connect(path).close()
    frame = pd.DataFrame({"a": [SECRET]})
    engine = reading_engine(database_url(f"duckdb:///{path}"))
    with engine.connect() as connection, pytest.raises(sa.exc.DBAPIError):
        connection.execute(sa.text("SELECT * FROM frame"))
    assert len(frame) == 1


def test_duckdb_draws_no_bar_on_standard_output(tmp_path: Path) -> None:
    """After two seconds it would, in front of the JSON that a machine waits for."""
    duckdb.connect(tmp_path / "w.duckdb").close()
    engine = reading_engine(database_url(f"duckdb:///{tmp_path / 'w.duckdb'}"))
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT current_setting('enable_progress_bar')")).scalar() is False
    engine.dispose()


def test_a_database_in_memory_opens_no_file_either(tmp_path: Path) -> None:
    for address in ("sqlite://", "duckdb:///:memory:"):
        engine = reading_engine(database_url(address))
        with engine.connect() as connection:
            assert connection.execute(sa.text("SELECT 1")).scalar() == 1
            with pytest.raises(sa.exc.DBAPIError, match=REFUSALS[engine.dialect.name]):
                connection.execute(sa.text(f"ATTACH '{tmp_path}/other.db' AS other"))
    assert list(tmp_path.iterdir()) == []

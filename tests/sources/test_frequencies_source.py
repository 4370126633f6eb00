"""Frequencies: the same counts of the same values from every database, in the SQL of each, and no record with them."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from sluice.errors import DataError
from sluice.sources.dialects import DIALECTS
from sluice.sources.frequencies_source import COLUMN, RECORDS, VALUE, FrequenciesSource
from sluice.sources.readable_tables import ReadableTables
from sluice.sources.sql_source import SqlSource
from tests.golden import golden
from tests.sources.test_dialects import ADDRESSES, compiled
from tests.sources.test_dialects import fill as fill_mariadb
from tests.sources.test_sources import fill, warehouse

__all__ = ["fill", "warehouse"]

# Ages are 0 to 89 in turn in 1,000 records, and the fourth has none; all live in one town.
WANTED = {("Age", age): 12 if age < 10 else 11 for age in range(90)} | {("Age", 3): 11, ("town", "a:b 5%"): 1000}


def frequencies(url: str, table: str, *columns: str, most: int = 10_000) -> dict[tuple[str, object], int]:
    source = FrequenciesSource(of=SqlSource(url=url, table=table), of_columns=columns, most=most)
    return {
        (columns[place], value): records
        for batch in source.batches([COLUMN, VALUE, RECORDS])
        for place, value, records in zip(batch[COLUMN], batch[VALUE], batch[RECORDS], strict=True)
    }


@pytest.mark.chain
def test_the_same_frequencies_from_every_database(warehouse: tuple[str, str]) -> None:
    assert frequencies(*warehouse, "Age", "town") == WANTED


@pytest.mark.servers
def test_mariadb_gives_them_too(mariadb: str) -> None:
    fill_mariadb(mariadb)
    assert frequencies(mariadb, f"{mariadb.rpartition('/')[2]}.people", "Age", "town") == WANTED


@pytest.mark.parametrize("backend", sorted(DIALECTS))
def test_one_expression_is_the_sql_of_every_dialect(backend: str) -> None:
    of = SqlSource(url=ADDRESSES[backend], table="survey.people")
    statement = FrequenciesSource(of=of, of_columns=("Age",)).statement("Age")
    quotes = str.maketrans("", "", '"`[]')
    assert compiled(statement, backend).translate(quotes) == (
        "SELECT Age AS f0, count(*) AS f1 FROM survey.people GROUP BY Age"
    )


def test_a_column_of_many_values_tells_some_of_them(warehouse: tuple[str, str]) -> None:
    found = frequencies(*warehouse, "id", most=10)
    assert len(found) == 10
    assert set(found.values()) == {1}


def test_values_of_several_types_come_by_type(tmp_path: Path) -> None:
    """SQLite keeps what it is given; made one column, the numbers would be texts, and the text no category."""
    url = f"sqlite:///{tmp_path}/people.db"
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE people (code)")
        for value in (1.0, 1.0, "x", None):
            connection.exec_driver_sql("INSERT INTO people VALUES (?)", (value,))
    engine.dispose()
    assert frequencies(url, "people", "code") == {("code", 1.0): 2, ("code", "x"): 1}


def test_a_column_that_is_not_there_is_named(warehouse: tuple[str, str]) -> None:
    with golden.raises(DataError):
        frequencies(*warehouse, "age")


def test_a_table_that_may_not_be_read_gives_no_frequency_either() -> None:
    of = SqlSource(url="sqlite:///x.db", table="staff", readable=ReadableTables(tables=("people",)))
    with golden.raises(DataError):
        FrequenciesSource(of=of, of_columns=("name",)).statement("name")

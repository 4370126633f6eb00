"""Figures and frequencies: the same from every database, in the SQL of each, and no record with them."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from sluice.ground.databases import DIALECTS
from sluice.ground.errors import DataError
from sluice.ground.readable_tables import ReadableTables
from sluice.sources.figures_source import COLUMN, RECORDS, VALUE, Figure, FiguresSource, FrequenciesSource
from sluice.sources.sql_source import SqlSource
from tests.golden import golden
from tests.ground.test_databases import ADDRESSES, compiled
from tests.sources.readers import DATABASES, READERS, marked, place_of, records

FIGURES = (
    Figure(what="records"),
    Figure(what="missing", column="number"),
    Figure(what="smallest", column="number"),
    Figure(what="largest", column="pay"),
)


@pytest.fixture(params=marked(*DATABASES))
def people(request: pytest.FixtureRequest, tmp_path: Path) -> SqlSource:
    place, reader = place_of(request.param, request, tmp_path), READERS[request.param]
    reader.write(reader.records(), place)
    source = reader.source(place)
    assert isinstance(source, SqlSource)
    return source


def frequencies(of: SqlSource, *columns: str, most: int = 10_000) -> dict[tuple[str, object], int]:
    source = FrequenciesSource(of=of, of_columns=columns, most=most)
    return {
        (columns[place], value): records
        for batch in source.batches([COLUMN, VALUE, RECORDS])
        for place, value, records in zip(batch[COLUMN], batch[VALUE], batch[RECORDS], strict=True)
    }


def test_the_same_figures_and_frequencies_from_every_database(people: SqlSource) -> None:
    [batch] = FiguresSource(of=people, figures=FIGURES).batches([figure.name for figure in FIGURES])
    number, pay = records()["number"], records()["pay"]
    assert {name: batch[name][0] for name in batch} == {
        "records": 12, "missing number": number.isna().sum(), "smallest number": number.min(),
        "largest pay": pay.max(),
    }  # fmt: skip
    counted = {("number", value): 1 for value in number.dropna()}
    assert frequencies(people, "number", "pay") == counted | {("pay", each): 3 for each in pay.dropna().unique()}
    some = frequencies(people, "code", most=10)
    assert (len(some), set(some.values())) == (10, {1})


def test_a_column_that_is_not_there_is_named(people: SqlSource) -> None:
    for summary in (
        FrequenciesSource(of=people, of_columns=("numbr",)),
        FiguresSource(of=people, figures=(Figure(what="missing", column="numbr"),)),
    ):
        with golden.raises(DataError):
            list(summary.batches(summary.column_names()))


@pytest.mark.parametrize("backend", sorted(DIALECTS))
def test_one_expression_is_the_sql_of_every_dialect(backend: str) -> None:
    of = SqlSource(url=ADDRESSES[backend], table="survey.people")
    quotes = str.maketrans("", "", '"`[]')
    assert compiled(FiguresSource(of=of, figures=FIGURES).statement(), backend).translate(quotes) == (
        "SELECT count(*) AS f0, count(*) - count(number) AS f1, min(number) AS f2, max(pay) AS f3 FROM survey.people"
    )
    frequency = FrequenciesSource(of=of, of_columns=("Age",)).statement("Age")
    assert compiled(frequency, backend).translate(quotes) == (
        "SELECT Age AS f0, count(*) AS f1 FROM survey.people GROUP BY Age"
    )


def test_a_table_that_may_not_be_read_gives_neither() -> None:
    of = SqlSource(url="sqlite:///x.db", table="staff", readable=ReadableTables(tables=("people",)))
    with golden.raises(DataError):
        FiguresSource(of=of, figures=FIGURES).statement()
    with golden.raises(DataError):
        FrequenciesSource(of=of, of_columns=("name",)).statement("name")


def test_values_of_several_types_come_by_type(tmp_path: Path) -> None:
    """SQLite keeps what it is given; made one column, the numbers would be texts, and the text no category."""
    url = f"sqlite:///{tmp_path}/people.db"
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE people (code)")
        for value in (1.0, 1.0, "x", None):
            connection.exec_driver_sql("INSERT INTO people VALUES (?)", (value,))
    engine.dispose()
    assert frequencies(SqlSource(url=url, table="people"), "code") == {("code", 1.0): 2, ("code", "x"): 1}

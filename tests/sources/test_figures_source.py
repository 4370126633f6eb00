"""Figures: the same counts and extremes from every database, in the SQL of each, and no record with them."""

import pytest

from sluice.errors import DataError
from sluice.sources.dialects import DIALECTS
from sluice.sources.figures_source import Figure, FiguresSource
from sluice.sources.readable_tables import ReadableTables
from sluice.sources.sql_source import SqlSource
from tests.golden import golden
from tests.sources.test_dialects import ADDRESSES, compiled
from tests.sources.test_dialects import fill as fill_mariadb
from tests.sources.test_sources import fill, warehouse

__all__ = ["fill", "warehouse"]

FIGURES = (
    Figure(what="records"),
    Figure(what="missing", column="Age"),
    Figure(what="smallest", column="Age"),
    Figure(what="largest", column="pay"),
)
WANTED = {"records": 1000, "missing Age": 1, "smallest Age": 0, "largest pay": 249.75}


def figures(url: str, table: str) -> dict[str, float]:
    source = FiguresSource(of=SqlSource(url=url, table=table), figures=FIGURES)
    [batch] = source.batches([figure.name for figure in FIGURES])
    return {str(name): batch[name][0] for name in batch}


@pytest.mark.chain
def test_the_same_figures_from_every_database(warehouse: tuple[str, str]) -> None:
    assert figures(*warehouse) == WANTED


@pytest.mark.servers
def test_mariadb_gives_them_too(mariadb: str) -> None:
    fill_mariadb(mariadb)
    assert figures(mariadb, f"{mariadb.rpartition('/')[2]}.people") == WANTED


@pytest.mark.parametrize("backend", sorted(DIALECTS))
def test_one_expression_is_the_sql_of_every_dialect(backend: str) -> None:
    source = FiguresSource(of=SqlSource(url=ADDRESSES[backend], table="survey.people"), figures=FIGURES)
    quotes = str.maketrans("", "", '"`[]')
    assert compiled(source.statement(), backend).translate(quotes) == (
        "SELECT count(*) AS f0, count(*) - count(Age) AS f1, min(Age) AS f2, max(pay) AS f3 FROM survey.people"
    )


def test_a_table_that_may_not_be_read_gives_no_figure_either() -> None:
    of = SqlSource(url="sqlite:///x.db", table="staff", readable=ReadableTables(tables=("people",)))
    with golden.raises(DataError):
        FiguresSource(of=of, figures=FIGURES).statement()

import pytest

from sluice.ground.errors import DataError
from sluice.utility.analyses.aggregate_query import read_aggregate_query
from tests.golden import golden


def test_a_query_is_read_into_groups_and_figures() -> None:
    query = read_aggregate_query("SELECT sex, year(born) AS born, avg(a) AS pay FROM records GROUP BY sex, year(born)")
    assert (query.groups, query.figures) == (("sex", "born"), ("pay",))
    assert query.text.endswith('FROM records GROUP BY "sex", YEAR("born")')
    by_name = read_aggregate_query("select year(born) as y, count(*) as n from records where pay > 3 group by y")
    assert 'WHERE "pay" > 3 GROUP BY YEAR("born")' in by_name.text
    assert read_aggregate_query("select sum(a) / count(*) as share from records").groups == ()


@pytest.mark.parametrize(
    "attack",
    [
        "SELECT count(*) AS n FROM 'people.csv'",
        "SELECT count(*) AS n FROM read_csv('/etc/passwd')",
        "SELECT count(*) AS n FROM read_text('/etc/passwd')",
        "SELECT count(*) AS n FROM glob('/*')",
        "SELECT count(*) AS n FROM other",
        "SELECT count(*) AS n FROM main.records",
        "SELECT count(*) AS n FROM records, records AS r",
        "SELECT count(*) AS n FROM records JOIN records AS r ON true",
        "SELECT count(*) AS n FROM (SELECT * FROM records)",
        "WITH r AS (SELECT * FROM records) SELECT count(*) AS n FROM r",
        "SELECT count(*) AS n FROM records UNION SELECT count(*) FROM records",
        "SELECT count(*) AS n FROM duckdb_settings()",
        "SELECT count(*) AS n FROM information_schema.tables",
        "SELECT getenv('HOME') AS h, count(*) AS n FROM records GROUP BY h",
        "SELECT count(*) AS n FROM records; COPY records TO 'x.csv'",
        "SELECT count(*) AS n FROM records -- x",
        "COPY records TO 'x.csv'",
        "ATTACH 'x.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "PRAGMA database_list",
        "CREATE TABLE x AS SELECT * FROM records",
        "DELETE FROM records",
        "EXPORT DATABASE 'x'",
        "CALL pragma_version()",
    ],
)
def test_whatever_is_not_one_select_over_the_records_is_refused(attack: str) -> None:
    with pytest.raises(DataError):
        read_aggregate_query(attack)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM records",
        "SELECT age FROM records",
        "SELECT max(age) AS a FROM records",
        "SELECT min(age) AS a FROM records",
        "SELECT count(DISTINCT age) AS a FROM records",
        "SELECT DISTINCT sex, count(*) AS n FROM records GROUP BY sex",
        "SELECT avg(age) FROM records",
        "SELECT avg(age) AS a, avg(pay) AS a FROM records",
        "SELECT avg(age) AS a FROM records GROUP BY sex",
        "SELECT sex, avg(age) AS a FROM records",
        "SELECT sex, avg(age) AS a FROM records GROUP BY 1",
        "SELECT sex, avg(age) AS a FROM records GROUP BY ROLLUP (sex)",
        "SELECT sex, avg(age) AS a FROM records GROUP BY sex HAVING count(*) < 3",
        "SELECT sex, avg(age) AS a FROM records GROUP BY sex LIMIT 1",
        "SELECT avg(age) FILTER (WHERE age > 90) AS a FROM records",
        "SELECT avg(age) OVER (PARTITION BY sex) AS a FROM records",
        "SELECT avg((SELECT 1)) AS a FROM records",
    ],
)
def test_another_form_is_refused_with_what_is_allowed(query: str) -> None:
    with golden.raises(DataError):
        read_aggregate_query(query)


def test_how_many_records_stand_behind_each_figure_is_asked_too() -> None:
    query = read_aggregate_query("SELECT count(*) AS n, count(pay) AS paid, avg(pay) AS pay FROM records")
    assert query.counts == (3, 3, 3)
    assert "COUNT_IF" in query.text

import math

import duckdb
import numpy as np
import pandas as pd
import pytest

from sluice.ground.errors import DataError
from sluice.sources import query_answer
from sluice.sources.query_answer import answer
from sluice.utility.analyses.aggregate_query import AggregateQuery, read_aggregate_query
from sluice.utility.analyses.query_comparison import QueryAnswer
from tests.golden import golden

N = 100
RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "sex": pd.array(["f", "m"] * (N // 2), dtype="string"),
        "age": RNG.integers(18, 80, N).astype(float),
        "pay": np.where(np.arange(N) % 4 == 0, np.nan, RNG.exponential(1000, N)),
        "rare": (np.arange(N) < 3).astype(float),
        "born": pd.date_range("1990-01-01", periods=N),
    }
)  # fmt: skip


def ask(query: str, frame: pd.DataFrame = PEOPLE) -> QueryAnswer:
    return answer(read_aggregate_query(query), frame)


def test_answers_are_those_of_pandas() -> None:
    found = ask(
        "SELECT sex, count(*) AS n, count(pay) AS paid, avg(pay) AS mean, stddev(pay) AS sd, median(age) AS age "
        "FROM records GROUP BY sex"
    )
    assert found.figures == ("n", "paid", "mean", "sd", "age")
    for sex, group in PEOPLE.groupby("sex"):
        expected = [len(group), group.pay.count(), group.pay.mean(), group.pay.std(), group.age.median()]
        np.testing.assert_allclose(found.values[(sex,)], expected)


def test_the_records_behind_a_figure_are_those_who_count_in_it() -> None:
    found = ask("SELECT count(*) AS n, count(pay) AS paid, avg(pay) AS pay, avg(rare) AS rare FROM records")
    assert found.behind[()].tolist() == [N, N // 4, 3 * N // 4, 3]  # of a share, the three in it
    shares = ask("SELECT avg(1 - rare) AS common, count_if(rare = 0) AS zero, sum(rare) / count(*) AS s FROM records")
    assert shares.behind[()].tolist() == [3, 3, 3]


def test_a_figure_that_is_one_record_s_by_more_than_half_has_one_behind_it() -> None:
    trick = "SELECT sum(CASE WHEN age >= 79 AND pay > 0 THEN pay ELSE 0.0001 END) AS s, avg(age) AS a FROM records"
    one = PEOPLE.assign(age=np.where(np.arange(N) == 1, 79.0, 30.0))
    assert ask(trick, one).behind[()].tolist() == [1, 1]  # nor is the average age more than the one's
    assert ask("SELECT avg(power(pay, 9)) AS s FROM records").behind[()].tolist() == [1]


def test_a_condition_that_one_record_meets_has_one_behind_it_whatever_it_weighs() -> None:
    """A share of 0 and 1 in disguise: who has the masked file would read off the difference whether somebody is it."""
    one = PEOPLE.assign(age=np.where(np.arange(N) == 1, 79.0, PEOPLE["age"].clip(upper=70)))
    found = ask(
        "SELECT sum(CASE WHEN age = 79 THEN 40 ELSE 1 END) AS s, median(3 + (age = 79)::INT) AS m FROM records", one
    )
    assert found.behind[()].tolist() == [1, 1]
    weights = "SELECT avg(CASE WHEN age = 79 THEN 40 ELSE 1 + age / 1000 END) AS a, avg(age) AS b FROM records"
    assert ask(weights, one).behind[()].tolist() == [1, N]
    ten = PEOPLE.assign(age=np.where(np.arange(N) < 10, 79.0, 30.0))
    assert ask("SELECT avg(CASE WHEN age = 79 THEN 40 ELSE 1 END) AS a FROM records", ten).behind[()].tolist() == [11]


def test_missing_values_are_groups_and_no_numbers() -> None:
    frame = PEOPLE.assign(sex=pd.array([None] * N, dtype="string"), pay=pd.Series([None] * N, dtype="float64"))
    found = ask("SELECT sex, avg(pay) AS pay, count(*) AS n FROM records GROUP BY sex", frame)
    assert list(found.values) == [(None,)]
    assert math.isnan(found.values[(None,)][0])
    nobody = ask("SELECT avg(pay) AS pay FROM records", PEOPLE.head(0))
    assert math.isnan(nobody.values[()][0])


def test_errors_name_no_value() -> None:
    for query in ("SELECT avg(absent) AS a FROM records", "SELECT sum(CAST(sex AS INTEGER)) AS a FROM records"):
        with golden.raises(DataError) as refused:
            ask(query)
        assert "'f'" not in str(refused.value)
        assert refused.value.__cause__ is None


def test_many_rows_and_a_long_run_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_answer, "_MOST_ROWS", 10)
    with golden.raises(DataError):
        ask("SELECT born, count(*) AS n FROM records GROUP BY born")
    endless = AggregateQuery((), ("n",), (3,), "SELECT count(*), 1, 0, false FROM range(10000000) a, range(10000000) b")
    with golden.raises(DataError):
        answer(endless, PEOPLE, seconds=0.2)


@pytest.mark.parametrize(
    "attack",
    [
        "SELECT count(*), 1, 0, false FROM read_csv('/etc/passwd')",
        "SELECT count(*), 1, 0, false FROM '/etc/passwd'",
        "SELECT count(*), 1, 0, false FROM read_text('/etc/hostname')",
        "SELECT count(*), 1, 0, false FROM 'https://example.com/x.parquet'",
        "SELECT count(*), 1, 0, false FROM PEOPLE",  # a variable of this module
        "SELECT count(*), 1, 0, false FROM frame",
        "COPY records TO '/dev/shm/records.csv'",
        "ATTACH '/dev/shm/x.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "EXPORT DATABASE '/dev/shm/x'",
        "SET threads = 9",
    ],
)
def test_behind_the_guard_the_database_reads_and_writes_nothing_either(attack: str) -> None:
    with golden.raises(DataError):
        answer(AggregateQuery((), ("n",), (3,), attack), PEOPLE)


def test_the_attacks_would_work_on_a_database_of_defaults() -> None:
    assert duckdb.connect().execute("SELECT count(*) FROM read_text('/etc/passwd')").fetchall() == [(1,)]

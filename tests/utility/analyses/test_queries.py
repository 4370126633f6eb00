from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from policies.utility_limits import Utility, UtilityLimits
from sluice.ground.variables import Kind, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.comparison import Comparison
from tests.golden import golden

N = 400
VARIABLES = {
    "pay": Variable(name="pay", kind=Kind.CONTINUOUS),
    "age": Variable(name="age", kind=Kind.INTEGER),
    "born": Variable(name="born", kind=Kind.DATE),
    "sex": Variable(name="sex", kind=Kind.NOMINAL),
    "note": Variable(name="note", kind=Kind.TEXT),
}
RNG = np.random.default_rng(0)
ORIGINAL = pd.DataFrame(
    {
        "pay": RNG.exponential(1000, N),
        "age": pd.array(RNG.integers(18, 66, N), "Int64"),
        "born": pd.to_datetime("1970-01-01") + pd.to_timedelta(RNG.integers(0, 700, N), "D"),
        "sex": pd.Categorical.from_codes(RNG.integers(0, 2, N), ["f", "m"]),
        "note": "x",
    }
).astype({"born": "datetime64[us]"})
QUERY = {"name": "pay by sex", "sql": "SELECT sex, count(*) AS n, avg(pay) AS pay FROM records GROUP BY sex"}


def judge(query: dict[str, Any], masked: pd.DataFrame = ORIGINAL, **given: Any) -> tuple[Finding, Utility]:
    released = given.pop("released", {name: VARIABLES[name] for name in masked})
    recoded = given.pop("recoded", ORIGINAL[list(masked)])
    files = Comparison(ORIGINAL, recoded, masked, None, VARIABLES, released, np.random.default_rng(0))
    found = UtilityLimits.model_validate({"queries": [query]}).find(files)
    return next(finding for finding in found.findings if finding.rule == "queries"), found


@pytest.mark.chain
def test_the_mean_difference_of_the_answers_has_a_limit() -> None:
    limit = {"difference": {"at_most": 0.1}}
    same, _ = judge(QUERY | limit)
    assert (same.verdict, same.observed, same.completed, same.binding) == (Verdict.PASS, 0, 4, True)
    halved = ORIGINAL.assign(pay=ORIGINAL["pay"] / 2)
    finding, found = judge(QUERY | limit, halved)
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, 0.25)
    golden(finding.says)
    figures = {each.figure: each.difference for each in found.view.queries[0].figures}
    assert figures == {"n": 0, "pay": 0.5}


@pytest.mark.chain
def test_recoding_and_removal_count() -> None:
    gone, _ = judge(QUERY, ORIGINAL[["sex", "age"]])
    assert gone.observed == 0.5  # the counts are left, the means are not
    without, _ = judge(QUERY, ORIGINAL[["pay", "age"]])
    assert without.observed == 1  # f and m are gone, and one group of nobody knows which came
    labels = ("to 40", "over 40")
    recoded = ORIGINAL.assign(age=pd.cut(ORIGINAL["age"].astype(float), [0, 40, 99], labels=labels))
    released = VARIABLES | {"age": Variable(name="age", kind=Kind.ORDINAL, categories=labels)}
    by_age = {"name": "age", "sql": "SELECT avg(age) AS age, count_if(age > 40) AS n FROM records"}
    finding, _ = judge(by_age, recoded, recoded=recoded, released=released)
    assert finding.observed <= 0.02  # the means of the groups give nearly the mean, and the count


def test_dates_are_dates() -> None:
    by_year = {"name": "y", "sql": "SELECT year(born) AS y, count(*) AS n FROM records GROUP BY year(born)"}
    finding, found = judge(by_year, ORIGINAL.assign(born=ORIGINAL["born"] + pd.Timedelta(days=365)))
    assert {each.group for each in found.view.queries[0].groups} == {("1970",), ("1971",), ("1972",)}
    assert finding.verdict is Verdict.PASS
    removed, _ = judge(by_year, ORIGINAL[["pay", "sex"]])
    assert removed.observed == 1


def test_few_records_are_not_compared_nor_told() -> None:
    few = {"name": "few", "sql": "SELECT avg(pay) AS pay FROM records WHERE age = 18 AND sex = 'f' AND pay > 2000"}
    finding, found = judge(few | {"difference": {"at_most": 1}})
    assert (finding.verdict, finding.binding) == (Verdict.UNKNOWN, True)
    golden.words(finding.says)
    assert found.view.queries[0].groups == ()


def test_a_query_that_does_not_run_is_unknown() -> None:
    finding, found = judge({"name": "q", "sql": "SELECT avg(note) AS n FROM records", "difference": {"at_most": 1}})
    assert finding.verdict is Verdict.UNKNOWN
    golden.words(finding.says)
    golden.words(found.view.queries[0].says)


@pytest.mark.parametrize(
    "sql", ["SELECT * FROM records", "SELECT count(*) AS n FROM read_csv('x')", "DROP TABLE records", ""]
)
def test_other_sql_is_refused_when_the_policy_loads(sql: str) -> None:
    with pytest.raises(ValidationError):
        UtilityLimits.model_validate({"queries": [{"name": "q", "sql": sql}]})


@pytest.mark.chain
def test_a_limit_is_not_met_by_rounding() -> None:
    """The mean pay is 0.8 % lower, which is 0.4 % on average with the count: more than the limit, less than 0.5 %."""
    query = {"name": "pay", "sql": "SELECT count(*) AS n, avg(pay) AS pay FROM records"}
    lower = ORIGINAL.assign(pay=ORIGINAL["pay"] * 0.992)
    finding, _ = judge(query | {"difference": {"at_most": 0.003}}, lower)
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, 0.01)
    assert judge(query | {"difference": {"at_most": 0.01}}, lower)[0].verdict is Verdict.PASS

"""Extreme values that stand for something else, and are not declared."""

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest

from schemas.checks.sentinels import check_sentinels
from schemas.contract import Contract
from sluice.ground.verdict import Finding, Verdict
from tests.golden import golden

RNG = np.random.default_rng(3)
INCOME = np.round(np.exp(RNG.normal(10, 1, 500)))
BORN = pd.Timestamp("1940-01-01") + pd.to_timedelta(RNG.integers(0, 20_000, 500), "D")


def checked(values: Any, kind: str = "continuous", **declared: object) -> list[Finding]:
    dtypes = {"integer": "Int64", "date": "datetime64[us]", "continuous": "float64"}
    frame = pd.DataFrame({"x": pd.Series(values).astype(dtypes[kind])})
    contract = Contract.model_validate(
        {
            "dataset": "people",
            "version": "1",
            "variables": [{"name": "x", "kind": kind, "role": "sensitive", **declared}],
        }
    )
    return check_sentinels(frame, contract)


def with_value(values: Any, value: Any, count: int = 1) -> Any:
    changed = pd.Series(values).copy()
    changed.iloc[:count] = value
    return changed


@pytest.mark.parametrize("count", [1, 50, 200])
@pytest.mark.parametrize("code", [999_999_999.0, 9_999_999.99, 9_999_998.0])
def test_nines_far_above_all_others_ask_for_a_decision(code: float, count: int) -> None:
    (finding,) = checked(with_value(INCOME, code, count))
    assert (finding.verdict, finding.scope, finding.stage) == (Verdict.REVIEW, "x", "contract")
    golden.words(finding.says)
    assert "99" not in finding.says  # no value is told


def test_several_codes_and_negative_ones() -> None:
    several = INCOME.copy()
    several[:3] = [9_999_997.0 + 1, 9_999_999.0, 9_999_999.0]
    assert checked(several)[0].verdict is Verdict.REVIEW
    (finding,) = checked(with_value(INCOME, -9.0, 4))
    golden.words(finding.says)
    children = RNG.integers(0, 6, 500)
    assert checked(with_value(children, 99), "integer")[0].verdict is Verdict.REVIEW
    assert checked(with_value(children, -1), "integer")[0].verdict is Verdict.REVIEW


@pytest.mark.parametrize("day", ["9999-12-31", "1899-12-30", "1753-01-01", "2999-12-31", "0011-05-01", "1900-01-01"])
def test_dates_that_nobody_has(day: str) -> None:
    (finding,) = checked(with_value(BORN, np.datetime64(day, "us"), 5), "date")
    assert finding.verdict is Verdict.REVIEW
    golden.words(finding.says)


def test_natural_values_are_left_alone() -> None:
    natural = [
        INCOME,
        np.exp(RNG.normal(0, 3, 5_000)),  # a tail of several powers of ten
        np.append(RNG.integers(17, 99, 500), 99),  # an age beside others
        RNG.normal(0, 5, 500).round(),  # losses and gains, -9 and -1 among them
        np.append(np.zeros(400), INCOME),
        np.full(30, 99.0),
        [99.0, 1.0],
    ]
    for values in natural:
        (finding,) = checked(values)
        assert (finding.verdict, finding.completed) == (Verdict.PASS, len(values))
    assert checked(BORN, "date")[0].verdict is Verdict.PASS
    since_1900 = pd.Timestamp("1900-01-01") + pd.to_timedelta(np.arange(500) * 40, "D")
    assert checked(since_1900, "date")[0].verdict is Verdict.PASS


def test_what_is_declared_is_meant() -> None:
    top_coded = with_value(INCOME, 9_999_999.0, 5)
    assert checked(top_coded, maximum=9_999_999)[0].verdict is Verdict.PASS
    assert checked(top_coded, maximum=20_000_000)[0].verdict is Verdict.REVIEW  # as a draft rounds it outward
    missing = checked(with_value(INCOME, np.nan, 5), nullable=True, missing_codes=["9999999"])
    assert missing[0].verdict is Verdict.PASS  # read as missing
    no_end = with_value(BORN, np.datetime64("9999-12-31", "us"), 5)
    assert checked(no_end, "date", maximum=date(9999, 12, 31).isoformat())[0].verdict is Verdict.PASS

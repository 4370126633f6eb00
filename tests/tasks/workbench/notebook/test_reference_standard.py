from typing import Any

import pandas as pd
import pytest

import sluice
from sluice.ground.errors import DataError, DocumentError
from sluice.ground.verdict import Verdict
from tests.golden import golden

SWAP = [{"method": "rank_swapping", "columns": ["affairs", "rate_marriage", "educ", "age"], "window": 0.3}]


@pytest.fixture(scope="module")
def some(fair: pd.DataFrame) -> pd.DataFrame:
    return fair.head(1500)


@pytest.fixture(scope="module")
def leaking(fair: pd.DataFrame) -> Any:
    noise = {"method": "additive_noise", "columns": ["affairs"], "amount": 0.01}
    return sluice.mask(fair, [noise], seed=1)


@pytest.mark.exhaustive
def test_a_little_noise_is_found_out(fair: pd.DataFrame, leaking: Any) -> None:
    """The demo's careless release."""
    found = sluice.reference_standard(fair, leaking, seed=1)
    assert found.verdict is Verdict.FAIL
    assert found.excess is not None
    assert found.excess > 0.5 > found.margin
    assert found.records == found.records_attacked == 6366
    assert {curve.measure for curve in found.curves} == set(found.curves_table["measure"])
    table = found.findings_table
    assert table["verdict"].iloc[0] == "FAIL"
    assert {"lone_copies", "reidentification"} <= set(table["rule"])  # the rows are known to be pairs
    assert found.says == table["says"].iloc[0]


def test_anybodys_frame_may_be_judged_in_any_order(some: pd.DataFrame, leaking: Any) -> None:
    shuffled = leaking.frame.head(len(some)).sample(frac=1, random_state=2)
    found = sluice.reference_standard(some, shuffled, seed=1)
    assert found.verdict is Verdict.FAIL
    assert "lone_copies" not in set(found.findings_table["rule"])


def test_a_holdout_is_the_reference_when_there_is_one(some: pd.DataFrame) -> None:
    holdout = some.sample(500, random_state=1)
    original = some.drop(holdout.index)
    masked = sluice.mask(original, SWAP, seed=1)
    found = sluice.reference_standard(original, masked, holdout=holdout, standard={"margin": 0.2}, seed=1)
    assert (found.standard.reference, found.margin) == ("holdout", 0.2)
    assert found.standard.holdout_share == pytest.approx(500 / 1500)


def test_only_who_is_in_a_sample_is_at_risk(some: pd.DataFrame) -> None:
    sampled = sluice.mask(some, [{"method": "sampling", "fraction": 0.5}], seed=1)
    assert sluice.reference_standard(some, sampled, seed=1).records == 750


def test_refusals(fair: pd.DataFrame, some: pd.DataFrame, leaking: Any) -> None:
    golden.refused(DocumentError, sluice.reference_standard, fair, leaking, standard={"margn": 0.1})
    golden.refused(TypeError, sluice.reference_standard, fair, leaking, standard=0.05)
    golden.refused(DataError, sluice.reference_standard, fair.iloc[::-1], leaking)
    golden.refused(DataError, sluice.reference_standard, fair, leaking, sensitive=["affairs"])
    golden.refused(DataError, sluice.reference_standard, fair, leaking.frame.head(10), paired=True)
    golden.refused(
        DataError, sluice.reference_standard(some, leaking.frame.head(len(some)), seed=1).plot, measure="distence"
    )


def test_numbers_whose_squares_cannot_be_added_up_are_refused() -> None:
    large = pd.DataFrame({"amount": [1e200 * place for place in range(20)]})
    golden.refused(DataError, sluice.reference_standard, large, large, seed=1)

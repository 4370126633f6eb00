"""Few records prove nothing."""

import pytest

from sluice.ground.verdict import Verdict
from tests.policies.standard.population_sample import HOLDOUT, ORIGINAL, SAFE, judge, people


@pytest.mark.parametrize(
    ("when_fewer", "verdict"), [("unknown", Verdict.UNKNOWN), ("review", Verdict.REVIEW), ("judge", Verdict.PASS)]
)
def test_few_records_prove_nothing(when_fewer, verdict):
    findings, curves = judge(people(200, 6), people(200, 7), when_fewer=when_fewer)
    assert findings["reference_size"].verdict is verdict
    assert findings["prediction_distance"].verdict is verdict
    assert curves["distance"].verdict is verdict
    assert findings["prediction_distance"].says.endswith("proves nothing.") == (verdict is not Verdict.PASS)


def test_few_records_can_still_fail():
    few = people(200, 6)
    assert judge(few, few)[0]["prediction_distance"].verdict is Verdict.FAIL


def test_a_small_holdout_is_unknown():
    findings, _ = judge(ORIGINAL, SAFE, holdout=people(500, 12), **HOLDOUT)
    assert findings["reference_size"].verdict is Verdict.UNKNOWN
    assert findings["reference_size"].observed == 500

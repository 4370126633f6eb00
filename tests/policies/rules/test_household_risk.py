"""The household risk as a rule."""

import numpy as np
import pandas as pd
import pytest

from sluice.ground.verdict import Verdict
from sluice.risk.population.household_risk import HouseholdRisk
from tests.golden import golden
from tests.policies.rules.weighted_survey import SURVEY, one


def test_household_risk_is_above_the_individual_risks() -> None:
    finding = one(HouseholdRisk(highest_at_most=0.3))  # the last two records are one household
    assert finding.verdict is Verdict.FAIL
    assert finding.observed == pytest.approx(1 - (1 - 0.1 / 0.9 * np.log(10)) ** 2)
    assert one(HouseholdRisk(expected_at_most=0.5)).verdict is Verdict.PASS


def test_with_a_gap_in_the_households_nothing_is_judged() -> None:
    rule = HouseholdRisk(highest_at_most=0.9)
    gap = one(rule, SURVEY.assign(household=pd.array(["a", None, "b", "b"], dtype="str")))
    assert gap.verdict is Verdict.UNKNOWN
    golden(gap.says)

"""The household risk as a rule."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.verdict import Verdict
from sluice.risk.population.household_risk import HouseholdRisk, household_risk
from tests.golden import golden
from tests.risk.population.weighted_survey import SURVEY, one


def test_a_household_by_hand() -> None:
    """1 - (1 - 0.1)(1 - 0.2) = 0.28; any index, whatever the names."""
    households = pd.Series(["b", "a", "b"], index=[7, 7, 7])
    np.testing.assert_allclose(household_risk(np.array([0.1, 0.5, 0.2]), households), [0.28, 0.5, 0.28])


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0, 1)), min_size=1, max_size=20))
def test_agrees_with_pandas_and_is_never_below_a_members_risk(rows: list[tuple[int, float]]) -> None:
    of, risks = pd.Series([key for key, _ in rows]), np.array([value for _, value in rows])
    found = household_risk(risks, of)
    np.testing.assert_allclose(found, 1 - pd.Series(1 - risks).groupby(of).transform("prod"), atol=1e-12)
    assert (found >= risks - 1e-12).all()


def test_certain_risks_lone_members_and_tiny_risks() -> None:
    np.testing.assert_array_equal(household_risk(np.array([1.0, 0.3]), pd.Series([1, 1])), [1, 1])
    np.testing.assert_allclose(household_risk(np.array([0.3]), pd.Series([1])), [0.3])
    np.testing.assert_allclose(household_risk(np.full(2, 1e-18), pd.Series([1, 1])), 2e-18)


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

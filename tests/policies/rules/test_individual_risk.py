"""The individual risk as a rule."""

import numpy as np
import pytest
from pydantic import ValidationError

from policies.rules.individual_risk import IndividualRisk
from sluice.verdict import Verdict
from tests.policies.rules.weighted_survey import SURVEY, VARIABLES


def test_individual_risk_has_a_limit_on_the_highest_and_on_the_mean() -> None:
    highest, expected = IndividualRisk(highest_at_most=0.3, expected_at_most=0.1).find(SURVEY, VARIABLES, "masked")
    alone = 0.1 / 0.9 * np.log(10)
    assert (highest.verdict, highest.observed) == (Verdict.PASS, pytest.approx(alone))
    assert (expected.verdict, expected.completed) == (Verdict.FAIL, 4)
    assert "are expected to be named rightly by who looks it up in the population" in expected.says


def test_a_threshold_out_of_bounds_is_refused() -> None:
    with pytest.raises(ValidationError, match="needs at least one limit"):
        IndividualRisk()

"""The risk under a log-linear model as a rule."""

import numpy as np
import pytest

from sluice.ground.verdict import Verdict
from sluice.risk.population.loglinear_risk import LoglinearRisk
from tests.golden import golden
from tests.policies.rules.weighted_survey import SURVEY, VARIABLES, one


def test_loglinear_risk_tells_both_figures() -> None:
    # Main effects: the unique (f, 41) has mu = 3/4, (m, 30) has 3/4; pi = 0.2.
    rule = LoglinearRisk(uniques_at_most=0.02, guesses_at_most=0.2, interactions="none", sampling_fraction=0.2)
    uniques, guesses = rule.find(SURVEY, VARIABLES, "masked", "women")
    assert uniques.observed == pytest.approx(2 * np.exp(-3) / 4)
    assert guesses.observed == pytest.approx(2 * (1 - np.exp(-3)) / 3 / 4)
    assert (uniques.verdict, guesses.verdict) == (Verdict.FAIL, Verdict.PASS)
    golden(uniques.says)


def test_loglinear_risk_takes_the_fraction_from_the_weights() -> None:
    weighed = one(LoglinearRisk(uniques_at_most=0.5), SURVEY.assign(weight=5.0))
    stated = one(LoglinearRisk(uniques_at_most=0.5, sampling_fraction=0.2))
    assert weighed.observed == pytest.approx(stated.observed)
    census = one(LoglinearRisk(uniques_at_most=0.1), SURVEY.assign(weight=0.5))  # stands for itself
    assert (census.verdict, census.observed) == (Verdict.FAIL, 0.5)

"""The individual risk as a rule."""

import numpy as np
import pytest

from sluice.ground.verdict import Verdict
from sluice.risk.population.individual_risk import IndividualRisk
from sluice.risk.population.loglinear_risk import LoglinearRisk
from tests.golden import golden
from tests.policies.rules.weighted_survey import SURVEY, VARIABLES, one, typed


def test_individual_risk_has_a_limit_on_the_highest_and_on_the_mean() -> None:
    highest, expected = IndividualRisk(highest_at_most=0.3, expected_at_most=0.1).find(SURVEY, VARIABLES, "masked")
    alone = 0.1 / 0.9 * np.log(10)
    assert (highest.verdict, highest.observed) == (Verdict.PASS, pytest.approx(alone))
    assert (expected.verdict, expected.completed) == (Verdict.FAIL, 4)
    golden.words(expected.says)


@pytest.mark.parametrize("rare", [False, True])
def test_the_log_linear_model_stands_beside_it_and_the_worse_of_both_counts(rare: bool) -> None:
    # A tenth of the people are men; in one of the files, all of them have ages that nobody else has.
    rows = [("m" if i % 10 == 0 else "f", 100 + i if rare and i % 10 == 0 else i % 7) for i in range(2_000)]
    frame = typed(rows, weight=20.0)
    (finding,) = IndividualRisk(expected_at_most=0.5).find(frame, VARIABLES, "masked")
    by_weight = float(IndividualRisk(expected_at_most=1).risks(frame, VARIABLES, ["sex", "age"]).mean())
    by_model = one(LoglinearRisk(guesses_at_most=0.5), frame).observed
    assert (finding.observed, by_model > by_weight) == (max(by_weight, by_model), rare)
    golden(finding.says)
    assert str(10 if rare else 0) in finding.says
    strict = IndividualRisk(expected_at_most=(by_weight + by_model) / 2).find(frame, VARIABLES, "masked")[0]
    assert strict.verdict is Verdict.FAIL

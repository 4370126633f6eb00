"""The individual risk as a rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import nbinom

from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict
from sluice.risk.classes.equivalence_classes import equivalence_classes
from sluice.risk.classes.microdata_rule import KeyedRecords
from sluice.risk.population.individual_risk import IndividualRisk, estimated_population, expected_share, individual_risk
from sluice.risk.population.loglinear_risk import LoglinearRisk
from tests.golden import golden
from tests.risk.population.weighted_survey import SURVEY, VARIABLES, one, typed


def risk(f: float, p: float, **options: str) -> float:
    return float(individual_risk(np.array([int(f)]), np.array([f / p]), **options)[0])


@pytest.mark.parametrize("f", [1, 2, 3, 7, 31, 32, 33, 200])
@pytest.mark.parametrize("p", [1e-9, 1e-4, 0.01, 0.3, 0.499, 0.5, 0.9, 0.9999])
def test_agrees_with_numerical_integration(f: int, p: float) -> None:
    """The integral of the docstring with u = exp(-x), by scipy's quadrature."""
    until = 60 / f if p < 1e-3 else np.inf
    integral = quad(lambda x: p * np.exp(-f * x) / (p + (1 - p) * np.exp(-x)), 0, until, epsabs=0, limit=500)[0]
    assert risk(f, p) == pytest.approx(integral, rel=1e-9)


@pytest.mark.parametrize(("f", "p"), [(1, 0.2), (2, 0.05), (5, 0.6), (40, 0.1)])
def test_is_the_mean_of_one_by_f_under_scipys_negative_binomial(f: int, p: float) -> None:
    unseen = np.arange(200_000)
    assert risk(f, p) == pytest.approx(float((nbinom.pmf(unseen, f, p) / (f + unseen)).sum()), rel=1e-9)


@pytest.mark.parametrize("p", [0.001, 0.1, 0.4])
def test_the_closed_forms_for_one_two_and_three(p: float) -> None:
    """Franconi and Polettini 2004, section 3.1."""
    q, log = 1 - p, np.log(1 / p)
    assert risk(1, p) == pytest.approx(p / q * log)
    assert risk(2, p) == pytest.approx(p / q - (p / q) ** 2 * log)
    assert risk(3, p) == pytest.approx(p / q * (1 / 2 - p / q) + (p / q) ** 3 * log)
    assert risk(2, p, formula="approximate") == risk(2, p)


@given(st.integers(1, 500), st.floats(1e-8, 1))
def test_lies_between_the_sampled_share_and_one_by_f_and_below_the_approximation(f: int, p: float) -> None:
    exact, approximate = risk(f, p), risk(f, p, formula="approximate")
    assert p / f * (1 - 1e-12) <= exact <= 1 / f * (1 + 1e-12)  # Jensen: E(1/F) is at least 1/E(F)
    assert exact * (1 - 1e-12) <= approximate <= exact * 1.05
    assert risk(f + 1, p) < exact


def test_when_everybody_was_sampled_the_risk_is_one_by_f() -> None:
    classes = equivalence_classes([np.array([0, 0, 0, 1])])
    people = estimated_population(classes, np.full(4, 0.5))  # no fewer people than records
    np.testing.assert_array_equal(people, classes.sizes)
    np.testing.assert_allclose(individual_risk(classes.sizes, people), 1 / classes.sizes)


def test_one_record_and_its_share() -> None:
    measured = expected_share(np.array([0.25]))
    assert (measured.value, measured.attempted, measured.completed) == (0.25, 1, 1)


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_a_wrong_weight_is_refused(weight: float) -> None:
    golden.refused(DataError, estimated_population, equivalence_classes([np.array([0, 1])]), np.array([2.0, weight]))


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
    by_weight = float(IndividualRisk(expected_at_most=1).risks(KeyedRecords(frame, VARIABLES, ["sex", "age"])).mean())
    by_model = one(LoglinearRisk(guesses_at_most=0.5), frame).observed
    assert (finding.observed, by_model > by_weight) == (max(by_weight, by_model), rare)
    golden(finding.says)
    assert str(10 if rare else 0) in finding.says
    strict = IndividualRisk(expected_at_most=(by_weight + by_model) / 2).find(frame, VARIABLES, "masked")[0]
    assert strict.verdict is Verdict.FAIL

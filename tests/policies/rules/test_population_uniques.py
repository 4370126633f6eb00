"""Population uniques as a rule."""

from sluice.ground.verdict import Verdict
from sluice.risk.population.population_uniques import PopulationUniques
from tests.golden import golden
from tests.policies.rules.weighted_survey import SURVEY, one, typed


def test_population_uniques_passes_fails_and_takes_the_population_from_the_weights() -> None:
    frame = typed([("f", age // 2) for age in range(40)] + [("m", age) for age in range(10)], 4.0)
    stated = one(PopulationUniques(at_most=0.5, population=200), frame)
    weighed = one(PopulationUniques(at_most=0.5), frame)
    fraction = one(PopulationUniques(at_most=0.5, sampling_fraction=0.25), frame)
    assert stated.verdict is weighed.verdict is fraction.verdict is Verdict.PASS
    assert stated.observed == weighed.observed == fraction.observed
    golden.words(stated.says)
    failed = one(PopulationUniques(at_most=0.01, estimator="zayatz", population=200), frame)
    assert failed.verdict is Verdict.FAIL
    assert failed.scope == "zayatz by sex, age"


def test_a_tiny_sample_with_uniques_needs_a_person_and_one_without_does_not() -> None:
    rule = PopulationUniques(at_most=0.9, population=10_000_000)
    tiny = one(rule)
    assert tiny.verdict is Verdict.REVIEW
    golden(tiny.says)
    assert one(rule, SURVEY.head(2)).verdict is Verdict.PASS


def test_an_estimator_that_does_not_fit_is_unknown() -> None:
    finding = one(PopulationUniques(at_most=0.5, estimator="pitman", population=200), typed([("f", 1), ("f", 2)]))
    assert (finding.verdict, finding.completed) == (Verdict.UNKNOWN, 0)
    golden.words(finding.says)
    fewer = one(PopulationUniques(at_most=0.5, population=3))
    golden(fewer.says)

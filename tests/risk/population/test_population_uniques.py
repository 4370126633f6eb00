"""Population uniques as a rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import fsolve, minimize
from scipy.stats import hypergeom, nbinom

from sluice.ground.verdict import Verdict
from sluice.risk.population.population_uniques import PopulationUniques, population_uniques
from tests.golden import golden
from tests.risk.population.weighted_survey import SURVEY, one, typed

SIZES = np.repeat([1, 2, 3, 5, 9, 30], [40, 15, 8, 5, 2, 1])  # 71 classes, 167 records


def share(sizes: np.ndarray, population: float, estimator: str) -> float:
    return population_uniques(sizes, population, estimator)[0].value


@pytest.mark.parametrize("population", [170, 400, 30_000])
def test_zayatz_agrees_with_scipys_hypergeometric_distribution(population: int) -> None:
    """Zayatz 1991: P(population unique | sample unique) by Bayes, with the sample's class sizes as the prior."""
    n = SIZES.sum()
    shown = hypergeom(population, SIZES, n).pmf(1)
    conditional = 40 * hypergeom(population, 1, n).pmf(1) / shown.sum()
    assert share(SIZES, population, "zayatz") == pytest.approx(40 * conditional / n, rel=1e-8)


@pytest.mark.parametrize("population", [200, 5_000])
def test_pitman_agrees_with_a_search_for_the_likelihood_and_the_law_record_by_record(population: int) -> None:
    """Hoshino 2001: the log-likelihood as sums over classes and records; E(S_1) by adding one person at a time."""
    n, u = int(SIZES.sum()), len(SIZES)

    def minus_log_likelihood(parameters: np.ndarray) -> float:
        theta, alpha = np.exp(parameters[0]), 1 / (1 + np.exp(-parameters[1]))
        return -float(
            np.log(theta + alpha * np.arange(1, u)).sum()
            - np.log(theta + np.arange(1, n)).sum()
            + sum(np.log(np.arange(1, size) - alpha).sum() for size in SIZES)
        )

    best = minimize(minus_log_likelihood, [3.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    theta, alpha = np.exp(best.x[0]), 1 / (1 + np.exp(-best.x[1]))
    classes = uniques = 1.0
    for people in range(1, population):
        new = (theta + alpha * classes) / (theta + people)
        uniques += new - uniques * (1 - alpha) / (theta + people)
        classes += new
    assert share(SIZES, population, "pitman") == pytest.approx(uniques / population, rel=1e-4)


def test_snb_agrees_with_a_solver_on_the_distribution_of_a_sampled_class() -> None:
    """Chen and Keller-McNulty 1998: f_1 and f_2 as expected when F - 1 is negative binomial and pi of it is sampled."""
    population, n = 500, SIZES.sum()
    pi = n / population
    size, count = np.unique(SIZES, return_counts=True)
    # Haas and Stokes 1998, D_Sh3, term by term
    first = sum(i * pi**2 * (1 - pi**2) ** (i - 1) * f for i, f in zip(size, count, strict=True))
    second = sum((1 - pi) ** i * ((1 + pi) ** i - 1) * f for i, f in zip(size, count, strict=True))
    third = sum((1 - pi) ** i * f for i, f in zip(size, count, strict=True))
    fourth = sum(i * pi * (1 - pi) ** (i - 1) * f for i, f in zip(size, count, strict=True))
    total = count.sum() + 40 * first / second * (third / fourth) ** 2
    people = np.arange(1, 4_000)

    def off(parameters: np.ndarray) -> list[float]:
        alpha, beta = np.exp(parameters[0]), 1 / (1 + np.exp(-parameters[1]))
        classes = total * nbinom.pmf(people - 1, alpha, beta)
        once = classes @ (people * pi * (1 - pi) ** (people - 1))
        twice = classes @ (people * (people - 1) / 2 * pi**2 * (1 - pi) ** np.maximum(people - 2, 0))
        return [float(once - 40), float(twice - 15)]

    solution, _, found, _ = fsolve(off, [-1.0, -1.0], full_output=True)
    assert found == 1
    uniques = total * (1 / (1 + np.exp(-solution[1]))) ** np.exp(solution[0])
    assert share(SIZES, population, "snb") == pytest.approx(uniques / population, rel=1e-6)


def test_finds_the_uniques_of_a_population_of_pitmans_law() -> None:
    """A population drawn from the law with alpha 0.5 and theta 50, and a sample of a tenth of it."""
    rng = np.random.default_rng(3)
    labels = np.zeros(40_000, int)
    classes = 1
    for person in range(1, len(labels)):
        if rng.random() < (50 + 0.5 * classes) / (50 + person):
            labels[person], classes = classes, classes + 1
        else:  # an earlier person's class, unless it is chosen for its newest place with probability alpha / size
            while True:
                other = labels[rng.integers(person)]
                if rng.random() >= 0.5 / np.count_nonzero(labels[:person] == other):
                    break
            labels[person] = other
    truth = (np.bincount(labels) == 1).sum() / len(labels)
    sample = np.bincount(rng.choice(labels, 4_000, replace=False))
    assert share(sample[sample > 0], len(labels), "pitman") == pytest.approx(truth, rel=0.1)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.floats(1, 1e6), st.randoms())
def test_an_estimate_is_a_share_whatever_the_order_and_dankar_takes_one_of_the_others(
    sizes: list[int], times: float, random: object
) -> None:
    population = sum(sizes) * times
    measured, used = population_uniques(np.array(sizes), population)
    assert 0 <= measured.value <= 1
    assert measured.completed == sum(sizes)
    if 1 in sizes and times > 1:
        assert share(np.array(sizes), population, used) == measured.value
        assert used in (("pitman", "zayatz") if sum(sizes) / population <= 0.1 else ("snb", "zayatz"))
    random.shuffle(sizes)  # type: ignore[attr-defined]
    assert population_uniques(np.array(sizes), population)[0].value == measured.value


@pytest.mark.parametrize("estimator", ["dankar", "pitman", "zayatz", "snb"])
def test_no_uniques_and_a_whole_population_are_exact(estimator: str) -> None:
    assert share(np.array([2, 3, 3]), 1e6, estimator) == 0
    assert share(np.array([1, 1, 2, 4]), 8, estimator) == 2 / 8
    assert share(np.array([1]), 1, estimator) == 1


def test_dankar_falls_back_on_zayatz_where_all_are_alone() -> None:
    measured, used = population_uniques(np.ones(50, int), 5_000)
    assert (measured.value, used) == (1.0, "zayatz")
    measured, used = population_uniques(np.ones(50, int), 100)
    assert (measured.value, used) == (1.0, "zayatz")


def test_a_tiny_sample_lets_zayatz_tend_to_the_square_of_the_uniques() -> None:
    assert share(SIZES, 1e12, "zayatz") == pytest.approx((40 / 167) ** 2, rel=1e-3)
    assert share(SIZES, 1e12, "pitman") < 1e-3


def test_ewens_formula_where_uniques_are_too_few_for_pitman() -> None:
    """alpha = 0: a population has theta N / (N + theta - 1) uniques; theta as expected classes meet the observed."""
    sizes = np.array([30, 25, 20, 15, 10, 1])
    thetas = np.linspace(0.1, 3, 30_000)
    expected = sum(thetas / (thetas + i) for i in range(int(sizes.sum())))
    theta = thetas[np.argmin(np.abs(expected - 6))]
    assert share(sizes, 1_000, "pitman") == pytest.approx(theta / (1_000 + theta - 1), rel=1e-3)


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

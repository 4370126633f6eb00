"""The risk under a log-linear model as a rule."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict
from sluice.risk.population.loglinear_risk import LoglinearEstimate, LoglinearRisk, loglinear_risk
from tests.golden import golden
from tests.risk.population.weighted_survey import SURVEY, VARIABLES, one


def taus(risk: LoglinearEstimate) -> tuple[float, float]:
    n = risk.population_uniques.attempted
    return risk.population_uniques.value * n, risk.correct_guesses.value * n


def survey(n: int, seed: int, values: tuple[int, ...] = (5, 4, 6)) -> list[np.ndarray]:
    """Dependent keys: each is drawn around the first."""
    rng = np.random.default_rng(seed)
    first = rng.geometric(0.5, n).clip(1, values[0]) - 1
    return [first, *((first + rng.geometric(0.4, n)) % most for most in values[1:])]


def by_poisson_regression(keys: list[np.ndarray], fraction: float, interactions: bool) -> tuple[float, float]:
    """Both figures from Newton's method on the Poisson log-likelihood of the whole table, without iterative fitting."""
    shape = [int(key.max()) + 1 for key in keys]
    cells = np.indices(shape).reshape(len(keys), -1)
    counts = np.bincount(np.ravel_multi_index(keys, shape), minlength=np.prod(shape)).astype(float)
    blocks = [np.eye(size)[cell][:, 1:] for size, cell in zip(shape, cells, strict=True)]
    columns = [np.ones((len(counts), 1)), *blocks]
    if interactions:
        for i in range(len(keys)):
            for j in range(i):
                columns.append((blocks[i][:, :, None] * blocks[j][:, None, :]).reshape(len(counts), -1))
    design = np.hstack(columns)
    beta = np.linalg.lstsq(design, np.log(counts + 0.5), rcond=None)[0]
    for _ in range(60):
        mu = np.exp(design @ beta)
        beta += np.linalg.lstsq(design.T * mu @ design, design.T @ (counts - mu), rcond=None)[0]
    unseen = np.exp(design @ beta)[counts == 1] * (1 - fraction) / fraction
    return float(np.exp(-unseen).sum()), float((-np.expm1(-unseen) / unseen).sum())


@pytest.mark.parametrize("interactions", [False, True])
@pytest.mark.parametrize("fraction", [0.02, 0.3])
def test_agrees_with_a_poisson_regression(interactions: bool, fraction: float) -> None:
    """Skinner and Shlomo 2008, equations (3) to (6), by another algorithm. Tables without an empty two-way margin."""
    keys = survey(3_000, 1, (3, 3, 4))
    keys = [np.append(key, extra) for key, extra in zip(keys, np.indices((3, 3, 4)).reshape(3, -1), strict=True)]
    assert taus(loglinear_risk(keys, fraction, "all" if interactions else "none")) == pytest.approx(
        by_poisson_regression(keys, fraction, interactions), rel=1e-4
    )


def test_two_keys_by_hand() -> None:
    """Main effects: the unique (1, 1) has mu = 4 * 1/4 * 1/4; with pi = 1/5 it is exp(-1) and 1 - exp(-1)."""
    keys = [np.array([0, 0, 0, 1]), np.array([0, 0, 0, 1])]
    assert taus(loglinear_risk(keys, 0.2, "none")) == pytest.approx((np.exp(-1), 1 - np.exp(-1)))
    # A model of two keys with their interaction is saturated: mu = 1.
    assert taus(loglinear_risk(keys, 0.2, "all")) == pytest.approx((np.exp(-4), (1 - np.exp(-4)) / 4))


def samples(dependent: bool) -> Iterator[tuple[list[np.ndarray], np.ndarray]]:
    """Ten samples of a tenth of a population, and the true F of their uniques; keys 1 and 2 may hang on key 0."""
    for seed in range(10):
        rng = np.random.default_rng(100 + seed)
        keys = survey(20_000, seed, (4, 15, 15)) if dependent else [rng.geometric(0.2, 20_000) for _ in range(3)]
        _, of, sizes = np.unique(np.column_stack(keys), axis=0, return_inverse=True, return_counts=True)
        chosen = rng.choice(20_000, 2_000, replace=False)
        sample_sizes = np.bincount(of[chosen], minlength=len(sizes))[of[chosen]]
        yield [key[chosen] for key in keys], sizes[of[chosen][sample_sizes == 1]]


@pytest.mark.parametrize("dependent", [False, True])
def test_finds_the_uniques_of_the_population_where_a_fixed_model_fails(dependent: bool) -> None:
    """Main effects tell too much for dependent keys; all interactions tell less than half of the true uniques."""
    true = np.zeros(2)
    found: dict[str, np.ndarray] = {model: np.zeros(2) for model in ("none", "selected", "all")}
    for keys, people in samples(dependent):
        true += [(people == 1).sum(), (1 / people).sum()]
        for model, sums in found.items():
            sums += taus(loglinear_risk(keys, 0.1, model))
    assert found["selected"] == pytest.approx(true, rel=0.2)
    assert found["all"][0] < 0.5 * true[0]
    assert (found["none"][0] > 1.3 * true[0]) == dependent


def test_takes_in_the_interactions_that_there_are() -> None:
    keys, _ = next(samples(dependent=True))
    chosen = set(loglinear_risk(keys, 0.1).interactions)
    assert chosen
    assert chosen <= {(0, 1), (0, 2)}
    keys, _ = next(samples(dependent=False))
    assert loglinear_risk(keys, 0.1).interactions in [(), ((0, 1),), ((0, 2),), ((1, 2),)]


@given(st.integers(2, 60), st.integers(0, 1000), st.floats(0.01, 1), st.sampled_from(["none", "selected", "all"]))
def test_lies_between_none_and_all_uniques_in_any_order_of_rows_and_keys(
    n: int, seed: int, fraction: float, interactions: str
) -> None:
    keys = survey(n, seed)
    alone = (np.unique(np.column_stack(keys), axis=0, return_counts=True)[1] == 1).sum()
    tau_1, tau_2 = taus(loglinear_risk(keys, fraction, interactions))
    assert 0 <= tau_1 <= tau_2 <= alone + 1e-9
    order = np.random.default_rng(seed).permutation(n)
    again = taus(loglinear_risk([key[order] for key in reversed(keys)], fraction, interactions))
    assert again == pytest.approx((tau_1, tau_2), abs=0.02)


def test_a_whole_population_one_record_and_a_constant_key() -> None:
    keys = [np.array([0, 0, 1]), np.array([0, 0, 0])]
    assert taus(loglinear_risk(keys, 1.0)) == (1, 1)  # every sample unique is one of the population
    assert taus(loglinear_risk([np.array([0])], 1e-3)) == pytest.approx((np.exp(-999), 1 / 999))
    assert taus(loglinear_risk([np.zeros(5, int)], 0.1)) == (0, 0)  # nobody is alone


def test_each_record_has_its_own_fraction() -> None:
    keys = [np.array([0, 0, 1, 2])]
    risk = taus(loglinear_risk(keys, np.array([0.5, 0.5, 1.0, 0.2])))
    assert risk == pytest.approx((1 + np.exp(-4), 1 + (1 - np.exp(-4)) / 4))


def test_a_fit_that_does_not_converge_is_an_error_and_never_a_number() -> None:
    golden.refused(DataError, loglinear_risk, survey(200, 2), 0.1, "all", rounds=1)


def test_a_model_that_cannot_have_all_interactions_says_so_and_errs_on_the_safe_side() -> None:
    rng = np.random.default_rng(1)
    age = rng.integers(0, 60, 3_000)
    keys = [age, (age + rng.geometric(0.3, 3_000)) // 4, age // 10, rng.integers(0, 12, 3_000)]
    whole = loglinear_risk(keys, 0.1)
    assert (len(whole.interactions) > 0, whole.lacking) == (True, "")
    stopped = loglinear_risk(keys, 0.1, rounds=1)
    golden(stopped.lacking)
    assert len(stopped.interactions) < len(whole.interactions)
    assert stopped.population_uniques.value > whole.population_uniques.value
    many = loglinear_risk([np.arange(200)] * 3, 0.1)
    golden(many.lacking)
    assert many.correct_guesses.value == loglinear_risk([np.arange(200)] * 3, 0.1, "none").correct_guesses.value


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

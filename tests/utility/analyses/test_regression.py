from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.utility.analyses.regression import Estimates, fit_regression, independent_columns
from tests.golden import golden

RNG = np.random.default_rng(0)
N = 800
MATRIX = np.column_stack([np.ones(N), RNG.normal(50, 10, N), RNG.integers(0, 2, N), RNG.exponential(1000, N)])
LINEAR = MATRIX @ [-2, 0.03, 0.5, 0.0002]
WEIGHTS = RNG.uniform(0.5, 3, N)
RESPONSES = {
    "linear": LINEAR + RNG.normal(size=N),
    "logistic": (RNG.uniform(size=N) < 1 / (1 + np.exp(-LINEAR))).astype(float),
    "poisson": RNG.poisson(np.exp(LINEAR / 2)).astype(float),
}
FAMILIES = {"linear": sm.families.Gaussian, "logistic": sm.families.Binomial, "poisson": sm.families.Poisson}


def assert_equal(found: Estimates, expected: Any) -> None:
    np.testing.assert_allclose(found.coefficients, expected.params, rtol=1e-6)
    np.testing.assert_allclose(found.errors, expected.bse, rtol=1e-6)


@pytest.mark.parametrize("kind", ["linear", "logistic", "poisson"])
def test_estimates_are_those_of_statsmodels(kind: Any) -> None:
    expected = sm.GLM(RESPONSES[kind], MATRIX, family=FAMILIES[kind]()).fit(tol=1e-12)
    assert_equal(fit_regression(MATRIX, RESPONSES[kind], kind), expected)


@pytest.mark.parametrize("kind", ["linear", "logistic", "poisson"])
@pytest.mark.filterwarnings("ignore")
def test_weighted_estimates_are_those_of_statsmodels_with_robust_errors(kind: Any) -> None:
    model = sm.GLM(RESPONSES[kind], MATRIX, family=FAMILIES[kind](), var_weights=WEIGHTS / WEIGHTS.mean())
    expected = model.fit(tol=1e-12, cov_type="HC0")
    assert_equal(fit_regression(MATRIX, RESPONSES[kind], kind, WEIGHTS), expected)
    scaled = fit_regression(MATRIX, RESPONSES[kind], kind, 1e4 * WEIGHTS)
    np.testing.assert_allclose(scaled.errors, expected.bse, rtol=1e-6)


@pytest.mark.parametrize("kind", ["linear", "logistic", "poisson"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@pytest.mark.filterwarnings("ignore")
def test_errors_of_people_are_those_of_statsmodels_in_clusters(kind: Any, weights: Any) -> None:
    people = np.random.default_rng(3).integers(0, 90, N)
    relative = None if weights is None else weights / weights.mean()
    model = sm.GLM(RESPONSES[kind], MATRIX, family=FAMILIES[kind](), var_weights=relative)
    groups = {"groups": people, "use_correction": False}
    expected = model.fit(tol=1e-12, cov_type="cluster", cov_kwds=groups)
    found = fit_regression(MATRIX, RESPONSES[kind], kind, weights, people + 5)
    several = len(np.unique(people))
    np.testing.assert_allclose(found.coefficients, expected.params, rtol=1e-6)
    np.testing.assert_allclose(found.errors, expected.bse * np.sqrt(several / (several - 1)), rtol=1e-6)


def test_the_affairs_of_fair() -> None:
    """The table of statsmodels' documentation, "Discrete Choice Models", Fair's affairs data (version 0.14)."""
    data = sm.datasets.fair.load_pandas().data
    names = ["occupation", "educ", "occupation_husb", "rate_marriage", "age", "yrs_married", "children", "religious"]
    matrix = np.column_stack([np.ones(len(data)), data[names]])
    found = fit_regression(matrix, (data["affairs"].to_numpy() > 0).astype(float), "logistic")
    published = [3.7257, 0.1602, -0.0392, 0.0124, -0.7161, -0.0605, 0.1100, -0.0042, -0.3752]
    np.testing.assert_allclose(found.coefficients, published, atol=5e-5)
    errors = [0.299, 0.034, 0.015, 0.023, 0.031, 0.010, 0.011, 0.032, 0.035]
    np.testing.assert_allclose(found.errors, errors, atol=5e-4)


def test_a_column_that_others_add_up_to_is_not_estimated() -> None:
    more = np.column_stack([MATRIX, 3 * MATRIX[:, 1] - MATRIX[:, 2], np.zeros(N)])
    found = fit_regression(more, RESPONSES["linear"], "linear")
    assert found.estimated.tolist() == [True] * 4 + [False, False]
    alone = fit_regression(MATRIX, RESPONSES["linear"], "linear")
    np.testing.assert_allclose(found.coefficients[:4], alone.coefficients)


def test_large_and_close_numbers_are_told_apart() -> None:
    year = RNG.integers(1990, 2021, N).astype(float)
    matrix = np.column_stack([np.ones(N), year, year**2])
    response = 0.001 * (year - 2000) ** 2 + RNG.normal(size=N) / 100
    found = fit_regression(matrix, response, "linear")
    centred = sm.OLS(response, np.column_stack([np.ones(N), year - 2000, (year - 2000) ** 2])).fit()
    assert found.coefficients[2] == pytest.approx(centred.params[2], rel=1e-5)
    assert found.errors[2] == pytest.approx(centred.bse[2], rel=1e-5)


def test_a_category_in_which_all_respond_alike_is_not_estimated() -> None:
    response = RESPONSES["logistic"].copy()
    group = np.zeros(N)
    group[:40] = 1
    response[:40] = 1
    found = fit_regression(np.column_stack([MATRIX[:, :2], group]), response, "logistic")
    assert found.estimated.tolist() == [True, True, False]
    rest = fit_regression(MATRIX[40:, :2], response[40:], "logistic")
    np.testing.assert_allclose(found.coefficients[:2], rest.coefficients, rtol=1e-4)
    counts = np.where(group == 1, 0, RESPONSES["poisson"])
    assert not fit_regression(np.column_stack([MATRIX[:, :2], group]), counts, "poisson").estimated[2]


def test_records_that_determine_nothing() -> None:
    assert not fit_regression(MATRIX[:4], RESPONSES["linear"][:4], "linear").estimated.any()
    assert not fit_regression(np.zeros((5, 2)), np.zeros(5), "linear").estimated.any()
    assert fit_regression(np.zeros((5, 0)), np.zeros(5), "linear").coefficients.shape == (0,)
    assert not fit_regression(np.ones((9, 1)), np.ones(9), "logistic").estimated.any()


def test_other_responses_are_refused() -> None:
    golden.refused(DataError, fit_regression, MATRIX, RESPONSES["poisson"], "logistic")
    golden.refused(DataError, fit_regression, MATRIX, -RESPONSES["poisson"], "poisson")


@given(st.integers(0, 10**6), st.floats(0.01, 100), st.sampled_from(["linear", "logistic", "poisson"]))
def test_units_and_order_of_records_do_not_matter(seed: int, unit: float, kind: Any) -> None:
    order = np.random.default_rng(seed).permutation(N)
    scaled = MATRIX * [1, unit, 1, 1]
    there = fit_regression(scaled[order], RESPONSES[kind][order], kind)
    here = fit_regression(MATRIX, RESPONSES[kind], kind)
    np.testing.assert_allclose(there.coefficients * [1, unit, 1, 1], here.coefficients, rtol=1e-5)
    np.testing.assert_allclose(there.errors * [1, unit, 1, 1], here.errors, rtol=1e-5)


def test_the_basis_is_orthonormal_and_leads_back() -> None:
    basis, kept, back = independent_columns(np.column_stack([MATRIX, MATRIX[:, 1]]))
    assert kept.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(MATRIX @ back, basis, atol=1e-8)

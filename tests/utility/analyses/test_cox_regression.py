import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.duration.hazard_regression import PHReg

from sluice.ground.errors import DataError
from sluice.utility.analyses.cox_regression import fit_cox
from tests.golden import golden

RNG = np.random.default_rng(2)
N = 500
MATRIX = np.column_stack([RNG.normal(50, 10, N), RNG.integers(0, 2, N)]).astype(float)
TIMES = RNG.exponential(np.exp(1 - MATRIX @ [0.03, 0.6]) * 20)
EVENTS = (RNG.uniform(size=N) < 0.7).astype(float)


@pytest.mark.parametrize("times", [TIMES, np.ceil(TIMES)], ids=["distinct", "tied"])
def test_estimates_are_those_of_statsmodels(times: np.ndarray) -> None:
    expected = PHReg(times, MATRIX, status=EVENTS, ties="efron").fit(disp=0)
    found = fit_cox(MATRIX, times, EVENTS)
    np.testing.assert_allclose(found.coefficients, expected.params, rtol=1e-6)
    np.testing.assert_allclose(found.errors, expected.bse, rtol=1e-6)


def test_six_people_by_hand() -> None:
    """Two groups of three, times 1 to 6 in turn, no ties: the partial likelihood is maximal where its slope is 0."""
    group, time = np.array([1.0, 0, 1, 0, 1, 0]), np.arange(1.0, 7)
    found = fit_cox(group[:, None], time, np.ones(6))
    risk = np.exp(found.coefficients[0])
    at_risk = [(3, 3), (2, 3), (2, 2), (1, 2), (1, 1), (0, 1)]  # of the group and of the others, at each time
    expected = [a * risk / (a * risk + b) for a, b in at_risk]
    assert sum(expected) == pytest.approx(3, abs=1e-6)
    assert found.errors[0] == pytest.approx(sum(e * (1 - e) for e in expected) ** -0.5, rel=1e-6)


@given(st.integers(0, 10**6), st.floats(0.1, 1000))
def test_order_and_unit_of_time_do_not_matter(seed: int, unit: float) -> None:
    order = np.random.default_rng(seed).permutation(N)
    here, there = fit_cox(MATRIX, TIMES, EVENTS), fit_cox(MATRIX[order], TIMES[order] * unit, EVENTS[order])
    np.testing.assert_allclose(there.coefficients, here.coefficients, rtol=1e-5)


def test_what_the_records_do_not_determine() -> None:
    assert not fit_cox(MATRIX, TIMES, np.zeros(N)).estimated.any()
    assert fit_cox(MATRIX[:, :0], TIMES, EVENTS).coefficients.shape == (0,)
    assert not fit_cox(MATRIX[:2], TIMES[:2], np.ones(2)).estimated.any()
    assert fit_cox(np.column_stack([MATRIX, np.ones(N)]), TIMES, EVENTS).estimated.tolist() == [True, True, False]
    first_of_all = np.where(MATRIX[:, 1] == 1, TIMES / 1e6, TIMES)  # one group died before anybody of the other
    assert not fit_cox(MATRIX[:, 1:], first_of_all, np.ones(N)).estimated.any()


def test_other_times_and_events_are_refused() -> None:
    golden.refused(DataError, fit_cox, MATRIX, TIMES - 100, EVENTS)
    golden.refused(DataError, fit_cox, MATRIX, TIMES, EVENTS * 2)

"""Share at risk and its interval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from sluice.risk.attacks.attack_success import share_at_risk


def test_exact_when_all_were_examined_and_an_interval_when_some_were():
    success = np.array([1.0, 0.5, 0.0, 0.0])
    exact = share_at_risk(success, of=4, baseline=0.25)
    assert (exact.value, exact.interval, exact.attempted, exact.completed) == (0.375, None, 4, 4)
    sampled = share_at_risk(success, of=100, baseline=0.01)
    assert (sampled.value, sampled.baseline) == (0.375, 0.01)
    assert 0 < sampled.interval[0] < 0.375 < sampled.interval[1] < 1


@given(st.integers(1, 500), st.floats(0, 1))
def test_the_interval_as_scipy_has_it(cases, share):
    hits = round(share * cases)
    expected = binomtest(hits, cases).proportion_ci(method="exact")
    success = (np.arange(cases) < hits).astype(float)
    assert share_at_risk(success, of=cases + 1).interval == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_an_exact_share_below_its_baseline_may_be_chance():
    unlucky = share_at_risk(np.zeros(50), of=50, baseline=1 / 50)
    assert unlucky.interval == (0, 1 / 50)
    badly_played = share_at_risk(np.zeros(5000), of=5000, baseline=0.2)
    assert badly_played.interval[1] < 0.01


def test_nothing_examined_is_no_small_share():
    nothing = share_at_risk(np.zeros(0), of=0)
    assert nothing.completed == 0
    assert np.isnan(nothing.value)

"""D+ with a margin: beside SciPy's two-sample test, and each of the four answers for its own reason."""

from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from sluice.ground.verdict import Verdict
from sluice.risk.reference.prediction import equivalence_test

values = st.lists(st.integers(0, 8).map(float), min_size=1, max_size=60).map(np.array)


@given(release=values, reference=values)
def test_the_statistic_is_scipys(release, reference):
    # Independent implementation: scipy.stats.ks_2samp, one-sided; small integers, so that most values tie.
    test = equivalence_test(release, reference)
    assert test.statistic == pytest.approx(ks_2samp(release, reference, alternative="greater").statistic)
    assert np.mean(release <= test.at) == test.release_share
    assert np.mean(reference <= test.at) == test.reference_share


@given(release=values, reference=values, seed=st.integers(0, 1000))
def test_order_does_not_show_and_smaller_measures_are_worse(release, reference, seed):
    shuffled = np.random.default_rng(seed).permutation(release)
    assert equivalence_test(shuffled, reference) == equivalence_test(release, reference)
    assert equivalence_test(release - 1, reference).statistic >= equivalence_test(release, reference).statistic
    assert equivalence_test(release, release).statistic == 0


def shares(n, low):
    """n values of which `low` lie below the others."""
    return np.where(np.arange(n) < low, 0.0, 1.0)


def test_p_value_by_its_formula():
    test = equivalence_test(shares(1000, 150), shares(500, 0), margin=0.05)
    assert test.statistic == pytest.approx(0.15)
    assert test.p_value == pytest.approx(exp(-2 * 0.1**2 * 1000 * 500 / 1500))
    assert (test.at, test.release_share, test.reference_share) == (0, 0.15, 0)


def test_pass_up_to_the_margin_itself():
    assert equivalence_test(shares(1000, 50), shares(1000, 0)).verdict is Verdict.PASS
    assert equivalence_test(shares(1000, 350), shares(1000, 300)).verdict is Verdict.PASS  # .35 - .3 > .05 in floats
    assert equivalence_test(shares(1000, 51), shares(1000, 0)).verdict is Verdict.REVIEW


def test_fail_is_beyond_chance_and_review_is_not():
    assert equivalence_test(shares(1000, 200), shares(1000, 0)).verdict is Verdict.FAIL
    # The same difference among 40 records may be chance. It does not pass for that.
    assert equivalence_test(shares(40, 8), shares(40, 0)).verdict is Verdict.REVIEW


def test_values_that_differ_by_rounding_are_tied():
    reference = np.full(1000, 0.1 + 0.2)
    assert equivalence_test(np.full(1000, 0.3), reference).statistic == 0


def test_extremes():
    assert equivalence_test(np.zeros(5000), np.ones(5000)).statistic == 1
    assert equivalence_test(np.ones(5000), np.zeros(5000)).verdict is Verdict.PASS
    assert equivalence_test(np.array([0.0]), np.array([1.0])).verdict is Verdict.REVIEW
    assert equivalence_test(shares(1000, 1), shares(1000, 0), margin=0).verdict is Verdict.REVIEW


@pytest.mark.parametrize(
    ("release", "reference"), [([], [1.0]), ([1.0], []), ([np.nan, 1.0], [1.0]), ([1.0], [1.0, np.nan])]
)
def test_what_was_not_measured_is_unknown(release, reference):
    assert equivalence_test(np.array(release), np.array(reference)).verdict is Verdict.UNKNOWN

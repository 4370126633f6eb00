"""Prediction distance, ambiguity, uncertainty. The published figures are in tests/published/test_lasko_vinterbo_..."""

from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from sluice.ground.verdict import Verdict
from sluice.risk.reference.prediction import Excesses, equivalence_test, prediction


def test_worked_by_hand():
    # Lasko and Vinterbo (2010), section II.A, equation (1): distances 1, 2, 4 over 2 dimensions; the crowd is (1,0),
    # (0,2), (0,4).
    found = prediction(np.zeros((1, 2)), np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 4.0], [9.0, 9.0]]), k=3)
    assert found.distance[0] == pytest.approx(1 / np.sqrt(2))
    assert found.ambiguity[0] == pytest.approx(1 / 4)
    assert found.uncertainty[0] == pytest.approx((1 / 3 + 4) / 2)  # variances (n - 1) of 1,0,0 and of 0,2,4


def test_ambiguity_as_published():
    # Lasko and Vinterbo (2010), section II.A: zero means an exact match, one means a tie among k records, not
    # necessarily identical ones.
    corners = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    assert prediction(np.zeros((1, 2)), corners, k=4).ambiguity[0] == 1
    assert prediction(corners[:1], corners, k=4).ambiguity[0] == 0


@given(seed=st.integers(0, 2**32), scale=st.floats(0.01, 100), times=st.integers(2, 4))
def test_dimensions_and_scale(seed, scale, times):
    rng = np.random.default_rng(seed)
    original, released = rng.normal(size=(15, 3)), rng.normal(size=(20, 3))
    base = prediction(original, released)
    # The same columns several times over tell no more: equation (1) is a mean over the dimensions.
    repeated = prediction(np.tile(original, times), np.tile(released, times))
    for measure in ("distance", "ambiguity", "uncertainty"):
        np.testing.assert_allclose(getattr(repeated, measure), getattr(base, measure), rtol=1e-9)
    scaled = prediction(original * scale, released * scale)
    np.testing.assert_allclose(scaled.distance, base.distance * scale, rtol=1e-9)
    np.testing.assert_allclose(scaled.ambiguity, base.ambiguity, rtol=1e-9)
    np.testing.assert_allclose(scaled.uncertainty, base.uncertainty * scale**2, rtol=1e-9)


def test_k_copies_of_a_strange_record_and_of_the_own():
    original = np.array([[0.1, 0.2, 0.3]])
    strange = prediction(original, np.tile([[1 / 3, 0.7, 0.1]], (5, 1)))
    assert (strange.ambiguity[0], strange.uncertainty[0]) == (1, 0)
    own = prediction(original, np.tile(original, (5, 1)))
    assert (own.distance[0], own.ambiguity[0], own.uncertainty[0]) == (0, 0, 0)  # 0 / 0 is 0: an exact copy fails


def test_many_records_are_gathered_in_blocks(monkeypatch):
    rng = np.random.default_rng(4)
    original, released = rng.normal(size=(40, 3)), rng.normal(size=(50, 3))
    whole = prediction(original, released).uncertainty
    monkeypatch.setattr("sluice.risk.reference.prediction._BLOCK_CELLS", 45)
    np.testing.assert_array_equal(prediction(original, released).uncertainty, whole)


# D+ with a margin: beside SciPy's two-sample test, and each of the four answers for its own reason.


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


@given(people=st.integers(1, 60), groups=st.integers(1, 8), seed=st.integers(0, 1000))
def test_many_groups_at_once_have_the_statistic_that_each_has(people, groups, seed):
    rng = np.random.default_rng(seed)
    release, reference = rng.integers(0, 6, (2, people)) / 3
    of = rng.integers(-1, groups, people)
    found = Excesses(release, reference).of_groups(of, groups)
    for group in range(groups):
        mine = of == group
        alone = equivalence_test(release[mine], reference[mine]).statistic if mine.any() else 0.0
        assert found[group] == pytest.approx(alone)


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


def test_households_count_once_where_their_members_share_a_value():
    """All four of each of 50 households have one value: 200 people tell no more than 50 do."""
    four = np.repeat(np.arange(50), 4)
    of_households = np.repeat(shares(50, 9), 4), np.repeat(shares(50, 0), 4)
    by_units = equivalence_test(*of_households, units=(four, four))
    assert by_units.p_value == pytest.approx(equivalence_test(shares(50, 9), shares(50, 0)).p_value)
    assert by_units.verdict is Verdict.REVIEW
    assert equivalence_test(*of_households).verdict is Verdict.FAIL
    # One unit of half the people leaves as few cases as four, whatever the others are.
    half = np.where(np.arange(200) < 100, -1, np.arange(200))
    assert equivalence_test(shares(200, 100), shares(200, 0), units=(half, half)).p_value == pytest.approx(
        exp(-2 * 0.45**2 * (200**2 / (100**2 + 100)) / 2)
    )
    alone = np.arange(1000)
    everybody = equivalence_test(shares(1000, 200), shares(1000, 0), units=(alone, alone))
    assert everybody == equivalence_test(shares(1000, 200), shares(1000, 0))


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

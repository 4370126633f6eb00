"""Reidentification: rates and areas beside other implementations, ties, extremes. Published: tests/published."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from sluice.risk.reference.reidentification import area_under_curve, reidentification
from tests.golden import golden


def test_area_agrees_with_scikit_learn():
    # Independent implementation: sklearn.metrics.roc_auc_score, for whole cases and for shared ones as weights.
    rng = np.random.default_rng(1)
    scores, correct = np.round(rng.normal(size=300), 1), rng.random(300)
    whole = (correct > 0.7).astype(float)
    assert area_under_curve(scores, whole) == pytest.approx(roc_auc_score(whole, scores))
    shared = roc_auc_score(
        np.repeat([1, 0], 300), np.tile(scores, 2), sample_weight=np.concatenate([correct, 1 - correct])
    )
    assert area_under_curve(scores, correct) == pytest.approx(shared)


def test_worked_by_hand():
    # The first two are nearest to their own record, the last two have exchanged theirs.
    original = np.array([[0.0], [10.0], [20.0], [23.0]])
    released = np.array([[0.1], [10.5], [23.2], [20.3]])
    found = reidentification(original, released, np.arange(4), k=2)
    np.testing.assert_array_equal(found.correct, [1, 1, 0, 0])
    assert (found.rate.value, found.rate.baseline, found.rate.interval) == (0.5, 0.25, None)
    assert found.distance == 0.5  # distances .1 and .5 of correct matches, .3 and .2 of wrong ones


@given(seed=st.integers(0, 2**32))
def test_order_does_not_show_and_ties_are_shared(seed):
    rng = np.random.default_rng(seed)
    original, released = rng.integers(0, 3, (2, 60, 3)) * 0.1
    order = rng.permutation(60)
    base = reidentification(original, released, np.arange(60))
    moved = reidentification(original[order], released[order], np.arange(60))
    np.testing.assert_allclose(moved.correct, base.correct[order], rtol=1e-12)
    assert moved.best == pytest.approx(base.best, nan_ok=True)
    distances = np.sqrt(((original[:, None] - released) ** 2).sum(axis=2))
    nearest = np.isclose(distances, distances.min(axis=1, keepdims=True), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(base.correct, np.diag(nearest) / nearest.sum(axis=1))


def test_zero_noise_and_one_constant_record():
    original = np.random.default_rng(2).normal(size=(50, 4))
    same = reidentification(original, original, np.arange(50))
    assert same.rate.value == 1
    assert np.isnan(same.best)  # there is no wrong match to be told from
    constant = reidentification(original, np.zeros((50, 4)), np.arange(50))
    assert constant.rate.value == pytest.approx(1 / 50)
    assert constant.best == pytest.approx(0.5)


def test_some_rows_give_an_interval_around_the_rate_of_all():
    rng = np.random.default_rng(3)
    original = rng.normal(size=(600, 3))
    released = original + 0.3 * rng.normal(size=(600, 3))
    whole = reidentification(original, released, np.arange(600)).rate
    part = reidentification(original, released, np.arange(0, 600, 4)).rate
    assert part.completed == 150
    assert part.interval[0] < whole.value < part.interval[1]


@pytest.mark.parametrize(("released", "rows"), [(np.zeros((4, 2)), np.arange(3)), (np.zeros((5, 2)), np.arange(0))])
def test_refusals(released, rows):
    golden.refused(ValueError, reidentification, np.zeros((5, 2)), released, rows)

"""Prediction distance, ambiguity, uncertainty. The published figures are in tests/published/test_lasko_vinterbo_..."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.reference.prediction import prediction


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

"""The Markov matrix of PRAM: invariant ones keep frequencies, and frequencies can be corrected by it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.masking.noise.markov_matrix import corrected_frequencies, invariant_matrix, retention_matrix
from sluice.masking.noise.pram import randomised
from tests.golden import golden
from tests.masking.noise.test_pram import markov


def test_the_counts_of_the_practice_guide_are_corrected() -> None:
    """Benschop, Machingauta and Welch, "Statistical Disclosure Control: A Practice Guide" (IHSN), section "PRAM"."""
    guide = np.array([[1, 0, 0], [0.05, 0.8, 0.15], [0.05, 0.15, 0.8]])
    assert corrected_frequencies(np.array([5045, 460, 395]), guide) == pytest.approx([5000, 500, 400])


@given(k=st.integers(1, 12), seed=st.integers(0, 10_000))
def test_invariant_matrices_keep_frequencies(k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 50, k) * rng.integers(0, 2, k)  # some categories are empty, or all
    for matrix in (markov(k, rng), retention_matrix(counts, 0.7), retention_matrix(counts, 0.4, proportional=True)):
        assert matrix.sum(axis=1) == pytest.approx(np.ones(k), abs=1e-12)
        kept = invariant_matrix(counts, matrix)
        assert (kept >= 0).all()
        assert kept.sum(axis=1) == pytest.approx(np.ones(k), abs=1e-12)
        assert counts @ kept == pytest.approx(counts.astype(float), abs=1e-12 * max(1, counts.sum()))


def test_corrected_frequencies_are_unbiased() -> None:
    rng = np.random.default_rng(2)
    codes = np.repeat(np.arange(3), [500, 80, 20])
    matrix = retention_matrix(np.array([500, 80, 20]), 0.7)
    estimates = [
        corrected_frequencies(np.bincount(randomised(codes, matrix, rng), minlength=3), matrix) for _ in range(500)
    ]
    deviations = np.std(estimates, axis=0) / np.sqrt(500)
    assert (np.abs(np.mean(estimates, axis=0) - [500, 80, 20]) < 4 * deviations).all()
    assert np.sum(estimates, axis=1) == pytest.approx(np.full(500, 600.0))


def test_retention_spreads_evenly_or_by_shares() -> None:
    counts = np.array([60, 30, 10])
    assert retention_matrix(counts, 0.8)[0] == pytest.approx([0.8, 0.1, 0.1])
    assert retention_matrix(counts, 0.8, proportional=True)[0] == pytest.approx([0.8, 0.15, 0.05])
    # Nobody is in the other categories: there are no shares to go by.
    assert retention_matrix(np.array([5, 0, 0]), 0.8, proportional=True)[0] == pytest.approx([0.8, 0.1, 0.1])


def test_a_singular_matrix_is_refused() -> None:
    with golden.raises(PlanError):
        corrected_frequencies(np.array([5, 5]), np.full((2, 2), 0.5))

"""Random orthogonal matrix masking. Not checked: figures of Ting, Fienberg and Trottini, whose paper is not at hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, ks_2samp, kstest

from sluice.masking.noise.random_orthogonal_matrix import random_orthogonal_mask


def by_the_matrix(original: np.ndarray, c: float, rng: np.random.Generator) -> np.ndarray:
    """T x for one column x, with the whole n x n matrix: I + c M orthonormalised by Gram and Schmidt, in a basis that
    begins with the ones (kept) and the centred column."""
    n = len(original)
    start = np.column_stack([np.ones(n), original - original.mean(), rng.standard_normal((n, n - 2))])
    basis, _ = np.linalg.qr(start)
    q, r = np.linalg.qr(np.eye(n - 1) + c * rng.standard_normal((n - 1, n - 1)))
    turn = np.eye(n)
    turn[1:, 1:] = q * np.sign(np.diag(r))
    matrix = basis @ turn @ basis.T
    assert np.allclose(matrix @ matrix.T, np.eye(n))
    assert np.allclose(matrix @ np.ones(n), 1)
    return matrix @ original


@pytest.mark.parametrize("strength", [0.1, 1.0, 20.0])
def test_the_law_is_that_of_the_whole_matrix(strength: float) -> None:
    """Against an independent one that builds T: the correlation of the released with the original values."""
    n = 8
    original = np.random.default_rng(0).lognormal(size=n)
    rng = np.random.default_rng(1)
    c = np.sqrt(strength / (n - 1))
    ours = [random_orthogonal_mask(original[:, None], strength, rng)[:, 0] for _ in range(800)]
    theirs = [by_the_matrix(original, c, rng) for _ in range(800)]
    found, expected = ([np.corrcoef(original, one)[0, 1] for one in many] for many in (ours, theirs))
    assert ks_2samp(found, expected).statistic < 0.09
    # The same for where a single record goes, which the correlation alone does not tell.
    assert ks_2samp([one[0] for one in ours], [one[0] for one in theirs]).statistic < 0.09


def test_without_strength_the_rotation_is_uniform() -> None:
    """The squared correlation of a fixed and a uniform direction among n - 1 is beta(1/2, (n - 2)/2)."""
    original, rng = np.random.default_rng(0).normal(size=(9, 2)), np.random.default_rng(1)
    original[:, 1] += original[:, 0]
    drawn = [random_orthogonal_mask(original, None, rng) for _ in range(1000)]
    for column in (0, 1):
        squared = [np.corrcoef(original[:, column], one[:, column])[0, 1] ** 2 for one in drawn]
        assert kstest(squared, beta(0.5, 3.5).cdf).statistic < 0.05


@pytest.mark.parametrize(("strength", "correlation"), [(0.1, 0.953), (1.0, 0.707), (10.0, 0.302)])
def test_strength_gives_the_correlation_with_the_original(strength: float, correlation: float) -> None:
    original = np.random.default_rng(0).normal(size=(100_000, 3)) @ np.random.default_rng(1).normal(size=(3, 3))
    masked = random_orthogonal_mask(original, strength, np.random.default_rng(2))
    found = [np.corrcoef(original[:, j], masked[:, j])[0, 1] for j in range(3)]
    assert found == pytest.approx([correlation] * 3, abs=0.01)


@given(
    n=st.integers(3, 60),
    d=st.integers(1, 6),
    seed=st.integers(0, 1000),
    strength=st.sampled_from([None, 1e-6, 0.3, 100.0]),
    shape=st.sampled_from(["full", "collinear", "constant", "scales"]),
)
def test_means_and_covariances_are_exact(n: int, d: int, seed: int, strength: float | None, shape: str) -> None:
    rng = np.random.default_rng(seed)
    original = rng.lognormal(size=(n, d))
    if shape == "collinear":
        original = np.column_stack([original, original.sum(axis=1), 1000 - original[:, 0]])
    if shape == "constant":
        original[:, 0] = 0.1
    if shape == "scales":
        original = original * 10.0 ** rng.integers(-8, 9, d) + 10.0 ** rng.integers(-8, 9, d)
    kept = original.copy()
    masked = random_orthogonal_mask(original, strength, rng)
    assert (original == kept).all()
    scale = np.maximum(original.std(axis=0), 1e-9 * np.abs(original).max(axis=0))
    assert (masked.mean(axis=0) - original.mean(axis=0)) / scale == pytest.approx(0, abs=1e-6)
    covariances = [np.atleast_2d(np.cov((data / scale).T)) for data in (original, masked)]
    assert covariances[1] == pytest.approx(covariances[0], abs=1e-6)
    if shape == "collinear":
        assert masked[:, :d].sum(axis=1) == pytest.approx(masked[:, d], rel=1e-6, abs=1e-6)
    if shape == "constant":
        assert (masked[:, 0] == 0.1).all()


def test_moments_are_exact_to_floating_point() -> None:
    original = np.random.default_rng(0).lognormal(size=(5000, 6)) + 1e4
    masked = random_orthogonal_mask(original, 0.5, np.random.default_rng(1))
    assert masked.mean(axis=0) == pytest.approx(original.mean(axis=0), rel=1e-14)
    assert np.cov(masked.T) == pytest.approx(np.cov(original.T), rel=1e-9, abs=1e-12)


def test_hardly_any_strength_changes_hardly_anything() -> None:
    original = np.random.default_rng(0).normal(size=(50, 3))
    assert random_orthogonal_mask(original, 1e-16, np.random.default_rng(1)) == pytest.approx(original, abs=1e-6)


def test_three_records_of_one_column_are_turned_on_their_circle() -> None:
    original = np.array([[1.0], [2.0], [6.0]])
    masked = random_orthogonal_mask(original, None, np.random.default_rng(0))
    assert masked.sum() == pytest.approx(9)
    assert (masked**2).sum() == pytest.approx(41)
    assert not np.allclose(np.sort(masked, axis=0), original)

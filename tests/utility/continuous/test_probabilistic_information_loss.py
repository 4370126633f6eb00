import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from sluice.utility.continuous.probabilistic_information_loss import probabilistic_information_loss as pil


def test_a_sample_of_the_original_has_a_loss_of_a_half() -> None:
    """Mateo-Sanz, Domingo-Ferrer and Sebe (2005): of a true sample, each statistic's probability is uniform on 0 to 1.

    Which holds only if every variance is right, so this checks all of them.
    """
    rng = np.random.default_rng(0)
    factor = rng.gamma(3, size=(20_000, 1))
    population = np.column_stack([factor + rng.normal(size=(20_000, 1)), factor**2, rng.normal(size=(20_000, 2))])
    found = np.array([list(pil(population, population[rng.choice(20_000, 300)])) for _ in range(60)])
    assert found.mean(axis=0) == pytest.approx([0.5] * 5, abs=0.07)


def test_of_normal_columns_by_their_known_variances() -> None:
    """Mean: 1 / n. Variance: 2 / n. Correlation: (1 - r^2)^2 / n. Covariance: (1 + r^2) / n."""
    rng = np.random.default_rng(1)
    n, r = 200_000, 0.6
    original = rng.multivariate_normal([0, 0], [[1, r], [r, 1]], size=n)
    moved = original * 1.002 + 0.001
    found = pil(original, moved)

    def of(change: float, variance: float) -> float:
        return float(2 * norm.cdf(abs(change) / np.sqrt(variance / n)) - 1)

    assert found.means == pytest.approx(of(0.001, 1), abs=0.02)
    assert found.variances == pytest.approx(of(1.002**2 - 1, 2), abs=0.02)
    assert found.covariances == pytest.approx(of(r * (1.002**2 - 1), 1 + r**2), abs=0.02)
    assert found.correlations == pytest.approx(0, abs=1e-6)
    assert found.average == pytest.approx(np.mean(found))


@given(st.integers(2, 60), st.integers(1, 4), st.integers(0, 9))
def test_it_is_a_probability(n: int, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    original, masked = (rng.normal(size=(n, d)).round(1) for _ in range(2))
    assert all(np.isnan(part) or 0 <= part <= 1 for part in pil(original, masked))


def test_a_removed_variable_is_lost_for_certain() -> None:
    original = np.random.default_rng(0).normal(size=(100, 2))
    masked = original.copy()
    masked[:, 1] = np.nan
    assert list(pil(original, masked)) == [0.5, 0.5, 1, 1, 0.5]
    assert list(pil(original, masked * np.nan)) == [1] * 5


def test_extremes() -> None:
    constant = np.ones((20, 2))
    assert list(pil(constant, constant))[:3] == [0, 0, 0]
    assert np.isnan(pil(constant, constant).correlations)
    assert pil(constant, constant + 1).means == 1
    assert pil(constant, constant + 1).quantiles == 1
    lumped = np.repeat([0.0, 5.0], [95, 5])[:, np.newaxis]  # most quantiles lie on one value
    assert pil(lumped, lumped).quantiles == 0
    assert np.isnan(pil(np.zeros((0, 2)), np.zeros((0, 2))).average)

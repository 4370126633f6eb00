"""Resampling. The references print no figures of it; the exact expectation is computed from the binomial law."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sluice.masking.synthesis.resampling import ranking, resample


def expected_order_statistics(ranked: np.ndarray) -> np.ndarray:
    """E of the j-th value of a bootstrap sample: it is at most the i-th original value if at least j of n draws are,
    each with probability i / n."""
    n = len(ranked)
    i, j = np.meshgrid(np.arange(n + 1), np.arange(1, n + 1))
    at_most = binom.sf(j - 1, n, i / n)
    return np.asarray(np.diff(at_most, axis=1) @ ranked)


def test_many_samples_give_the_expected_order_statistics() -> None:
    values = np.array([3.0, 1.0, 10.0, 4.0, 100.0, 4.0])
    masked = resample(values, 40_000, np.random.default_rng(1))
    expected = expected_order_statistics(np.sort(values))
    assert np.sort(masked) == pytest.approx(expected, rel=0.02)
    assert masked[[1, 0, 2, 4]] == pytest.approx(expected[[0, 1, 4, 5]], rel=0.02)


def test_one_sample_follows_the_law_of_the_bootstrap() -> None:
    """The largest value is in a sample of n with probability 1 - (1 - 1/n)^n, 63 % for large n."""
    rng = np.random.default_rng(0)
    values = np.arange(50.0)
    tops = [resample(values, 1, rng)[49] == 49.0 for _ in range(4000)]
    assert np.mean(tops) == pytest.approx(1 - (1 - 1 / 50) ** 50, abs=0.03)


def test_ties_are_ranked_at_random() -> None:
    rng = np.random.default_rng(0)
    values = np.array([5.0, 1.0, 5.0, 5.0])
    seen = [tuple(ranking(values, rng)) for _ in range(3000)]
    assert {order[0] for order in seen} == {1}
    counts = [seen.count(order) for order in set(seen)]
    assert len(counts) == 6
    assert min(counts) > 400


@given(values=st.lists(st.floats(-1e12, 1e12) | st.just(np.nan), max_size=60), seed=st.integers(0, 1000))
def test_one_sample_holds_values_of_the_file(values: list[float], seed: int) -> None:
    original = np.array(values, dtype=float)
    masked = resample(original, 1, np.random.default_rng(seed))
    assert np.isnan(masked).tolist() == np.isnan(original).tolist()
    assert set(masked[~np.isnan(masked)]) <= set(values)

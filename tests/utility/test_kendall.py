import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from sluice.utility.kendall import half_width, kendall_tau

columns = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), min_size=2, max_size=40)


def test_the_example_of_r() -> None:
    """R 4, help of cor.test: lightness and quality of canned tuna, T = 26 of 36 pairs concordant, tau = 0.4444444."""
    lightness = [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1]
    quality = [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8]
    assert kendall_tau(np.array([lightness, quality]).T)[0, 1] == pytest.approx(0.4444444, abs=1e-7)


@given(columns)
def test_agrees_with_scipy(rows: list[tuple[int, int]]) -> None:
    values = np.array(rows, dtype=float)
    expected = kendalltau(values[:, 0], values[:, 1]).statistic
    assert kendall_tau(values)[0, 1] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(st.integers(0, 2**32))
def test_missing_values_order_and_scale_do_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(60, 3)).round(1)
    values[rng.random((60, 3)) < 0.2] = np.nan
    found = kendall_tau(values)
    both = values[~np.isnan(values[:, :2]).any(axis=1), :2]
    assert found[0, 1] == pytest.approx(kendalltau(*both.T).statistic)
    assert kendall_tau(np.exp(values[rng.permutation(60)])) == pytest.approx(found)
    assert kendall_tau(-values)[0, 2] == pytest.approx(found[0, 2])


def test_a_large_file() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    values = np.column_stack([x, x + rng.normal(size=20_000), np.round(x)])
    found = kendall_tau(values)
    for i, j in ((0, 1), (1, 2), (0, 2)):
        assert found[i, j] == pytest.approx(kendalltau(values[:, i], values[:, j]).statistic, abs=1e-12)


def test_extremes() -> None:
    rising = np.arange(5.0)
    assert kendall_tau(np.column_stack([rising, -rising])) == pytest.approx(np.array([[1, -1], [-1, 1]]))
    constant = kendall_tau(np.column_stack([rising, np.ones(5)]))
    assert np.isnan(constant[0, 1])
    assert np.isnan(constant[1, 1])
    assert np.isnan(kendall_tau(np.array([[1.0, np.nan], [np.nan, 2.0]]))[0, 1])
    assert kendall_tau(np.zeros((0, 2))).shape == (2, 2)


def test_the_interval_of_a_sample_holds() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=4_000)
    values = np.column_stack([x, x + rng.normal(size=4_000)])
    whole = kendall_tau(values)[0, 1]
    drawn = [kendall_tau(values[rng.permutation(4_000)[:200]])[0, 1] for _ in range(200)]
    assert np.mean(np.abs(np.array(drawn) - whole) <= half_width(200)) >= 0.95

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import spearmanr

from sluice.utility.continuous.moments import is_constant, moment_differences, pairwise_moments

values = arrays(
    np.float64,
    st.tuples(st.integers(2, 12), st.integers(1, 4)),
    elements=st.one_of(st.integers(-9, 9).map(float), st.just(np.nan)),
)

matrices = arrays(
    np.float64, st.tuples(st.integers(4, 12), st.integers(2, 4)), elements=st.integers(-50, 50).map(float)
)


def test_data_that_a_reader_can_check() -> None:
    original = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0], [3.0, 4.0]])  # standard deviations 1.29, correlation 1
    masked = np.array([[1.0, 4.0], [2.0, 3.0], [3.0, 2.0], [4.0, 1.0]])  # shifted by 1; reversed, correlation -1
    moments = moment_differences(original, masked)
    assert moments.mean == pytest.approx(1 / np.sqrt(5 / 3) / 2)  # median of 0.775 and 0
    assert (moments.variance, moments.correlation, moments.rank_correlation) == pytest.approx((0, 2, 2))


def test_a_second_sample_differs_as_much_as_table_i_says(reference_data: Path) -> None:
    """Lasko and Vinterbo (2010), Table I, nonoverlapping sample: .035 .021 .017 .016 for 2,000 NHANES records.

    NHANES here is the same survey, not the same extract: the halves of 4,000 of its records, on every standardised log
    of a strictly positive continuous column, give differences of the same size (.01 to .06), not the same figures.
    """
    frame = pd.read_csv(reference_data / "nhanes_bioage" / "NHANES3.csv.gz")
    numbers = frame.select_dtypes("number")
    numbers = numbers.loc[:, (numbers.min() > 0) & (numbers.nunique() > 20)].dropna(axis=1, thresh=12_000).dropna()
    sample = np.log(numbers.sample(4000, random_state=1).to_numpy())
    moments = moment_differences(sample[:2000], sample[2000:])
    assert all(0.005 < value < 0.06 for value in moments), moments


@given(matrices)
def test_agrees_with_numpy_and_scipy(values: np.ndarray) -> None:
    masked = values[::-1] * 0.5 + np.arange(values.shape[1])
    moments = moment_differences(values, masked)
    spread = values.std(axis=0, ddof=1)
    if (spread > 0).all():
        shift = np.abs(masked.mean(axis=0) - values.mean(axis=0)) / spread
        assert moments.mean == pytest.approx(np.median(shift))
        assert moments.variance == pytest.approx(0.75)  # every variance is a quarter of what it was
        assert moments.correlation == pytest.approx(0, abs=1e-12)  # rows travel whole, and scales do not matter
        assert moments.rank_correlation == pytest.approx(0, abs=1e-12)


def test_missing_values_use_the_records_that_have_them() -> None:
    rng = np.random.default_rng(5)
    original, masked = rng.normal(size=(40, 2)), rng.normal(size=(50, 2))
    original[:5, 0], masked[3:9, 1] = np.nan, np.nan
    moments = moment_differences(original, masked)
    here, there = original[5:], np.delete(masked, np.s_[3:9], axis=0)
    pearson = abs(np.corrcoef(here.T)[0, 1] - np.corrcoef(there.T)[0, 1])
    ranks = abs(spearmanr(here[:, 0], here[:, 1])[0] - spearmanr(there[:, 0], there[:, 1])[0])
    assert moments.correlation == pytest.approx(pearson)
    assert moments.rank_correlation == pytest.approx(ranks)


def test_collinear_columns_need_no_inverse() -> None:
    """A published tool gave -1e16 on such data."""
    x = np.linspace(0, 1, 30)
    original = np.column_stack([x, 2 * x, x + 1, -x])
    assert moment_differences(original, original) == pytest.approx((0, 0, 0, 0))
    assert moment_differences(original, original[:, [0, 1, 2, 2]]).correlation == pytest.approx(
        1.0
    )  # 3 of 6 pairs turn


def test_constant_columns_are_0_off_or_infinitely_far_off() -> None:
    constant, other = np.full((6, 1), 0.1), np.full((6, 1), 0.2)
    varied = np.arange(6.0).reshape(-1, 1)
    assert moment_differences(constant, constant)[:2] == (0, 0)
    assert moment_differences(constant, np.full((6, 1), 0.3) - 0.2)[:2] == (0, 0)  # the same but for rounding
    assert moment_differences(constant, other)[:2] == (np.inf, 0)
    assert moment_differences(constant, varied)[:2] == (np.inf, np.inf)
    both = np.hstack([varied, constant])
    assert np.isnan(moment_differences(both, both).correlation)  # no pair of varying columns
    # A column that masking made constant goes with nothing any more: its correlation of 1 is lost.
    assert moment_differences(np.hstack([varied, varied]), both).correlation == pytest.approx(1.0)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=10), st.integers(0, 5))
def test_constant_means_no_spread_beyond_rounding(values: list[float], holes: int) -> None:
    column = np.array([*values, *[np.nan] * holes])
    if len(set(values)) == 1:
        assert is_constant(column)
    elif np.ptp(values) > 1e-3:
        assert not is_constant(column)


def test_an_empty_column_is_constant_and_a_small_spread_is_a_spread() -> None:
    assert is_constant(np.array([np.nan, np.nan]))
    assert is_constant(np.array([0.1 + 0.2, 0.3]))
    assert not is_constant(np.array([1e-9, 2e-9]))


@given(values)
def test_covariances_and_correlations_are_those_of_pandas(file: np.ndarray) -> None:
    found, frame = pairwise_moments(file), pd.DataFrame(file)
    assert found.covariance == pytest.approx(frame.cov(min_periods=2).to_numpy(), abs=1e-9, nan_ok=True)
    assert found.mean == pytest.approx(frame.mean().to_numpy(), nan_ok=True)
    assert found.records.tolist() == (frame.notna().astype(int).T @ frame.notna().astype(int)).to_numpy().tolist()
    expected = frame.corr(min_periods=2).to_numpy(copy=True)
    np.fill_diagonal(expected, np.where(frame.max() > frame.min(), 1.0, np.nan))
    assert found.correlation == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_a_long_file_with_a_large_mean_is_summed_without_cancellation() -> None:
    rng = np.random.default_rng(0)
    file = 1e9 + rng.normal(size=(40_000, 2))
    file[::7, 1] = np.nan
    assert pairwise_moments(file).covariance == pytest.approx(pd.DataFrame(file).cov().to_numpy(), abs=1e-6)


def test_a_constant_column_varies_with_nothing() -> None:
    found = pairwise_moments(np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 5.0]]))
    assert found.covariance[0].tolist() == [0, 0]
    assert np.isnan(found.correlation[0]).all()
    assert found.mean[0] == 0.1


def test_nothing_is_known_of_one_record() -> None:
    found = pairwise_moments(np.array([[1.0, np.nan]]))
    assert np.isnan(found.covariance).all()
    assert np.isnan(found.correlation).all()

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sluice.utility.continuous.pairwise_moments import pairwise_moments

values = arrays(
    np.float64,
    st.tuples(st.integers(2, 12), st.integers(1, 4)),
    elements=st.one_of(st.integers(-9, 9).map(float), st.just(np.nan)),
)


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

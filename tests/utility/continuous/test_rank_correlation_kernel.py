import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sluice.utility.continuous.rank_correlation_kernel import rank_correlation
from sluice.utility.continuous.released_numbers import NumberColumn

files = arrays(
    np.float64,
    st.tuples(st.integers(2, 25), st.just(2)),
    elements=st.one_of(st.integers(-4, 4).map(float), st.just(np.nan)),
)


def correlation(file: np.ndarray) -> float:
    one, other = (NumberColumn.of(column) for column in file.T)
    return float(rank_correlation(one.codes, len(one.values), other.codes, len(other.values), None)[0])


@given(files)
def test_it_is_that_of_pandas_with_ties_and_missing_values(file: np.ndarray) -> None:
    expected = pd.DataFrame(file).corr("spearman", min_periods=2).to_numpy()[0, 1]
    assert correlation(file) == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_a_column_that_is_constant_among_the_common_records_has_none() -> None:
    assert np.isnan(correlation(np.array([[1.0, 2.0], [1.0, 3.0], [5.0, np.nan]])))
    assert np.isnan(correlation(np.array([[np.nan, 1.0], [2.0, np.nan]])))

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sluice.utility.continuous.number_columns import NumberColumn, NumberColumns

FILES = arrays(
    np.float64,
    st.tuples(st.integers(0, 25), st.integers(0, 4)),
    elements=st.one_of(st.integers(-3, 3).map(float), st.floats(-1e9, 1e9), st.just(np.nan)),
)


@given(FILES, st.integers(0, 30), st.integers(0, 30))
def test_it_reads_like_the_array_that_it_was_made_of(file: np.ndarray, start: int, end: int) -> None:
    columns = NumberColumns.of(file)
    assert columns.shape == file.shape
    assert len(columns) == len(file)
    np.testing.assert_array_equal(columns[start:end], file[start:end])
    np.testing.assert_array_equal(np.asarray(columns), file)
    some = list(range(0, file.shape[1], 2))
    np.testing.assert_array_equal(np.asarray(columns[:, some]), file[:, some])
    for at in range(file.shape[1]):
        np.testing.assert_array_equal(columns[:, at], file[:, at])
    rows = np.arange(len(file))[::-2]
    np.testing.assert_array_equal(columns[rows], file[rows])


@given(FILES)
def test_values_rise_and_codes_take_no_more_bytes_than_they_need(file: np.ndarray) -> None:
    for column in NumberColumns.of(file).columns:
        assert (np.diff(column.values[:-1]) > 0).all()
        assert np.isnan(column.values[-1])
        assert column.codes.dtype == np.uint8
        assert column.counts.sum() == len(file)


def test_more_values_than_a_byte_holds() -> None:
    assert NumberColumn.of(np.arange(255.0)).codes.dtype == np.uint8  # and a place for a missing value
    assert NumberColumn.of(np.arange(256.0)).codes.dtype == np.uint16
    wide = NumberColumn.of(np.append(np.arange(70_000.0)[::-1], np.nan))
    assert wide.codes.dtype == np.uint32
    assert wide.numbers[:3].tolist() == [69_999.0, 69_998.0, 69_997.0]
    assert np.isnan(wide.numbers[-1])


def test_a_category_is_its_place_and_an_integer_its_number() -> None:
    grades = pd.Series(pd.Categorical(["b", None, "a", "b"], categories=["a", "b", "c"], ordered=True))
    assert NumberColumn.of(grades).numbers.tolist() == pytest.approx([1, np.nan, 0, 1], nan_ok=True)
    whole = pd.Series([3, None, 2**40], dtype="Int64")
    assert NumberColumn.of(whole).numbers.tolist() == pytest.approx([3, np.nan, 2.0**40], nan_ok=True)


def test_values_that_repeat_and_are_in_no_order_are_put_in_order() -> None:
    column = NumberColumn(np.array([0, 1, 2, -1]), np.array([5.0, 2.0, 5.0, np.nan]))
    assert column.values.tolist() == pytest.approx([2, 5, np.nan], nan_ok=True)
    assert column.numbers.tolist() == pytest.approx([5, 2, 5, np.nan], nan_ok=True)

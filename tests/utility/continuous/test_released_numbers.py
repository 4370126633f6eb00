import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Role, Variable
from sluice.utility.continuous.released_numbers import NumberColumn, NumberColumns, released_numbers
from tests.golden import golden

FILES = arrays(
    np.float64,
    st.tuples(st.integers(0, 25), st.integers(0, 4)),
    elements=st.one_of(st.integers(-3, 3).map(float), st.floats(-1e9, 1e9), st.just(np.nan)),
)

AGE = {"age": Variable(name="age", kind=Kind.INTEGER)}
BANDS = {"age": Variable(name="age", kind=Kind.ORDINAL, categories=("young", "old"))}


def ages(*values: int | None) -> pd.DataFrame:
    return pd.DataFrame({"age": pd.array(values, dtype="Int64")})


def bands(*values: str | None) -> pd.DataFrame:
    return pd.DataFrame({"age": pd.Categorical(values, categories=["young", "old"], ordered=True)})


def test_a_group_is_read_as_the_mean_of_the_values_that_it_may_stand_for() -> None:
    original, recoded = ages(20, 20, 20, 30, 70, None), bands("young", "young", "young", "young", "old", None)
    masked = bands("young", "old", None, "old", "young", "young")
    found = released_numbers(original, recoded, masked, AGE, BANDS)
    assert found.masked[:, 0].tolist() == pytest.approx([25, 70, np.nan, 70, 25, 25], nan_ok=True)
    assert (found.names, found.removed) == (("age",), ())


def test_a_group_of_ordinal_categories_and_a_removed_variable() -> None:
    variables = {"degree": Variable(name="degree", kind=Kind.ORDINAL, categories=("a", "b", "c")), **AGE}
    degrees = pd.Categorical(["a", "b", "c", "a"], categories=["a", "b", "c"], ordered=True)
    original = pd.DataFrame({"degree": degrees}).join(ages(1, 2, 3, 4))
    groups = pd.Categorical(["a or b", "a or b", "c", "a or b"], categories=["a or b", "c"], ordered=True)
    recoded = pd.DataFrame({"degree": groups})
    found = released_numbers(original, recoded, recoded, variables, {"degree": variables["degree"]})
    assert found.original[:, 0].tolist() == [0, 1, 2, 0]
    assert found.masked[:, 0].tolist() == [0.5, 0.5, 2, 0.5]
    assert found.removed == ("age",)
    assert np.isnan(found.masked[:, 1]).all()


def test_groups_that_bear_the_names_of_categories_are_read_as_groups() -> None:
    degrees = pd.Categorical(["a", "b", "c"], categories=["a", "b", "c"], ordered=True)
    original = pd.DataFrame({"degree": degrees})
    variables = {"degree": Variable(name="degree", kind=Kind.ORDINAL, categories=("young", "old"))}
    recoded = original.assign(degree=pd.Categorical(["b", "b", "c"], categories=["a", "b", "c"], ordered=True))
    found = released_numbers(original, recoded, recoded, variables, variables)
    assert found.masked[:, 0].tolist() == [0.5, 0.5, 2]


def test_a_label_that_may_be_anything_is_a_missing_number() -> None:
    found = released_numbers(ages(1, 3, 3), bands("old", None, None), bands("old", "young", "old"), AGE, BANDS)
    assert found.masked[:, 0].tolist() == pytest.approx([1, 3, 1])  # what is left is young
    found = released_numbers(ages(1, 3, 3), bands(None, None, None), bands("old", "old", "old"), AGE, BANDS)
    assert np.isnan(found.masked[:, 0]).all()
    assert found.removed == ("age",)


def test_probabilities_of_ordered_categories_are_read_as_the_expected_position() -> None:
    degrees = pd.Categorical(["a", "b", "c"], categories=["a", "b", "c"], ordered=True)
    original = pd.DataFrame({"degree": degrees})
    variables = {"degree": Variable(name="degree", kind=Kind.ORDINAL, categories=("a", "b", "c"))}
    masked = pd.DataFrame({"degree=a": [1.0, 0.5, 0.0], "degree=b": [0.0, 0.0, 0.0], "degree=c": [0.0, 0.5, 0.0]})
    released = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in masked}
    found = released_numbers(original, original[[]], masked, variables, released)
    assert found.removed == ()
    assert found.masked[:, 0] == pytest.approx([0, 1, np.nan], nan_ok=True)


def test_names_dates_and_towns_are_no_numbers() -> None:
    variables = {
        "id": Variable(name="id", kind=Kind.INTEGER, role=Role.IDENTIFIER),
        "town": Variable(name="town", kind=Kind.NOMINAL),
    }
    frame = pd.DataFrame({"id": pd.array([1, 2], dtype="Int64"), "town": pd.Categorical(["a", "b"])})
    assert released_numbers(frame, frame, frame, variables, variables).names == ()


@given(st.lists(st.one_of(st.none(), st.integers(-5, 5)), max_size=20), st.integers(-3, 3))
def test_numbers_are_read_for_themselves(values: list[int | None], moved: int) -> None:
    original = ages(*values)
    found = released_numbers(original, original, original + moved, AGE, AGE)
    assert np.asarray(found.masked) == pytest.approx(np.asarray(found.original) + moved, nan_ok=True)


def test_a_recoded_file_of_another_length_is_refused() -> None:
    golden.refused(DataError, released_numbers, ages(1, 2, 3), ages(1, 2), ages(1, 2, 3), AGE, AGE)


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

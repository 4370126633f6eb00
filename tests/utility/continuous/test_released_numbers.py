import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Role, Variable
from sluice.utility.continuous.released_numbers import released_numbers
from tests.golden import golden

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

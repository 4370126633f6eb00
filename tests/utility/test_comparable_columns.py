import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sluice.ground.variables import Kind, Role, Variable
from sluice.utility.comparable_columns import as_numbers, comparable_columns, is_constant

LOW_HIGH = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)


def test_numbers_orders_and_pairs_are_compared_and_names_are_not() -> None:
    variables = {
        v.name: v
        for v in (
            Variable(name="age", kind=Kind.INTEGER),
            Variable(name="grade", kind=Kind.ORDINAL, categories=("low", "mid", "high")),
            Variable(name="sex", kind=Kind.BINARY),
            Variable(name="town", kind=Kind.NOMINAL),
            Variable(name="household", kind=Kind.INTEGER, role=Role.HOUSEHOLD),
            Variable(name="dropped", kind=Kind.CONTINUOUS),
        )
    }
    original = pd.DataFrame(
        {
            "age": pd.array([30, None], dtype="Int64"),
            "grade": pd.Categorical(["high", None], dtype=LOW_HIGH),
            "sex": pd.Categorical(["m", "f"]),
            "town": pd.Categorical(["a", "b"]),
            "household": pd.array([1, 2], dtype="Int64"),
            "dropped": [1.0, 2.0],
        },
        index=[9, 9],
    )
    released = {name: variable for name, variable in variables.items() if name != "dropped"}
    assert comparable_columns(original, original, variables, released) == ["age", "grade", "sex"]
    assert_array_equal(as_numbers(original, ["age", "grade", "sex"]), [[30, 2, 1], [np.nan, np.nan, 0]])

    # Ages recoded to bands, and grades to other grades, are no longer numbers of the same meaning.
    recoded = original.assign(
        age=pd.Categorical(["30-39", None]),
        grade=pd.Categorical(["low", "top"], categories=["low", "top"], ordered=True),
    )
    bands = {
        **released,
        "age": Variable(name="age", kind=Kind.ORDINAL, categories=("30-39",)),
        "grade": Variable(name="grade", kind=Kind.ORDINAL, categories=("low", "top")),
    }
    assert comparable_columns(original, recoded, variables, bands) == ["sex"]


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

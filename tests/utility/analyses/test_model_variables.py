import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Variable
from sluice.utility.analyses.model_variables import ModelVariable, masked_variables, original_variables

LEVELS = ("none", "school", "degree")
VARIABLES = {
    "age": Variable(name="age", kind=Kind.INTEGER),
    "level": Variable(name="level", kind=Kind.ORDINAL, categories=LEVELS),
    "pay": Variable(name="pay", kind=Kind.CONTINUOUS),
}
RELEASED = {
    "age": Variable(name="age", kind=Kind.ORDINAL, categories=("young", "old")),
    "level": Variable(name="level", kind=Kind.ORDINAL, categories=("none", "more")),
}
ORIGINAL = pd.DataFrame(
    {
        "age": pd.array([18, 20, 20, 60], "Int64"),
        "level": pd.Categorical(["none", "school", "degree", "degree"], LEVELS, ordered=True),
        "pay": [1.0, 2.0, np.nan, 4.0],
    }
)
RECODED = pd.DataFrame(
    {
        "age": pd.Categorical(["young"] * 3 + ["old"], ["young", "old"], ordered=True),
        "level": pd.Categorical(["none"] + ["more"] * 3, ["none", "more"], ordered=True),
    }
)


def masked() -> dict[str, ModelVariable]:
    return masked_variables(VARIABLES, ORIGINAL, RECODED, RECODED, VARIABLES, RELEASED)


def test_the_original_is_read_as_it_is() -> None:
    found = original_variables(["age", "level", "pay", "absent"], ORIGINAL, VARIABLES)
    assert list(found) == ["age", "level", "pay"]
    assert found["age"].numbers().tolist() == [18, 20, 20, 60]
    assert np.isnan(found["pay"].numbers()[2])
    levels = found["level"].levels()
    assert levels.names == LEVELS
    assert levels.codes.tolist() == [0, 1, 2, 2]
    assert levels.own.all()
    assert found["age"].levels().names == ("18", "20", "60")


def test_a_group_of_numbers_is_the_mean_of_the_values_it_may_stand_for() -> None:
    assert masked()["age"].numbers().tolist() == [19, 19, 19, 60]  # 18 and 20 each count once


def test_a_group_of_categories_is_a_category_after_the_original_ones() -> None:
    levels = masked()["level"].levels()
    assert levels.names == ("none", "more")
    assert levels.own.tolist() == [True, False]


def test_a_condition_that_a_group_does_not_decide_is_unknown() -> None:
    found = masked()
    assert found["age"].where(">", 20).tolist() == [0, 0, 0, 1]
    assert np.isnan(found["age"].where(">", 18)[:3]).all()
    assert found["level"].where("==", "none").tolist() == [1, 0, 0, 0]
    assert np.isnan(found["level"].where("!=", "degree")[1:]).all()
    original = original_variables(["pay"], ORIGINAL, VARIABLES)["pay"]
    np.testing.assert_array_equal(original.where("<=", 2), [1, 1, np.nan, 0])


def test_a_variable_that_left_the_file_is_not_there_and_rows_can_be_taken() -> None:
    assert list(masked()) == ["age", "level"]
    assert masked()["age"].take(np.array([False, False, True, True])).numbers().tolist() == [19, 60]

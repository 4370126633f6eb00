import numpy as np
import pandas as pd

from sluice.utility.record_weights import record_weights
from sluice.variables import Kind, Role, Variable

WEIGHT = Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.WEIGHT)


def test_the_variable_of_role_weight_and_nothing_for_a_record_without_one() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "weight": [2.5, np.nan, -1.0]})
    variables = {"x": Variable(name="x", kind=Kind.CONTINUOUS), "weight": WEIGHT}
    found = record_weights(frame, variables)
    assert found is not None
    assert found.tolist() == [2.5, 0.0, 0.0]


def test_whole_numbers_with_missing_ones_are_weights() -> None:
    frame = pd.DataFrame({"weight": pd.array([1, None], dtype="Int64")})
    found = record_weights(frame, {"weight": WEIGHT.model_copy(update={"kind": Kind.INTEGER})})
    assert found is not None
    assert found.tolist() == [1.0, 0.0]


def test_no_weight_where_none_is_declared_or_it_was_recoded_to_groups() -> None:
    frame = pd.DataFrame({"weight": pd.Categorical(["low", "high"])})
    assert record_weights(frame, {"weight": Variable(name="weight", kind=Kind.NOMINAL, role=Role.WEIGHT)}) is None
    assert record_weights(frame, {"weight": Variable(name="weight", kind=Kind.NOMINAL)}) is None

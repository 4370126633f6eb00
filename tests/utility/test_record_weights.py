import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.variables import Kind, Role, Variable
from sluice.utility.record_weights import effective_records, record_weights, relative_weight

WEIGHT = Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.WEIGHT)


def test_the_variable_of_role_weight_and_nothing_for_a_record_without_one() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "weight": [2.5, np.nan, -1.0]})
    variables = {"x": Variable(name="x", kind=Kind.CONTINUOUS), "weight": WEIGHT}
    found = record_weights(frame, variables)
    assert found.tolist() == [2.5, 0.0, 0.0]


def test_whole_numbers_with_missing_ones_are_weights() -> None:
    frame = pd.DataFrame({"weight": pd.array([1, None], dtype="Int64")})
    found = record_weights(frame, {"weight": WEIGHT.model_copy(update={"kind": Kind.INTEGER})})
    assert found.tolist() == [1.0, 0.0]


def test_no_weight_where_none_is_declared_or_it_was_recoded_to_groups() -> None:
    frame = pd.DataFrame({"weight": pd.Categorical(["low", "high"])})
    assert record_weights(frame, {"weight": Variable(name="weight", kind=Kind.NOMINAL, role=Role.WEIGHT)}) is None
    assert record_weights(frame, {"weight": Variable(name="weight", kind=Kind.NOMINAL)}) is None


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=20))
def test_effectively_there_are_at_most_as_many_records_as_weigh_anything(weights: list[float]) -> None:
    weight = np.array(weights)
    found = effective_records(weight, len(weight))
    relative = relative_weight(weight, len(weight))
    assert found <= np.count_nonzero(relative) * (1 + 1e-9)
    assert (found >= 1 - 1e-9) == bool((weight > 0).any())
    assert relative.max() == (1 if weight.max() > 0 else 0)


def test_records_of_one_weight_count_as_they_are() -> None:
    assert effective_records(None, 7) == 7
    assert effective_records(np.full(7, 0.3), 7) == pytest.approx(7)
    assert effective_records(np.array([1.0, 1, 2]), 3) == pytest.approx(16 / 6)  # Kish (1965)
    assert effective_records(np.zeros(3), 3) == 0
    assert relative_weight(None, 3) is None

"""The attribute risk as a rule."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Verdict
from sluice.risk.population.attribute_risk import AttributeRisk, attribute_risk
from tests.golden import golden


def test_worked_by_hand():
    # Yamazoe and Omote (2021), equation (1): |R_x| / m / |U_x|. Six records of three people; 'flu' in 3 records of 2
    # people, 'cold' in 2 records of 1, 'hiv' in 1 of 1.
    values = pd.Series(["flu", "flu", "flu", "cold", "cold", "hiv"], dtype="category")
    found = attribute_risk(values, ["ann", "ann", "bob", "eve", "eve", "bob"])
    assert found.value == pytest.approx(3 / 6 / 2 + 2 / 6 + 1 / 6)  # flu, cold, hiv


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.randoms())
def test_one_record_a_person_gives_values_over_records_in_any_order(values, random):
    column = pd.Series(pd.array(values, dtype="Int64"))
    shuffled = list(range(len(values)))
    random.shuffle(shuffled)
    for each in (column, column.iloc[shuffled]):
        assert attribute_risk(each).value == pytest.approx(len(set(values)) / len(values))


def test_extremes():
    assert attribute_risk(pd.Series([1.0])).value == 1  # one record
    assert attribute_risk(pd.Series(np.arange(9.0))).value == pytest.approx(1)  # all different
    assert attribute_risk(pd.Series(np.ones(8))).value == pytest.approx(1 / 8)  # a constant
    assert attribute_risk(pd.Series(np.arange(9.0)), np.zeros(9)).value == pytest.approx(1)  # one person
    nothing = attribute_risk(pd.Series([np.nan, np.nan]))
    assert (nothing.attempted, nothing.completed) == (2, 0)
    partly = attribute_risk(pd.Series([1.0, 2.0, np.nan, np.nan]))
    assert (partly.value, partly.attempted, partly.completed) == (1, 4, 2)  # missing is not in the denominator


def test_attribute_risk_judges_each_variable_by_itself() -> None:
    """Of 4 records, 1 area and 3 ages: the chance is the number of values over the number of records."""
    variables = {
        "area": Variable(name="area", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER),
        "age": Variable(name="age", kind=Kind.INTEGER, role=Role.QUASI_IDENTIFIER),
        "blank": Variable(name="blank", kind=Kind.CONTINUOUS, role=Role.QUASI_IDENTIFIER),
    }
    frame = pd.DataFrame(
        {
            "area": pd.Categorical(["a"] * 4),
            "age": pd.array([30, 30, 40, 50], dtype="Int64"),
            "blank": [float("nan")] * 4,
        }
    )
    area, age, blank = AttributeRisk(at_most=0.25).find(frame, variables, "masked")
    assert (area.verdict, area.observed) == (Verdict.PASS, 0.25)
    assert (age.verdict, age.observed) == (Verdict.FAIL, 0.75)
    golden(age.says)
    assert (blank.verdict, blank.observed) == (Verdict.PASS, 0.25)  # as one value for everybody

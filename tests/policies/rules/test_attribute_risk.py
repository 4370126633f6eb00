"""The attribute risk as a rule."""

import pandas as pd

from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Verdict
from sluice.risk.population.attribute_risk import AttributeRisk
from tests.golden import golden


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
    assert (blank.verdict, blank.completed) == (Verdict.UNKNOWN, 0)

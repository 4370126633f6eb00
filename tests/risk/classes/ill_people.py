"""People of an age and an area, and what they are ill of."""

from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.rule import Rule
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding
from tests.risk.population.weighted_survey import READING

VARIABLES = {
    variable.name: variable
    for variable in (
        Variable(name="age", kind=Kind.INTEGER, role=Role.QUASI_IDENTIFIER, nullable=True),
        Variable(name="area", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER, categories=("a", "b")),
        Variable(name="illness", kind=Kind.NOMINAL, role=Role.SENSITIVE, categories=("cold", "flu", "gout")),
        Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.WEIGHT),
    )
}


def people(ages: list[int | None], areas: str, illnesses: str = "", weights: Any = 10.0) -> pd.DataFrame:
    of = {"c": "cold", "f": "flu", "g": "gout"}
    named = [of[letter] for letter in illnesses or "c" * len(ages)]
    return pd.DataFrame(
        {
            "age": pd.array(ages, dtype="Int64"),
            "area": pd.Categorical(list(areas), categories=["a", "b"]),
            "illness": pd.Categorical(named, categories=["cold", "flu", "gout"]),
            "weight": np.broadcast_to(weights, len(ages)).astype(float),
        }
    )


def one(rule: Rule, frame: pd.DataFrame) -> Finding:
    (finding,) = rule.find(frame, VARIABLES, "masked", "women", READING)
    return finding

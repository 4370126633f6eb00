"""Women of an age, how long they are married, and what they are ill of."""

from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.rule import Rule
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding

QUASI = Role.QUASI_IDENTIFIER
VARIABLES = {
    variable.name: variable
    for variable in (
        Variable(name="age", kind=Kind.INTEGER, role=QUASI),
        Variable(name="years_married", kind=Kind.CONTINUOUS, role=QUASI),
        Variable(name="illness", kind=Kind.NOMINAL, role=Role.SENSITIVE),
        Variable(name="salary", kind=Kind.CONTINUOUS, role=Role.SENSITIVE),
        Variable(name="remark", kind=Kind.TEXT),
    )
}


def typed(ages: list[int | None], illness: list[str | None] | None = None, index: Any = None) -> pd.DataFrame:
    n = len(ages)
    return pd.DataFrame(
        {
            "age": pd.array(ages, dtype="Int64"),
            "years_married": np.full(n, 2.5),
            "illness": pd.Categorical(
                illness if illness is not None else ["flu", "cold"] * (n // 2) + ["flu"] * (n % 2)
            ),
            "salary": np.arange(n, dtype=float),
            "remark": pd.array(["x"] * n, dtype="str"),
        }
    ).set_axis(range(n) if index is None else index)


def one(rule: Rule, frame: pd.DataFrame, **options: Any) -> Finding:
    (finding,) = rule.find(frame, VARIABLES, "masked", **options)
    return finding

"""A weighted survey of four women and men, and a list of their population."""

from typing import Any

import pandas as pd

from sluice.documents.document_reading import named_file
from sluice.ground.rule import Background
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding

QUASI = Role.QUASI_IDENTIFIER
VARIABLES = {
    variable.name: variable
    for variable in (
        Variable(name="sex", kind=Kind.NOMINAL, role=QUASI),
        Variable(name="age", kind=Kind.INTEGER, role=QUASI),
        Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.WEIGHT),
        Variable(name="household", kind=Kind.TEXT, role=Role.HOUSEHOLD),
    )
}
LIST = "sex,age,count\nf,30,20\nf,41,8\nm,30,5\nm,,1\n"


def typed(rows: list[tuple[Any, Any]], weight: float | list[float] = 10.0) -> pd.DataFrame:
    n = len(rows)
    return pd.DataFrame(
        {
            "sex": pd.Categorical([sex for sex, _ in rows]),
            "age": pd.array([age for _, age in rows], dtype="Int64"),
            "weight": weight,
            "household": pd.array([str(i // 2) for i in range(n)], dtype="str"),
        },
        index=[0] * n,
    )


SURVEY = typed([("f", 30), ("f", 30), ("f", 41), ("m", 30)])

READING = Background(file_of=named_file)  # who may read the lists that rules name


def without(role: Role) -> dict[str, Variable]:
    return {name: variable for name, variable in VARIABLES.items() if variable.role is not role}


def one(rule: Any, frame: pd.DataFrame = SURVEY, variables: dict[str, Variable] = VARIABLES) -> Finding:
    (finding,) = rule.find(frame, variables, "masked", "women", READING)
    assert finding.rule == rule.rule
    assert finding.stage == "masked"
    return finding

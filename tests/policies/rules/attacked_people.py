"""People of whom one variable is attacked at a time."""

from dataclasses import replace

import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Verdict
from sluice.utility.comparison import Comparison

PASS, REVIEW, FAIL, UNKNOWN = Verdict.PASS, Verdict.REVIEW, Verdict.FAIL, Verdict.UNKNOWN
AREAS = ["Devon", "Essex", "Kent", "Surrey"]
ILLNESSES = ["cold", "flu", "gout"]
VARIABLES = {
    variable.name: variable
    for variable in (
        Variable(name="age", kind=Kind.CONTINUOUS, role=Role.QUASI_IDENTIFIER),
        Variable(name="area", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER, categories=tuple(AREAS)),
        Variable(name="illness", kind=Kind.NOMINAL, role=Role.SENSITIVE, categories=tuple(ILLNESSES), nullable=True),
        Variable(name="salary", kind=Kind.CONTINUOUS, role=Role.SENSITIVE),
    )
}


def people(n: int, seed: int) -> pd.DataFrame:
    """Illness goes with area for half of the people; salary with age."""
    rng = np.random.default_rng(seed)
    area = rng.integers(0, 4, n)
    illness = np.where(rng.random(n) < 0.5, area % 3, rng.integers(0, 3, n))
    age = rng.normal(40, 10, n)
    return pd.DataFrame(
        {
            "age": age,
            "area": pd.Categorical.from_codes(area, categories=AREAS),
            "illness": pd.Categorical.from_codes(illness, categories=ILLNESSES),
            "salary": age * 50 + rng.normal(0, 300, n),
        }
    )


def scrambled(frame: pd.DataFrame) -> pd.DataFrame:
    """Every column by itself in another order: the same values, nobody's record."""
    rng = np.random.default_rng(99)
    return pd.DataFrame({name: frame[name].iloc[rng.permutation(len(frame))].reset_index(drop=True) for name in frame})


ORIGINAL = people(600, 1)


def attacked(masked: pd.DataFrame, **changes) -> Comparison:
    files = Comparison(ORIGINAL, ORIGINAL, masked, None, VARIABLES, VARIABLES, np.random.default_rng(5))
    return replace(files, **changes)


def by_scope(rule, files: Comparison) -> dict:
    return {finding.scope: finding for finding in rule.find(files)}

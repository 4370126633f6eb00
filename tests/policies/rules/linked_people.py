"""People whose masked records may be linked to them."""

import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Role, Variable
from sluice.utility.comparison import Comparison

QUASI = {"role": Role.QUASI_IDENTIFIER}
VARIABLES = {
    "age": Variable(name="age", kind=Kind.INTEGER, nullable=True, **QUASI),
    "weight": Variable(name="weight", kind=Kind.CONTINUOUS, **QUASI),
    "size": Variable(name="size", kind=Kind.ORDINAL, categories=("s", "m", "l"), **QUASI),
    "area": Variable(name="area", kind=Kind.NOMINAL, categories=("a", "b", "c"), **QUASI),
    "remark": Variable(name="remark", kind=Kind.TEXT, **QUASI),
    "income": Variable(name="income", kind=Kind.CONTINUOUS, role=Role.SENSITIVE),
}


def people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    ages = pd.array(rng.integers(18, 90, n), dtype="Int64")
    ages[rng.random(n) < 0.05] = pd.NA
    return pd.DataFrame(
        {
            "age": ages,
            "weight": rng.normal(75, 12, n),
            "size": pd.Categorical.from_codes(rng.integers(0, 3, n), ["s", "m", "l"], ordered=True),
            "area": pd.Categorical.from_codes(rng.integers(0, 3, n), ["a", "b", "c"]),
            "remark": pd.Series([f"text {i}" for i in range(n)], dtype="str"),
            "income": rng.lognormal(10, 1, n),
        }
    )


def attacked(original, masked, **given):
    return Comparison(original, original, masked, None, VARIABLES, VARIABLES, np.random.default_rng(0), **given)


ORIGINAL = people()
COPY = attacked(ORIGINAL, ORIGINAL)
SHUFFLED = attacked(  # every column for itself: no row is anybody's
    ORIGINAL, ORIGINAL.apply(lambda column: column.sample(frac=1, random_state=7).reset_index(drop=True))
)


def find(rule, files):
    (finding,) = rule.find(files)
    assert finding.rule == rule.rule
    assert finding.stage == "attack"
    return finding

"""People in a file, people of the same kind set aside, and strangers."""

from dataclasses import replace

import numpy as np
import pandas as pd

from policies.rules.control_rules import ControlRule
from sluice.ground.variables import Variable
from sluice.ground.verdict import Verdict
from sluice.utility.comparison import Comparison

KEY = "quasi_identifier"
VARIABLES = {
    "height": Variable(name="height", kind="continuous", role=KEY),
    "age": Variable(name="age", kind="integer", role=KEY),
    "sex": Variable(name="sex", kind="binary", role=KEY, categories=("f", "m")),
    "area": Variable(name="area", kind="nominal", role=KEY, categories=tuple("abcd")),
    "wage": Variable(name="wage", kind="continuous", role="sensitive"),
    "ill": Variable(name="ill", kind="nominal", role="sensitive", categories=("yes", "no", "unsure")),
    "house": Variable(name="house", kind="text", role="household"),
}


def people(n: int, seed: int) -> pd.DataFrame:
    """Sex tells of height, age of wage, and area of illness."""
    rng = np.random.default_rng(seed)
    sex, age, area = rng.choice(["f", "m"], n), rng.integers(18, 90, n), rng.choice(list("abcd"), n)
    ill = np.where((area == "a") & (rng.random(n) < 0.7), "yes", rng.choice(["yes", "no", "unsure"], n))
    return pd.DataFrame(
        {
            "height": np.where(sex == "f", 166, 179) + age / 20 + rng.normal(size=n) * 4,
            "age": pd.array(age, dtype="Int64"),
            "sex": pd.Categorical(sex, categories=["f", "m"]),
            "area": pd.Categorical(area, categories=list("abcd")),
            "wage": np.round(1000 + 40 * age + rng.normal(size=n) * 200, 1),
            "ill": pd.Categorical(ill, categories=["yes", "no", "unsure"]),
            "house": [f"h{row}" for row in range(n)],
        }
    ).astype({"house": "str"})


ORIGINAL, CONTROL, STRANGERS = people(1500, 1), people(1500, 2), people(1500, 3)


def attacked(masked: pd.DataFrame, control: pd.DataFrame | None = CONTROL, seed: int = 0) -> Comparison:
    return Comparison(
        original=ORIGINAL,
        recoded=ORIGINAL,
        masked=masked,
        holdout=control,
        variables=VARIABLES,
        released=VARIABLES,
        rng=np.random.default_rng(seed),
        recoded_holdout=control,
        unit="people",
    )


def verdicts(rule: ControlRule, masked: pd.DataFrame, control: pd.DataFrame | None = CONTROL) -> set[Verdict]:
    return {finding.verdict for finding in rule.find(attacked(masked, control))}


def without_roles(masked: pd.DataFrame) -> Comparison:
    """Released without a word on who is known by what."""
    no_roles = {name: variable.model_copy(update={"role": "other"}) for name, variable in VARIABLES.items()}
    return replace(attacked(masked), released=no_roles)

"""People of four labels and two numbers that go with a hidden class, for attacks with a control."""

import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Variable

LABELS = tuple("abcdefgh")
VARIABLES = {
    **{name: Variable(name=name, kind=Kind.NOMINAL, categories=LABELS) for name in ("job", "area", "branch", "origin")},
    "age": Variable(name="age", kind=Kind.CONTINUOUS),
    "wage": Variable(name="wage", kind=Kind.CONTINUOUS),
}


def people(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 4, n)
    frame = {
        name: pd.Categorical.from_codes((kind * 2 + rng.geometric(0.5, n)) % 8, categories=list(LABELS))
        for name in ("job", "area", "branch", "origin")
    }
    return pd.DataFrame({**frame, "age": rng.normal(size=n) + kind, "wage": rng.lognormal(size=n) * (1 + kind)})

"""People of an age, with four amounts that are anybody's own."""

import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Role, Variable
from sluice.utility.comparison import Comparison


def wealthy(n: int = 1500) -> tuple[pd.DataFrame, dict[str, Variable]]:
    """Ages in bands, and four amounts that are anybody's own."""
    rng = np.random.default_rng(7)
    wealth = rng.normal(size=n)
    frame = pd.DataFrame(
        {f"amount{i}": np.round(np.exp(9 + 0.5 * wealth + 0.5 * rng.normal(size=n))) for i in range(4)}
    )
    frame.insert(0, "age", pd.Categorical(rng.choice(["young", "old"], n)))
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS, role=Role.SENSITIVE) for name in frame}
    variables["age"] = Variable(name="age", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER)
    return frame, variables


def paired(recoded: pd.DataFrame, masked: pd.DataFrame, variables: dict[str, Variable]) -> Comparison:
    return Comparison(recoded, recoded, masked, None, variables, variables, np.random.default_rng(1))

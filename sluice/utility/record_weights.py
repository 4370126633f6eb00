"""Record weights: how many of the population each record of a file stands for, where the contract says so."""

import numpy as np
import pandas as pd

from sluice.arrays import FloatArray
from sluice.variables import Role, Variables, with_role


def record_weights(frame: pd.DataFrame, variables: Variables) -> FloatArray | None:
    """Shape (n,), finite and not negative: the first variable of role weight; None where no number has that role.

    A record whose weight is missing or below 0 weighs nothing: whoever adds up weights leaves it out.
    """
    names = [name for name in with_role(variables, Role.WEIGHT) if variables[name].kind.is_numeric]
    if not names:
        return None
    weight = frame[names[0]].to_numpy(np.float64, na_value=np.nan)
    return np.asarray(np.where(weight > 0, weight, 0.0), dtype=np.float64)

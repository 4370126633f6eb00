"""Record weights: how many of the population each record of a file stands for, where the contract says so."""

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError
from sluice.ground.variables import Role, Variables, with_role

Weights = tuple[
    FloatArray | None, FloatArray | None
]  # of the original's and of the masked records; None: each weighs 1
UNWEIGHTED: Weights = (None, None)


def record_weights(frame: pd.DataFrame, variables: Variables) -> FloatArray | None:
    """Shape (n,), finite and not negative: the first variable of role weight; None where no number has that role.

    A record whose weight is missing, infinite or below 0 weighs nothing: whoever adds up weights leaves it out.
    """
    names = [name for name in with_role(variables, Role.WEIGHT) if variables[name].kind.is_numeric]
    if not names:
        return None
    weight = frame[names[0]].to_numpy(np.float64, na_value=np.nan)
    return np.asarray(np.where((weight > 0) & np.isfinite(weight), weight, 0.0), dtype=np.float64)


def effective_records(weight: FloatArray | None, records: int) -> float:
    """How many records of equal weight would tell as much: (sum of w)^2 / sum of w^2, at most the number of records.

    weight : shape (n,), finite and not negative; None: each of `records` weighs the same
    source : Kish (1965)
    """
    if weight is None:
        return float(records)
    shares = relative_weight(weight, records)
    assert shares is not None
    squares = float((shares**2).sum())
    return float(shares.sum()) ** 2 / squares if squares > 0 else 0.0


def relative_weight(weight: FloatArray | None, records: int) -> FloatArray | None:
    """The weights by the largest, so that squares of weights of any size stay in range; None where there are none.

    raises : DataError unless each record has a weight, finite and not negative
    """
    if weight is None:
        return None
    if len(weight) != records or not (np.isfinite(weight) & (weight >= 0)).all():
        raise DataError(f"{records:,} records need as many weights, finite and not negative; got {len(weight):,}.")
    largest = weight.max(initial=0.0)
    return weight / largest if largest > 0 else weight

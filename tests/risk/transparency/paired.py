import numpy as np
import pandas as pd

from sluice.ground.arrays import IntArray
from sluice.ground.variables import Kind, Variable, Variables
from sluice.risk.transparency.attack import Pairs

NUMBERS = {name: Variable(name=name, kind=Kind.CONTINUOUS, nullable=True) for name in "abcde"}


def paired(
    original: pd.DataFrame,
    masked: pd.DataFrame,
    variables: Variables = NUMBERS,
    released: Variables | None = None,
    rows: IntArray | None = None,
    rng: np.random.Generator | None = None,
) -> Pairs:
    """What an intruder has of whom `rows` are attacked: everybody, else. No recoding went before."""
    released = variables if released is None else released
    rows = np.arange(len(original)) if rows is None else rows
    return Pairs(original, variables, original, masked, released, rows, rng or np.random.default_rng(0))

"""A perturbed number: how it is described after masking, and how it is stored.

Means and noise turn whole numbers into fractions, take values out of the contract's bounds and out of a hierarchy's
leaves. `perturbed` says what then still holds; `stored` makes the values keep it.
"""

import math
from collections.abc import Iterable
from typing import Annotated

import numpy as np
import pandas as pd
from pydantic import Field

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable

# Parameters of the methods that perturb numbers.
Round = Annotated[bool, Field(description="round integer variables to whole numbers; else they become continuous")]
Clip = Annotated[bool, Field(description="move values to the contract's bounds; else the bounds are dropped")]


def perturbed(variable: Variable, *, whole: bool, bounded: bool) -> Variable:
    """The description of a continuous or integer variable whose values were changed.

    whole   : the values are rounded to whole numbers, so an integer variable stays one; else it becomes continuous
    bounded : the values keep to the minimum and maximum; else both are dropped
    The hierarchy and the source's codes for 'missing' speak of original values and are dropped.
    """
    return variable.model_copy(
        update={
            "kind": Kind.INTEGER if whole and variable.kind is Kind.INTEGER else Kind.CONTINUOUS,
            "minimum": variable.minimum if bounded else None,
            "maximum": variable.maximum if bounded else None,
            "missing_codes": (),
            "hierarchy": None,
        }
    )


def stored(values: FloatArray, released: Variable) -> pd.Series:
    """`values` as a column of a typed frame: rounded if `released` is integer, clipped to its bounds if it has any.

    values : shape (n,), NaN where missing
    raises : PlanError when a value is too large for a 64-bit whole number or is no longer finite
    """
    lowest = -math.inf if released.minimum is None else float(released.minimum)
    highest = math.inf if released.maximum is None else float(released.maximum)
    whole = released.kind is Kind.INTEGER
    if whole:  # the nearest whole number may lie outside bounds that are fractions
        values, lowest, highest = np.rint(values), np.ceil(lowest), np.floor(highest)
    values = np.clip(values, lowest, highest)
    beyond = np.abs(values) >= (2.0**63 if whole else math.inf)
    if beyond.any():
        raise PlanError(f"the masked '{released.name}' has {beyond.sum()} values too large to be stored as numbers.")
    return pd.Series(values).astype("Int64") if whole else pd.Series(values)


def numbers(frame: pd.DataFrame, columns: Iterable[str]) -> FloatArray:
    """Numeric columns as one matrix, ordinal columns by position (0, 1, ...); NaN where missing. Shape (n, columns)."""
    return np.column_stack([_positions(frame[name]) for name in columns])


def _positions(column: pd.Series) -> FloatArray:
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy(dtype=np.float64)
        return np.where(codes < 0, np.nan, codes)
    return column.to_numpy(dtype=np.float64, na_value=np.nan)

"""Comparable columns: the variables that are numbers of one meaning in the original and in the masked file."""

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray
from sluice.ground.categories import codes_of
from sluice.ground.variables import NAMES, Kind, Variable, Variables


def comparable_columns(
    original: pd.DataFrame, masked: pd.DataFrame, variables: Variables, released: Variables
) -> list[str]:
    """Names of the variables with numeric values in both files, in the order of `released`.

    Continuous and integer variables count; so do ordinal and binary ones, by the position of their category, when both
    files have the same categories. Numbers that name a person, household or firm do not.
    """

    def comparable(before: Variable, after: Variable) -> bool:
        if before.role in NAMES:
            return False
        if before.kind.is_numeric or after.kind.is_numeric:
            return before.kind.is_numeric and after.kind.is_numeric
        return (
            before.kind is after.kind
            and before.kind in (Kind.ORDINAL, Kind.BINARY)
            and list(original[before.name].cat.categories) == list(masked[before.name].cat.categories)
        )

    return [name for name, after in released.items() if name in variables and comparable(variables[name], after)]


def as_numbers(frame: pd.DataFrame, names: list[str]) -> FloatArray:
    """Shape (n, d): the columns as numbers, a category by its position from 0, a missing value as NaN."""
    numbers = np.empty((len(frame), len(names)))
    for position, name in enumerate(names):
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes = codes_of(column)
            numbers[:, position] = np.where(codes < 0, np.nan, codes)
        else:
            numbers[:, position] = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers


def is_constant(values: FloatArray) -> bool:
    """True when the values, shape (n,), do not vary beyond a rounding error, or there is none. NaN is passed over."""
    present = values[~np.isnan(values)]
    return len(present) == 0 or bool(np.ptp(present) <= 1e-12 * np.abs(present).max())

"""Hashes of values: 64 bits for each, so that records are compared, and drawn for, without a look at any order."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.categories import codes_of
from sluice.ground.comparable_values import plain_values

Hashes = npt.NDArray[np.uint64]


def column_hashes(column: "pd.Series[Any]") -> Hashes:
    """A 64-bit number for each value, shape (n,): equal for equal values, of whatever dtype; missing is a value."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        labels = np.asarray([*map(str, column.cat.categories), "\0missing"], dtype=object)
        return pd.util.hash_array(labels, categorize=False)[codes_of(column)]
    values = plain_values(column)
    if values.dtype.kind == "f":
        return pd.util.hash_array(values + 0.0, categorize=False)
    return pd.util.hash_array(np.where(pd.isna(values), "\0missing", values).astype(object))


def scrambled(values: Hashes) -> Hashes:
    """The finalizer of SplitMix64 (Steele, Lea and Flood 2014): each bit of the input moves each of the output."""
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)))

"""Column moments: mean and standard deviation of one column, weighted where its records have weights."""

from typing import NamedTuple

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.utility.comparable_columns import is_constant


class ColumnMoments(NamedTuple):
    mean: float
    deviation: float  # by n - 1, with n the records; exactly 0 for a constant


def column_moments(values: FloatArray, weight: FloatArray | None = None) -> ColumnMoments:
    """The moments of a column of at least 2 values.

    values : shape (n,), without missing values
    weight : (n,), finite and above 0; None: each record weighs 1. The deviation is that of `pairwise_moments`
    """
    constant = is_constant(values)
    if weight is None:
        return ColumnMoments(float(values.mean()), 0.0 if constant else float(values.std(ddof=1)))
    mean = float(np.average(values, weights=weight))
    variance = float(np.average((values - mean) ** 2, weights=weight)) * len(values) / (len(values) - 1)
    return ColumnMoments(mean, 0.0 if constant else float(np.sqrt(variance)))

"""The compiled loops of rank correlations: ranks among the records that have both of two values, without a sort."""

import numpy as np
from numba import njit

from sluice.ground.arrays import Codes, FloatArray


@njit(cache=True, nogil=True)
def rank_correlation(x: Codes, size_x: int, y: Codes, size_y: int, weight: FloatArray | None) -> tuple[float, int]:
    """Spearman's correlation of two columns over the records that have both, and how many these are.

    x, y    : (n,) codes in the order of the values, the last of each size for a missing value. Equal values share the
              mean of their ranks
    weight  : (n,): as if there were so many of each record; those of weight 0 are left out. None: each weighs 1
    returns : NaN where either is constant
    cost    : two passes over the records, with 8 bytes for each distinct value
    """
    ranks_x, ranks_y = np.zeros(size_x), np.zeros(size_y)
    count, total = 0, 0.0
    for row in range(len(x)):
        w = 1.0 if weight is None else weight[row]
        if x[row] < size_x - 1 and y[row] < size_y - 1 and w > 0.0:
            ranks_x[x[row]] += w
            ranks_y[y[row]] += w
            count += 1
            total += w
    xx = _ranks_about_the_middle(ranks_x, total)
    yy = _ranks_about_the_middle(ranks_y, total)
    if xx <= 0.0 or yy <= 0.0:
        return np.nan, count
    xy = 0.0
    for row in range(len(x)):
        w = 1.0 if weight is None else weight[row]
        if x[row] < size_x - 1 and y[row] < size_y - 1 and w > 0.0:
            xy += w * ranks_x[x[row]] * ranks_y[y[row]]
    return max(-1.0, min(1.0, xy / np.sqrt(xx * yy))), count


@njit(cache=True, nogil=True)
def _ranks_about_the_middle(weights: FloatArray, total: float) -> float:
    """Write over the weight of each value its rank, less that in the middle; returns the sum of their squares."""
    before, squares = 0.0, 0.0
    for at in range(len(weights)):
        equal = weights[at]
        weights[at] = before + equal / 2.0 - total / 2.0
        squares += equal * weights[at] * weights[at]
        before += equal
    return squares

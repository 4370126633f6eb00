"""The compiled loops of rank correlations: ranks among the records that have both of two values, without a sort."""

import numpy as np
from numba import njit

from sluice.arrays import Codes, FloatArray


@njit(cache=True, nogil=True)
def rank_correlation(x: Codes, size_x: int, y: Codes, size_y: int) -> float:
    """Spearman's correlation of two columns over the records that have both; NaN where either is constant there.

    x, y : (n,) codes in the order of the values, the last of each size for a missing value. Equal values share the mean
           of their ranks
    cost : two passes over the records, with 8 bytes for each distinct value
    """
    ranks_x, ranks_y = np.zeros(size_x), np.zeros(size_y)
    count = 0
    for row in range(len(x)):
        if x[row] < size_x - 1 and y[row] < size_y - 1:
            ranks_x[x[row]] += 1
            ranks_y[y[row]] += 1
            count += 1
    xx = _ranks_about_the_middle(ranks_x, count)
    yy = _ranks_about_the_middle(ranks_y, count)
    if xx <= 0.0 or yy <= 0.0:
        return np.nan
    xy = 0.0
    for row in range(len(x)):
        if x[row] < size_x - 1 and y[row] < size_y - 1:
            xy += ranks_x[x[row]] * ranks_y[y[row]]
    correlation: float = max(-1.0, min(1.0, xy / np.sqrt(xx * yy)))
    return correlation


@njit(cache=True, nogil=True)
def _ranks_about_the_middle(counts: FloatArray, records: int) -> float:
    """Write over the records of each value their rank, less that in the middle; returns the sum of their squares."""
    before, squares = 0.0, 0.0
    for at in range(len(counts)):
        equal = counts[at]
        counts[at] = before + (equal - 1) / 2.0 - (records - 1) / 2.0
        squares += equal * counts[at] * counts[at]
        before += equal
    return squares

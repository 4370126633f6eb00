"""Compiled loops of rank correlations: ranks among the records that have both of two values, without sorting anew."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from sluice.arrays import BoolArray, FloatArray


@njit(cache=True)
def ranks_among(order: npt.NDArray[Any], ties: BoolArray, among: BoolArray, rank: FloatArray) -> int:
    """Ranks from 0 among the records `among`, equal values at their mean; returns how many records there are."""
    counted = 0
    at = 0
    while at < len(order):
        end = at + 1
        while end < len(order) and ties[end]:
            end += 1
        equal = 0
        for place in range(at, end):
            equal += among[order[place]]
        mean = counted + (equal - 1) / 2.0
        for place in range(at, end):
            rank[order[place]] = mean
        counted += equal
        at = end
    return counted


@njit(cache=True)
def correlation_among(
    order_x: npt.NDArray[Any],
    ties_x: BoolArray,
    order_y: npt.NDArray[Any],
    ties_y: BoolArray,
    present_x: BoolArray,
    present_y: BoolArray,
    rank_x: FloatArray,
    rank_y: FloatArray,
) -> float:
    """Spearman's correlation of two columns over the records that have both; NaN where either is constant there.

    order : records of a column by rising value, those without one left out
    ties  : whether the value at a place of `order` is that of the place before
    rank  : (n,) space for the ranks, overwritten
    """
    count = ranks_among(order_x, ties_x, present_y, rank_x)
    ranks_among(order_y, ties_y, present_x, rank_y)
    middle = (count - 1) / 2.0
    xx = yy = xy = 0.0
    for row in range(len(present_x)):
        if present_x[row] and present_y[row]:
            x, y = rank_x[row] - middle, rank_y[row] - middle
            xx += x * x
            yy += y * y
            xy += x * y
    if xx <= 0.0 or yy <= 0.0:
        return np.nan
    correlation: float = xy / np.sqrt(xx * yy)
    return correlation

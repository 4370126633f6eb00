"""The loop of Kendall's tau-b: counting discordant pairs while sorting."""

import math

import numba
import numpy as np
from numpy.typing import NDArray

from sluice.ground.arrays import FloatArray

RankArray = NDArray[np.int32]


@numba.njit(cache=True, nogil=True)
def tau_b(x: RankArray, y: RankArray, by_y: NDArray[np.int64], values: int, weight: FloatArray | None) -> float:
    """tau-b of two columns of ranks from 0, -1 for a missing value; NaN where one has fewer than 2 values in common.

    by_y   : the records in the order of y
    values : one more than the largest rank of x
    weight : of the records, above 0: a pair weighs the product of its two. None: every pair weighs 1. Whole numbers,
             such as numbers of pairs, are exact up to 2^53
    """
    starts = np.zeros(values + 1, dtype=np.int64)
    held, held_squares = np.zeros(values), np.zeros(values)
    n, total, squares = 0, 0.0, 0.0
    for at in by_y:
        if x[at] >= 0 and y[at] >= 0:
            w = 1.0 if weight is None else weight[at]
            starts[x[at] + 1] += 1
            held[x[at]] += w
            held_squares[x[at]] += w * w
            n += 1
            total += w
            squares += w * w
    if n < 2:
        return np.nan
    ties_x = 0.0
    varied_x = False
    for rank in range(values):
        ties_x += (held[rank] * held[rank] - held_squares[rank]) / 2
        varied_x |= 0 < starts[rank + 1] < n
        starts[rank + 1] += starts[rank]
    # y of the records in the order of x, and of y where x is equal
    one = np.empty(n, dtype=np.int32)
    key = np.empty(n, dtype=np.int32)
    of_one = np.empty(0 if weight is None else n)
    ties_y, run, last = 0.0, 0.0, np.int32(-1)
    varied_y = False
    for at in by_y:
        if x[at] < 0 or y[at] < 0:
            continue
        w = 1.0 if weight is None else weight[at]
        if y[at] != last:
            varied_y = bool(last >= 0)
            run = 0.0
        ties_y += w * run
        run += w
        last = y[at]
        place = starts[x[at]]
        starts[x[at]] = place + 1
        one[place] = y[at]
        key[place] = x[at]
        if weight is not None:
            of_one[place] = w
    if not varied_x or not varied_y:
        return np.nan
    ties_both, run = 0.0, 0.0
    for at in range(n):
        if at > 0 and (one[at] != one[at - 1] or key[at] != key[at - 1]):
            run = 0.0
        w = 1.0 if weight is None else of_one[at]
        ties_both += w * run
        run += w
    pairs = (total * total - squares) / 2
    discordant = _discordant(one, key, of_one)
    difference = pairs - ties_x - ties_y + ties_both - 2 * discordant
    scale = math.sqrt(pairs - ties_x) * math.sqrt(pairs - ties_y)
    return max(-1.0, min(1.0, difference / scale)) if scale > 0 else np.nan


@numba.njit(cache=True, nogil=True)
def _discordant(one: RankArray, other: RankArray, weight: FloatArray) -> float:
    """Pairs of which the former has the larger value, by a merge sort of `one`; `other` is written over.

    weight : (n,), by which a pair weighs the product of its two; empty: every pair weighs 1
    """
    n, weighted = len(one), len(weight) > 0
    other_weight = np.empty(len(weight))
    discordant = 0.0
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            left, right = start, middle
            remaining = float(middle - start)
            if weighted:
                remaining = weight[start:middle].sum()
            for place in range(start, end):
                if left < middle and (right >= end or one[left] <= one[right]):
                    other[place] = one[left]
                    if weighted:
                        other_weight[place] = weight[left]
                        remaining -= weight[left]
                    else:
                        remaining -= 1.0
                    left += 1
                else:
                    other[place] = one[right]
                    if weighted:
                        other_weight[place] = weight[right]
                        # what is left of a sum of weights of which all were taken is a rounding error
                        discordant += weight[right] * (remaining if left < middle else 0.0)
                    else:
                        discordant += remaining
                    right += 1
        one, other = other, one
        if weighted:
            weight, other_weight = other_weight, weight
        width *= 2
    return discordant

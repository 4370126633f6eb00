"""The loop of Kendall's tau-b: counting discordant pairs while sorting."""

import math

import numba
import numpy as np
from numpy.typing import NDArray

RankArray = NDArray[np.int32]


@numba.njit(cache=True, nogil=True)
def tau_b(x: RankArray, y: RankArray, by_y: NDArray[np.int64], values: int) -> float:
    """tau-b of two columns of ranks from 0, -1 for a missing value; NaN where one has fewer than 2 values in common.

    by_y   : the records in the order of y
    values : one more than the largest rank of x
    """
    starts = np.zeros(values + 1, dtype=np.int64)
    n = 0
    for at in by_y:
        if x[at] >= 0 and y[at] >= 0:
            starts[x[at] + 1] += 1
            n += 1
    if n < 2:
        return np.nan
    ties_x = 0
    for rank in range(values):
        held = starts[rank + 1]
        ties_x += held * (held - 1) // 2
        starts[rank + 1] += starts[rank]
    # y of the records in the order of x, and of y where x is equal
    one = np.empty(n, dtype=np.int32)
    key = np.empty(n, dtype=np.int32)
    ties_y, run, last = 0, 0, np.int32(-1)
    for at in by_y:
        if x[at] < 0 or y[at] < 0:
            continue
        run = run + 1 if y[at] == last else 1
        ties_y += run - 1
        last = y[at]
        place = starts[x[at]]
        starts[x[at]] = place + 1
        one[place] = y[at]
        key[place] = x[at]
    ties_both, run = 0, 1
    for at in range(1, n):
        run = run + 1 if one[at] == one[at - 1] and key[at] == key[at - 1] else 1
        ties_both += run - 1
    pairs = n * (n - 1) // 2
    if ties_x == pairs or ties_y == pairs:
        return np.nan
    discordant = 0
    other = key
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            left, right = start, middle
            for place in range(start, end):
                if left < middle and (right >= end or one[left] <= one[right]):
                    other[place] = one[left]
                    left += 1
                else:
                    other[place] = one[right]
                    right += 1
                    discordant += middle - left
        one, other = other, one
        width *= 2
    difference = pairs - ties_x - ties_y + ties_both - 2 * discordant
    scale = math.sqrt(pairs - ties_x) * math.sqrt(pairs - ties_y)
    return float(difference / scale)

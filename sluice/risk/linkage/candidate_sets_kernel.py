"""The loop of candidate sets: the released records that lie within given bounds in every variable, and the nearest."""

import numba
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_ROUNDING = 1e-10  # squared distances that differ by a smaller part are equal


@numba.njit(cache=True)
def _squared(a: FloatArray, b: FloatArray) -> float:
    total = 0.0
    for c in range(len(a)):
        total += (a[c] - b[c]) ** 2
    return total


@numba.njit(cache=True, nogil=True)
def candidate_sets(
    lower: FloatArray,
    upper: FloatArray,
    released: FloatArray,
    order: IntArray,
    start: IntArray,
    stop: IntArray,
    a: FloatArray,
    b: FloatArray,
    own: IntArray,
    candidates: IntArray,
    as_near: IntArray,
    lowest: IntArray,
) -> None:
    """Fill, for each of q attacked records, its number of candidates and how many of them lie as near as the own one.

    lower, upper : (q, d) bounds of the released values
    released     : (n, d) in rising order of one variable, so that what its bounds leave lies side by side, from start
                   to stop, (q,); order : (n,) the rows that they come from
    a, b         : (q, .) points, and (n, .) points in the order of `released`, whose Euclidean distance tells which
                   candidate is nearest; own : (q,) places of the own records in that order
    as_near      : 0 where the own record is no candidate, or another one is nearer; lowest : lowest row as near
    """
    d = lower.shape[1]
    for i in range(len(a)):
        distance = _squared(a[i], b[own[i]])
        near, reach = distance * (1.0 - _ROUNDING), distance * (1.0 + _ROUNDING)
        count, equal, first, holds_own, nearer = 0, 0, len(released), False, False
        for at in range(start[i], stop[i]):
            inside = True
            for j in range(d):
                if not lower[i, j] <= released[at, j] <= upper[i, j]:
                    inside = False
                    break
            if not inside:
                continue
            count += 1
            holds_own |= at == own[i]
            other = _squared(a[i], b[at])
            if other < near:
                nearer = True
            elif other <= reach:
                equal += 1
                first = min(first, order[at])
        candidates[i] = count
        as_near[i] = equal if holds_own and not nearer else 0
        lowest[i] = first

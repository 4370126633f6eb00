"""The loops of probabilistic linkage: on which variables two records agree, for very many pairs."""

import numba
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@numba.njit(cache=True, nogil=True)
def patterns_of(record: FloatArray, released: FloatArray, tolerance: FloatArray, patterns: NDArray[np.int32]) -> None:
    """Fill the agreement pattern of one record with each of n: bit j is set where they agree on variable j.

    released : (d, n), so that one variable's values lie side by side and are compared several at a time
    """
    patterns[:] = 0
    for j in range(len(record)):
        value, bit = record[j], np.int32(1 << j)
        column = released[j]
        if np.isnan(value):
            for r in range(len(column)):
                patterns[r] |= bit if np.isnan(column[r]) else np.int32(0)
        else:
            for r in range(len(column)):
                patterns[r] |= bit if abs(column[r] - value) <= tolerance[j] else np.int32(0)


@numba.njit(cache=True, nogil=True)
def count_patterns(records: FloatArray, released: FloatArray, tolerance: FloatArray, counts: IntArray) -> None:
    """Add to `counts`, shape (2^d,), the patterns of all pairs of `records`, (q, d), and `released`, (d, n)."""
    patterns = np.empty(released.shape[1], np.int32)
    for i in range(len(records)):
        patterns_of(records[i], released, tolerance, patterns)
        for r in range(len(patterns)):
            counts[patterns[r]] += 1


@numba.njit(cache=True, nogil=True)
def as_likely_as_own(
    records: FloatArray,
    own: IntArray,
    released: FloatArray,
    tolerance: FloatArray,
    weights: FloatArray,
    as_likely: IntArray,
) -> None:
    """How many released records weigh as much as the own one, itself included; 0 where another one weighs more."""
    patterns = np.empty(released.shape[1], np.int32)
    for i in range(len(records)):
        patterns_of(records[i], released, tolerance, patterns)
        weight = weights[patterns[own[i]]]
        equal = 0
        for r in range(len(patterns)):
            other = weights[patterns[r]]
            if other > weight:
                equal = 0
                break
            equal += other == weight
        as_likely[i] = equal

"""The loops of linkage by likelihood: adding up what each variable tells, and the likeliest record."""

import numba
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@numba.njit(cache=True, nogil=True)
def add_levels(weights: NDArray[np.float32], levels: NDArray[np.uint16], logs: FloatArray) -> None:
    """Add to logs, (q, m), the weight of each record's level, (m,), for each person, (q, levels)."""
    for i in range(len(weights)):
        for record in range(len(levels)):
            logs[i, record] += weights[i, levels[record]]


@numba.njit(cache=True, nogil=True)
def likeliest(logs: FloatArray, own: IntArray, equal: float, right: FloatArray, odds: FloatArray) -> None:
    """Of each person, (q,), the share of the likeliest records that is the own one, and the odds of all records against
    the likeliest one, whose own are 1; 0 and infinity where every record is ruled out.

    equal : logarithms that differ by less are equal
    """
    for i in range(len(logs)):
        best = -np.inf
        for record in range(logs.shape[1]):
            best = max(best, logs[i, record])
        right[i], odds[i] = 0.0, np.inf
        if best == -np.inf:
            continue
        ties, total = 0, 0.0
        for record in range(logs.shape[1]):
            behind = logs[i, record] - best
            ties += behind > -equal
            if behind > -40.0:
                total += np.exp(behind)
        odds[i] = total
        if logs[i, own[i]] - best > -equal:
            right[i] = 1.0 / ties

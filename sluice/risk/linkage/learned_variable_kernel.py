"""The loop of a learned number: the weight of every level for some people."""

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(cache=True, nogil=True)
def by_closeness(
    places: NDArray[np.float64],  # (q,) coordinate of each known value
    centres: NDArray[np.float64],  # (levels,) coordinate of each level, rising
    upper: NDArray[np.float64],  # (bins,) upper ends of the bins of closeness, rising
    outcomes: NDArray[np.float32],  # (q, 1 + bins + ...) weight if equal, in each bin, beyond
    table: NDArray[np.float32],  # (q, levels or more) out: weight of each level
) -> None:
    """Fill each row of the table outwards from the known value, so that the bin only ever rises."""
    levels, bins = len(centres), len(upper)
    for p in range(len(places)):
        middle = np.searchsorted(centres, places[p])
        within = 0
        for level in range(middle, levels):
            while within < bins and centres[level] - places[p] > upper[within]:
                within += 1
            table[p, level] = outcomes[p, within + 1]
        within = 0
        for level in range(middle - 1, -1, -1):
            while within < bins and places[p] - centres[level] > upper[within]:
                within += 1
            table[p, level] = outcomes[p, within + 1]

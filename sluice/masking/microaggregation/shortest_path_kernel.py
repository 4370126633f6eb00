"""The loop of optimal microaggregation: the shortest path through records that stand in order.

A path from the first to the last record is a partition into runs of neighbours; an edge is one group of k to 2k - 1,
its length the sum of squared errors within it.
"""

import numba
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@numba.njit(cache=True)
def shortest_path_groups(ranked: FloatArray, k: int) -> IntArray:
    """The group of each record, numbered from 0 in the records' order, with the least sum of squared errors.

    ranked  : shape (n, d), finite, n >= k, in the order in which neighbours may be grouped
    returns : shape (n,); among equally short paths the one whose last groups are smallest
    cost    : O(n k d) time, O(n) memory
    """
    n, d = ranked.shape
    length = np.full(n + 1, np.inf)  # of the shortest path to each record, but for a constant
    length[0] = 0.0
    last = np.zeros(n + 1, dtype=np.int64)  # size of the last group on that path
    sums = np.empty(d)
    for end in range(k, n + 1):
        # The group grows backwards from its last record, and deviations are taken from that record: the error stays
        # in proportion to the group's own spread, as it would not with sums over the whole file.
        sums[:] = 0.0
        squares = 0.0
        for size in range(1, min(2 * k - 1, end) + 1):
            of_sums = 0.0
            for j in range(d):
                deviation = ranked[end - size, j] - ranked[end - 1, j]
                sums[j] += deviation
                squares += deviation * deviation
                of_sums += sums[j] * sums[j]
            if size >= k:
                through = length[end - size] + (squares - of_sums / size)
                if through < length[end]:
                    length[end], last[end] = through, size
        # Only differences between the last 2k - 1 lengths matter: without what they share, one far group at the
        # beginning does not drown the choices that follow.
        window = length[max(0, end - 2 * k + 2) : end + 1]
        window -= window.min()
    groups = np.empty(n, dtype=np.int64)
    end, number = n, 0
    while end > 0:
        groups[end - last[end] : end] = number
        end -= last[end]
        number += 1
    return number - 1 - groups

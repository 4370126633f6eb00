"""The loop of spectral histogram sanitization: part a set of records at the median of its widest column."""

import numba
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@numba.njit(cache=True)
def halve(records: FloatArray, k: int) -> IntArray:
    """Group of each record, numbered from 0; see `histogram_sanitization.spectral_groups`.

    records : shape (n, d), n >= k; of columns with equal ranges the first is parted
    """
    n, d = records.shape
    groups = np.empty(n, dtype=np.int64)
    order = np.arange(n)
    low, high = np.empty(d), np.empty(d)
    starts, ends, group = [0], [n], 0
    while len(starts) > 0:
        start, end = starts.pop(), ends.pop()
        if end - start <= 2 * k:
            groups[order[start:end]] = group
            group += 1
            continue
        low[:], high[:] = np.inf, -np.inf
        for record in order[start:end]:
            for j in range(d):
                low[j], high[j] = min(low[j], records[record, j]), max(high[j], records[record, j])
        widest = np.argmax(high - low)
        keys = np.empty(end - start)
        for i in range(start, end):
            keys[i - start] = records[order[i], widest]
        half = (end - start) // 2
        order[start:end] = order[start:end][np.argpartition(keys, half)]
        starts.append(start + half)
        ends.append(end)
        starts.append(start)
        ends.append(start + half)
    return groups

"""The loop over pairs of records in Gower distance, with each variable left out in turn."""

import numba
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
CodeArray = npt.NDArray[np.int32]


@numba.njit(cache=True, nogil=True)
def nearest_without_each(
    numbers: FloatArray, categories: CodeArray, point_numbers: FloatArray, point_categories: CodeArray, k: int,
    units: IntArray, own: IntArray,
) -> IntArray:  # fmt: skip
    """Shape (n, p + q, k): the k nearest points by all variables but one; of points equally far, those that come first.

    Variables are numbered as they come, the numbers before the categories. Each pair is measured once.

    units, own : to whom each point belongs, and each query, whose own points are passed over
    returns    : -1 where there are fewer points
    """
    n, m, p = len(numbers), len(point_numbers), numbers.shape[1]
    width = p + categories.shape[1]
    index = np.full((n, width, k), -1, dtype=np.int64)
    distance = np.full((width, k), np.inf)
    parts = np.empty(width)
    for i in range(n):
        distance[:] = np.inf
        farthest = np.inf  # of the k-th nearest over all variables
        for j in range(m):
            if units[j] == own[i]:
                continue
            total = 0.0
            largest = 0.0
            for c in range(width):
                if c < p:
                    part = abs(numbers[i, c] - point_numbers[j, c])
                    if part != part:  # one is missing, or both
                        part = 0.0 if np.isnan(numbers[i, c]) and np.isnan(point_numbers[j, c]) else 1.0
                else:
                    part = 0.0 if categories[i, c - p] == point_categories[j, c - p] else 1.0
                parts[c] = part
                total += part
                largest = max(largest, part)
                if total - largest > farthest:
                    break
            if total - largest > farthest:
                continue
            for c in range(width):
                found = total - parts[c]
                if found >= distance[c, k - 1]:
                    continue
                place = k - 1
                while place > 0 and distance[c, place - 1] > found:
                    distance[c, place] = distance[c, place - 1]
                    index[i, c, place] = index[i, c, place - 1]
                    place -= 1
                distance[c, place] = found
                index[i, c, place] = j
            farthest = distance[:, k - 1].max()
    return index

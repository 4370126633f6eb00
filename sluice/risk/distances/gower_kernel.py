"""The loops over pairs of records in Gower distance. A pair is left as soon as it lies farther than what is kept."""

import numba
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
CodeArray = npt.NDArray[np.int32]


@numba.njit(cache=True, nogil=True)
def _distance(
    numbers: FloatArray, categories: CodeArray, i: int, point_numbers: FloatArray, point_categories: CodeArray, j: int,
    bound: float,
) -> float:  # fmt: skip
    """The distance, or something above `bound` if it lies there."""
    different = 0
    for c in range(categories.shape[1]):
        if categories[i, c] != point_categories[j, c]:
            different += 1
    total = float(different)
    if total > bound:
        return total
    for c in range(numbers.shape[1]):
        difference: float = abs(numbers[i, c] - point_numbers[j, c])
        if difference != difference:  # one is missing, or both
            difference = 0.0 if np.isnan(numbers[i, c]) and np.isnan(point_numbers[j, c]) else 1.0
        total = total + difference
        if total > bound:
            return total
    return total


@numba.njit(cache=True, nogil=True)
def nearest(
    numbers: FloatArray, categories: CodeArray, point_numbers: FloatArray, point_categories: CodeArray, k: int,
    units: IntArray, own: IntArray,
) -> tuple[FloatArray, IntArray]:  # fmt: skip
    """The k nearest points of each query, nearest first; of points equally far, those that come first.

    units, own : to whom each point belongs, and each query, whose own points are passed over; both empty: nobody's are
    """
    others = len(own) > 0
    n, m = len(numbers), len(point_numbers)
    distance = np.full((n, k), np.inf)
    index = np.full((n, k), -1, dtype=np.int64)
    for i in range(n):
        for j in range(m):
            if others and units[j] == own[i]:
                continue
            found = _distance(numbers, categories, i, point_numbers, point_categories, j, distance[i, k - 1])
            if found < distance[i, k - 1]:
                place = k - 1
                while place > 0 and distance[i, place - 1] > found:
                    distance[i, place] = distance[i, place - 1]
                    index[i, place] = index[i, place - 1]
                    place -= 1
                distance[i, place] = found
                index[i, place] = j
    return distance, index


@numba.njit(cache=True, nogil=True)
def right_among_nearest(
    numbers: FloatArray, categories: CodeArray, secrets: FloatArray,
    point_numbers: FloatArray, point_categories: CodeArray, guesses: FloatArray, tolerance: float,
) -> FloatArray:  # fmt: skip
    """For each query, the share of its nearest points (several, if equally far) whose value is within tolerance."""
    n, m = len(numbers), len(point_numbers)
    share = np.empty(n)
    for i in range(n):
        least, ties, right = np.inf, 0, 0
        for j in range(m):
            found = _distance(numbers, categories, i, point_numbers, point_categories, j, least)
            if found > least:
                continue
            if found < least:
                least, ties, right = found, 0, 0
            ties += 1
            if abs(guesses[j] - secrets[i]) <= tolerance * abs(secrets[i]):
                right += 1
        share[i] = right / ties
    return share

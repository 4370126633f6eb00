"""The loops of MDAV-generic: every distance at every step, over the records that are left."""

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


class _Sums(NamedTuple):
    """What the average record is made of, kept up to date as records leave."""

    totals: FloatArray  # shape (d,): of numbers
    carries: FloatArray  # shape (d,): what rounding took from the totals
    counts: IntArray  # shape (d, most categories): records in each category


@numba.njit(cache=True)
def group_mixed_records(columns: FloatArray, categories: IntArray, ordinal: BoolArray, k: int) -> IntArray:
    """Group of each record, numbered from 0 in order of formation; see `microaggregation.generic_groups`.

    columns    : shape (d, n), n >= k: one row for each column of the file
    categories : shape (d,), the number of categories of each column, 0 for a number
    ordinal    : shape (d,), whether the categories have an order
    """
    d, n = columns.shape
    labels = np.full(n, -1, dtype=np.int64)
    sums = _Sums(np.zeros(d), np.zeros(d), np.zeros((d, categories.max() + 1), dtype=np.int64))
    for record in range(n):
        _count(columns[:, record], categories, 1, sums)
    numbers = np.arange(n)  # of the records in `columns`, from which those in groups are dropped now and then
    gone = np.zeros(n, dtype=np.bool_)
    distances, nearest = np.empty(n), np.empty(k - 1, dtype=np.int64)
    left, group = n, 0
    while left >= 2 * k:
        if 4 * left <= 3 * len(numbers):
            kept = np.flatnonzero(~gone)
            columns, numbers = np.ascontiguousarray(columns[:, kept]), numbers[kept]
            gone, distances = np.zeros(left, dtype=np.bool_), np.empty(left)
        _measure(columns, categories, ordinal, _average(categories, ordinal, left, sums), distances)
        for _ in range(2 if left >= 3 * k else 1):
            seed = _farthest(distances, gone)  # from the average, and in the second turn from the first seed
            gone[seed] = True
            _measure(columns, categories, ordinal, columns[:, seed], distances)
            _find_nearest(distances, gone, nearest)
            gone[nearest] = True
            labels[numbers[seed]] = group
            _count(columns[:, seed], categories, -1, sums)
            for neighbour in nearest:
                labels[numbers[neighbour]] = group
                _count(columns[:, neighbour], categories, -1, sums)
            left -= k
            group += 1
    labels[labels < 0] = group
    return labels


@numba.njit(cache=True)
def _count(record: FloatArray, categories: IntArray, sign: int, sums: _Sums) -> None:
    """Let one record into the sums (sign 1) or out of them (-1), without drift: what rounding takes is carried."""
    for j in range(len(categories)):
        if categories[j] != 0:
            sums.counts[j, int(record[j])] += sign
            continue
        value, total = sign * record[j], sums.totals[j]
        rough = total + value
        part = rough - total
        sums.carries[j] += (total - (rough - part)) + (value - part)
        sums.totals[j] = rough + sums.carries[j]
        sums.carries[j] -= sums.totals[j] - rough


@numba.njit(cache=True)
def _average(categories: IntArray, ordinal: BoolArray, left: int, sums: _Sums) -> FloatArray:
    """The average record: means, lower medians of ordinal columns, modes of nominal ones."""
    average = np.empty(len(categories))
    for j in range(len(categories)):
        if categories[j] == 0:
            average[j] = sums.totals[j] / left
        elif not ordinal[j]:
            average[j] = np.argmax(sums.counts[j])
        else:
            position, reached = 0, sums.counts[j, 0]
            while 2 * reached < left:
                position += 1
                reached += sums.counts[j, position]
            average[j] = position
    return average


@numba.njit(cache=True)
def _measure(
    columns: FloatArray, categories: IntArray, ordinal: BoolArray, point: FloatArray, distances: FloatArray
) -> None:
    """Squared distances of all records from `point`. The inner loop of MDAV-generic."""
    distances[:] = 0.0
    for j in range(len(categories)):
        column, value = columns[j], point[j]
        if categories[j] == 0:
            for record in range(len(column)):
                difference = column[record] - value
                distances[record] += difference * difference
        elif ordinal[j]:
            for record in range(len(column)):
                difference = (column[record] - value) / categories[j]
                distances[record] += difference * difference
        else:
            for record in range(len(column)):
                distances[record] += column[record] != value


@numba.njit(cache=True)
def _farthest(distances: FloatArray, gone: BoolArray) -> int:
    found, best = -1, -1.0
    for record in range(len(distances)):
        if distances[record] > best and not gone[record]:
            found, best = record, distances[record]
    return found


@numba.njit(cache=True)
def _find_nearest(distances: FloatArray, gone: BoolArray, nearest: IntArray) -> None:
    """Fill `nearest` with the records left of smallest distance, by distance and then by number."""
    if len(nearest) == 0:
        return
    found, limit = 0, np.inf
    for record in range(len(distances)):
        distance = distances[record]
        if gone[record] or not distance < limit:
            continue
        if found < len(nearest):
            found += 1
        place = found - 1
        while place > 0 and distance < distances[nearest[place - 1]]:
            nearest[place] = nearest[place - 1]
            place -= 1
        nearest[place] = record
        if found == len(nearest):
            limit = distances[nearest[-1]]

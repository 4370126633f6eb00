"""Loops over sorted values; compiled."""

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


@numba.njit(cache=True, nogil=True)
def number(values: npt.NDArray[Any], order: IntArray, of: IntArray) -> int:
    """Number equal values from 0 in their order, in `of`; returns how many there are. No number equals no number.

    values, of : shape (n,)
    order      : shape (n,), rows by value
    """
    group = -1
    for place in range(len(order)):
        value = values[order[place]]
        if place:
            before = values[order[place - 1]]
            same = value == before or (value != value and before != before)
        if not place or not same:
            group += 1
        of[order[place]] = group
    return group + 1


@numba.njit(cache=True, nogil=True)
def first_and_size(of: IntArray, groups: int) -> tuple[IntArray, IntArray]:
    """The first row of each group and its rows, both of shape (groups,)."""
    first, size = np.empty(groups, np.int64), np.zeros(groups, np.int64)
    for row in range(len(of) - 1, -1, -1):
        first[of[row]] = row
        size[of[row]] += 1
    return first, size

"""The loop of Anatomize: which values the groups take, the most frequent ones first."""

import numba
import numpy as np
import numpy.typing as npt
from numpy.random import Generator

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@numba.njit(cache=True)
def most_frequent_first(sizes: IntArray, size: int, rng: Generator) -> IntArray:
    """The values that each group takes, group after group: the `size` most frequent of those left, ties at random.

    sizes   : shape (v,), records of each value, each at least 1
    returns : shape (g * size,), values; ends when fewer than `size` values are left
    """
    values = np.arange(len(sizes))
    left = sizes.copy()
    keys = left + rng.random(len(left))  # the fraction, drawn anew each time, orders equal counts
    length = len(values)
    for place in range(length // 2 - 1, -1, -1):
        _sink(values, keys, place, length)
    taken = np.empty(sizes.sum(), dtype=np.int64)
    count = 0
    while length >= size:
        # The largest ones move behind the heap's end; what is left of them comes back in.
        for last in range(length - 1, length - 1 - size, -1):
            values[0], values[last] = values[last], values[0]
            taken[count] = values[last]
            count += 1
            _sink(values, keys, 0, last)
        heap = length - size
        for place in range(heap, length):
            value = values[place]
            left[value] -= 1
            if left[value] > 0:
                keys[value] = left[value] + rng.random()
                values[place] = values[heap]
                values[heap] = value
                _rise(values, keys, heap)
                heap += 1
        length = heap
    return taken[:count]


@numba.njit(cache=True)
def _sink(values: IntArray, keys: FloatArray, place: int, length: int) -> None:
    """Move a value down the heap (largest key first) until none below is larger."""
    while True:
        below = 2 * place + 1
        if below >= length:
            return
        if below + 1 < length and keys[values[below + 1]] > keys[values[below]]:
            below += 1
        if keys[values[below]] <= keys[values[place]]:
            return
        values[below], values[place] = values[place], values[below]
        place = below


@numba.njit(cache=True)
def _rise(values: IntArray, keys: FloatArray, place: int) -> None:
    """Move a value up the heap until none above is smaller."""
    while place > 0:
        above = (place - 1) // 2
        if keys[values[above]] >= keys[values[place]]:
            return
        values[above], values[place] = values[place], values[above]
        place = above

"""Quickselect: the smaller half of some values before the larger one, without sorting them.

Source: Hoare (1961), "Algorithm 65: find".
"""

import numba
import numpy as np
import numpy.typing as npt

Float32Array = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]


@numba.njit(cache=True, nogil=True)
def select(keys: Float32Array, order: IntArray, first: int, last: int, middle: int) -> None:
    """Bring the smaller keys of first..last before `middle`, the larger from it on, and `order` with them.

    A key that is no number never ends.
    """
    while first < last:
        one, two, three = keys[first], keys[(first + last) // 2], keys[last]
        pivot = max(min(one, two), min(max(one, two), three))
        i, j = first, last
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            last = j
        elif middle >= i:
            first = i
        else:
            return

"""The loops of equivalence classes with missing keys: which classes show what a class shows, 64 of them at a time, one
bit each."""

import numba
import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

_ANYTHING = -1  # the code of a missing key, which asks for no value


@numba.njit(cache=True, nogil=True)
def matching_records(values: IntArray, rows: int, sizes: IntArray, words: int) -> IntArray:
    """For each class, the records in the classes that show all its values; these are looked at `words` * 64 at a time.

    values : shape (c, p), the row of each key's value in the table of bits; _ANYTHING where missing
    """
    classes, keys = values.shape
    one = np.uint64(1)
    frequency = np.zeros(classes, dtype=np.int64)
    for start in range(0, classes, 64 * words):
        stop = min(start + 64 * words, classes)
        holds = np.zeros((rows, words), dtype=np.uint64)
        everybody = np.zeros(words, dtype=np.uint64)
        for other in range(start, stop):
            word, mark = (other - start) // 64, one << np.uint64((other - start) % 64)
            everybody[word] |= mark
            for key in range(keys):
                if values[other, key] != _ANYTHING:
                    holds[values[other, key], word] |= mark
        for at in range(classes):
            agree = everybody.copy()
            for key in range(keys):
                row = values[at, key]
                if row != _ANYTHING:
                    for word in range(words):
                        agree[word] &= holds[row, word]
            for word in range(words):
                if agree[word] != 0:
                    for bit in range(min(64, stop - start - 64 * word)):
                        if (agree[word] >> np.uint64(bit)) & one:
                            frequency[at] += sizes[start + 64 * word + bit]
    return frequency

"""The loops of marginals: how many records lie in each cell of a table of two or more variables."""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]

# Where most records share a cell, an addition waits for the one before it: so each of four goes into its own table.
_BESIDE = 3
_MOST = 16_384  # cells of such tables, which fit a processor's cache


@numba.njit(cache=True, nogil=True)
def join(left: Codes, right: Codes, radix: int, joined: Codes) -> None:
    """Write the cell of each record in the table of two codes: left * radix + right."""
    for at in range(len(left)):
        joined[at] = left[at] * radix + right[at]


@numba.njit(cache=True, nogil=True)
def count(left: Codes, right: Codes, radix: int, table: Codes) -> None:
    """Add 1 for each record to the cell left * radix + right of the table."""
    beside = np.zeros((_BESIDE if len(table) < _MOST else 0, len(table)), table.dtype)
    together = len(left) // 4 * 4 if len(beside) else 0
    for at in range(0, together, 4):
        table[np.int64(left[at]) * radix + right[at]] += 1
        for more in range(_BESIDE):
            beside[more, np.int64(left[at + 1 + more]) * radix + right[at + 1 + more]] += 1
    for at in range(together, len(left)):
        table[np.int64(left[at]) * radix + right[at]] += 1
    for more in range(len(beside)):
        table += beside[more]


@numba.njit(cache=True, nogil=True)
def add_up(left: Codes, right: Codes, radix: int, weight: FloatArray, table: FloatArray) -> None:
    """Add the weight of each record to the cell left * radix + right of the table."""
    beside = np.zeros((_BESIDE if len(table) < _MOST else 0, len(table)), table.dtype)
    together = len(left) // 4 * 4 if len(beside) else 0
    for at in range(0, together, 4):
        table[np.int64(left[at]) * radix + right[at]] += weight[at]
        for more in range(_BESIDE):
            beside[more, np.int64(left[at + 1 + more]) * radix + right[at + 1 + more]] += weight[at + 1 + more]
    for at in range(together, len(left)):
        table[np.int64(left[at]) * radix + right[at]] += weight[at]
    for more in range(len(beside)):
        table += beside[more]

"""The loops of marginals: how many records lie in each cell of a table of two or more variables."""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]


@numba.njit(cache=True, nogil=True)
def join(left: Codes, right: Codes, radix: int, joined: Codes) -> None:
    """Write the cell of each record in the table of two codes: left * radix + right."""
    for at in range(len(left)):
        joined[at] = left[at] * radix + right[at]


@numba.njit(cache=True, nogil=True)
def count(left: Codes, right: Codes, radix: int, table: Codes) -> None:
    """Add 1 for each record to the cell left * radix + right of the table."""
    for at in range(len(left)):
        table[np.int64(left[at]) * radix + right[at]] += 1


@numba.njit(cache=True, nogil=True)
def add_up(left: Codes, right: Codes, radix: int, weight: FloatArray, table: FloatArray) -> None:
    """Add the weight of each record to the cell left * radix + right of the table."""
    for at in range(len(left)):
        table[np.int64(left[at]) * radix + right[at]] += weight[at]

"""The loops of equivalence classes: one mixed-radix key a record, how many records each key has, and both together.

Plain loops over narrow integers, which the compiler turns into vectors; NumPy would widen every key to 64 bits first.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
Codes = NDArray[np.integer[Any]]


@numba.njit(cache=True, nogil=True)
def add_key(cell: Codes, key: Codes, values: int, shift: int) -> None:
    """Append a digit to each record's mixed-radix number, in place: cell = cell * values + key + shift."""
    radix, first = np.int32(values), np.int32(shift)
    for at in range(len(cell)):
        cell[at] = cell[at] * radix + np.int32(key[at]) + first


@numba.njit(cache=True, nogil=True)
def counted(cell: Codes, cells: int) -> IntArray:
    """Shape (cells,): how many records have each number."""
    records = np.zeros(cells, dtype=np.int64)
    for at in range(len(cell)):
        records[cell[at]] += 1
    return records


@numba.njit(cache=True, nogil=True)
def look_up(records: Codes, cell: Codes, frequency: IntArray) -> None:
    """Write for each record how many records have its number. NumPy made `frequency`: its pages are large ones."""
    for at in range(len(cell)):
        frequency[at] = records[cell[at]]

"""The loop of count queries: the records that fall into a range, each by the share in which it does."""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]


@numba.njit(cache=True, nogil=True)
def fall(share: FloatArray, code: Codes, weight: FloatArray) -> None:
    """Multiply each record's weight by the share of its code, in place."""
    for at in range(len(code)):
        weight[at] *= share[code[at]]


@numba.njit(cache=True, nogil=True)
def fallen(
    one: FloatArray,
    of_one: Codes,
    two: FloatArray,
    of_two: Codes,
    three: FloatArray,
    of_three: Codes,
    weight: FloatArray,
) -> float:
    """The sum of the records' weights, each multiplied by the shares of its three codes."""
    total = 0.0
    for at in range(len(weight)):
        total += weight[at] * one[of_one[at]] * two[of_two[at]] * three[of_three[at]]
    return total

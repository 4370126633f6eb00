"""The loops of propensity scores: the sums over records that a logistic regression on codes needs."""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]


@numba.njit(cache=True, nogil=True)
def add_effect(effect: FloatArray, code: Codes, predictor: FloatArray) -> None:
    """Add to each record's linear predictor the effect of its code."""
    for at in range(len(code)):
        predictor[at] += effect[code[at]]


@numba.njit(cache=True, nogil=True)
def add_by_code(value: FloatArray, code: Codes, sums: FloatArray) -> None:
    """Add each record's value to the sum of its code; into two tables by turns, as `marginals_kernel` says why."""
    other = np.zeros_like(sums)
    for at in range(0, len(code) - 1, 2):
        sums[code[at]] += value[at]
        other[code[at + 1]] += value[at + 1]
    if len(code) % 2:
        sums[code[-1]] += value[-1]
    sums += other

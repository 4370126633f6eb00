"""The loop of PRAM: one category drawn for each value from its row of the Markov matrix."""

from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from numpy.random import Generator

FloatArray = npt.NDArray[np.float64]
Codes = npt.NDArray[np.integer[Any]]


@numba.njit(cache=True)
def category_counts(codes: Codes, categories: int) -> Codes:
    """Shape (categories,): how often each code from 0 occurs; negative ones are not counted."""
    counts = np.zeros(categories, dtype=np.int64)
    for code in codes:
        if code >= 0:
            counts[code] += 1
    return counts


@numba.njit(cache=True)
def drawn_categories(codes: Codes, cumulative: FloatArray, guide: Codes, rng: Generator) -> Codes:
    """For each value the first category of its row whose cumulative probability exceeds a uniform random number.

    codes      : shape (n,), row of each value; a negative code is left as it is and takes no random number
    cumulative : shape (k, k), rising along each row to 1; a category of probability 0 has the sum of the one before it
    guide      : shape (k, m), m a power of 2: the first category whose sum exceeds b / m, where the search begins for a
                 number from b / m to (b + 1) / m. With m of at least k it takes a look or two, however many categories
    """
    cells = guide.shape[1]
    drawn = np.empty_like(codes)
    for at in range(len(codes)):
        row = codes[at]
        if row < 0:
            drawn[at] = row
            continue
        uniform = rng.random()
        category = guide[row, int(uniform * cells)]
        while uniform >= cumulative[row, category]:
            category += 1
        drawn[at] = category
    return drawn

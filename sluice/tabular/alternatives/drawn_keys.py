"""Whether keys that come with data look as if they had been drawn: else whoever guesses them takes the noise out.

A key for everybody, keys that are a function of a published variable, a row's number over how many rows there are, or a
number far below 1: each is accepted by programs that add keys up, and each gives the noise of many cells away. Keys may
be shared by the records of one contributor, so that some that are alike say nothing.
"""

import numpy as np
from numpy.typing import NDArray

from sluice.tabular.model.cells import Codes

_FEWEST = 50  # keys of which anything can be said
_ALIKE = 10  # records, on average, that may share a key beyond what their decimals explain
_FAR = 4.0  # of the Kolmogorov-Smirnov statistic times the root of n: by chance once in 10 ** 13 files
_SIGMAS = 8.0


def not_drawn(keys: NDArray[np.uint64], decimals: int, leaves: Codes | None = None) -> str:
    """What is wrong with keys, in words that say nothing of a single one; empty where nothing is seen.

    keys   : shape (n,), as fractions of 2 ** 64
    leaves : shape (n, d), in which cell each record is; None where that is not known
    cost   : O(n log n)
    """
    n = len(keys)
    if n < _FEWEST:
        return ""
    different = np.unique(keys)
    possible = 10.0**decimals
    expected = max(_FEWEST, -possible * np.expm1(-n / possible)) / _ALIKE
    if len(different) < expected:
        return f"fewer than {np.ceil(expected):,.0f} are different"
    at = different / 2.0**64
    grid = np.arange(len(at)) / len(at)
    far = np.maximum(np.abs(at - grid), np.abs(at - grid - 1 / len(at))).max()
    if (far - 1 / possible) * np.sqrt(len(at)) > _FAR:
        return "too many are close together"
    if leaves is not None:
        # Once for each contributor and cell: who has many records there has one key.
        rows = np.unique(np.column_stack([leaves.astype(np.int64), keys.view(np.int64)]), axis=0)
        cell = np.unique(rows[:, :-1], axis=0, return_inverse=True)[1].ravel()
        centred = rows[:, -1].view(np.uint64) / 2.0**64 - 0.5
        sizes = np.bincount(cell)
        # Sums of squared means of cells: each is 1 / 12 over its size where keys know nothing of cells.
        found = 12 * (np.bincount(cell, centred) ** 2 / sizes).sum()
        if found > len(sizes) + _SIGMAS * np.sqrt(2 * len(sizes)) + _SIGMAS**2:
            return "those of one cell are closer to each other than to others"
    return ""

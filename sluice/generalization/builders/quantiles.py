"""Quantiles that tell nothing rare: runs of neighbouring values with about equally many records.

A draft of a hierarchy is a public document, and its cut points are read off confidential records. Whoever reads it must
not learn that a rare value occurs, or does not. So a value that fewer records have than the minimum cell counts as one
that nobody has, and other counts are rounded down to whole minimum cells: with and without any rare value the runs are
the same, and each run holds at least the minimum cell.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError


def coarse_counts(counts: Sequence[int], minimum_cell: int) -> IntArray:
    """Counts rounded down to whole minimum cells, shape (values,): 0 for every rare value."""
    return np.asarray(counts, dtype=np.int64) // minimum_cell * minimum_cell


def balanced_runs(counts: Sequence[int], groups: int, minimum_cell: int) -> tuple[int, ...]:
    """Where runs of about equally many records begin.

    counts  : records of each value, in the order of the values
    groups  : runs that are wanted; there are fewer where a single value holds more than its share
    returns : positions in rising order, the first 0; each run holds at least `minimum_cell` records
    raises  : DataError unless there are two runs of that size
    cost    : O(values)
    """
    coarse = coarse_counts(counts, minimum_cell)
    total = int(coarse.sum())
    starts, reached, begun = [0], 0, 0
    for place, (count, following) in enumerate(pairwise(coarse.tolist()), start=1):
        reached += count
        if len(starts) == groups:
            break
        share = begun + (total - begun) / (groups - len(starts) + 1)  # of what is left, for each run that is left
        nearest = share - reached <= reached + following - share
        if nearest and begun < reached <= total - minimum_cell:
            starts.append(place)
            begun = reached
    if len(starts) < 2:
        raise DataError(
            f"cannot be cut into two groups of {minimum_cell} records or more without telling of values that fewer have"
        )
    return tuple(starts)


def halved(starts: Sequence[int]) -> list[tuple[int, ...]]:
    """The runs, then every two of them as one, and so on down to two."""
    levels = [tuple(starts)]
    while len(levels[-1]) > 2:
        levels.append(levels[-1][::2])
    return levels

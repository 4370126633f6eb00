"""Groups of equal rows, found exactly: no hash that might collide, no order of rows that might show."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.arrays import IntArray

_KEY_LIMIT = 2**62  # a mixed-radix key of several columns stays below this
_FEW = 4  # cells a row: so many are counted faster than rows are sorted


@dataclass(frozen=True)
class RowGroups:
    """The distinct rows in lexicographic order (which does not depend on the order of the rows)."""

    of: IntArray  # (n,) group of each row, 0..g-1
    first: IntArray  # (g,) first row of each group
    size: IntArray  # (g,) rows in each group


def row_groups(columns: Iterable[npt.NDArray[Any]]) -> RowGroups:
    """Equal rows of a table given by its columns; a missing value equals a missing value.

    columns : arrays of shape (n,), numbers or objects; at least one
    cost    : O(c n log n), and far less when a few columns already tell all rows apart
    """
    of: IntArray | None = None
    cells = 1  # combinations that `of` can hold
    for column in columns:
        codes, levels = _ranks(column)
        if of is None:
            of, cells = codes, levels
            continue
        if cells * levels > _KEY_LIMIT:
            distinct, of = np.unique(of, return_inverse=True)
            cells = len(distinct)
            if cells == len(of):
                break  # all distinct: no further column can change the groups or their order
        of = of * levels + codes  # ranks keep the lexicographic order
        cells *= levels
    if of is None:
        raise ValueError("row_groups needs at least one column")
    if cells <= _FEW * len(of):
        of, groups = _whole_ranks(of, cells)
        first = np.empty(groups, dtype=np.int64)
        first[of[::-1]] = np.arange(len(of) - 1, -1, -1)  # of several rows the first is written last
        return RowGroups(of=of, first=first, size=np.bincount(of, minlength=groups))
    _, first, of, size = np.unique(of, return_index=True, return_inverse=True, return_counts=True)
    return RowGroups(of=of.astype(np.int64), first=first, size=size)


def _ranks(column: npt.NDArray[Any]) -> tuple[IntArray, int]:
    """The rank of each value among the distinct ones, and how many these are; by counting where they are like codes."""
    column = np.asarray(column)
    if column.dtype.kind in "iuf" and len(column):
        low, high = float(column.min()), float(column.max())
        if high - low < _FEW * len(column):  # not so for a missing value
            moved = column - column.min()
            whole: IntArray = moved.astype(np.int64)
            if column.dtype.kind != "f" or (whole == moved).all():
                return _whole_ranks(whole, int(whole.max()) + 1)
    codes, levels = pd.factorize(column, sort=True, use_na_sentinel=False)
    return codes.astype(np.int64), len(levels)


def _whole_ranks(values: IntArray, cells: int) -> tuple[IntArray, int]:
    """The same of whole numbers 0..cells-1."""
    ranks = np.cumsum(np.bincount(values, minlength=cells) > 0) - 1
    return ranks[values], int(ranks[-1]) + 1

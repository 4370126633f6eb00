"""Groups of equal rows, found exactly: no hash that might collide, no order of rows that might show."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import IntArray

_KEY_LIMIT = 2**62  # a mixed-radix key of several columns stays below this
_MANY = 50_000  # rows from which on compiled loops pay
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
        codes, levels = value_ranks(column)
        if of is None:
            of, cells = codes, levels
            continue
        if cells * levels > _KEY_LIMIT:
            of, cells = _sorted_ranks(of)
            if cells == len(of):
                break  # all distinct: no further column can change the groups or their order
        of *= levels  # ranks keep the lexicographic order
        of += codes
        cells *= levels
    if of is None:
        raise ValueError("row_groups needs at least one column")
    of, groups = _whole_ranks(of, cells) if cells <= _FEW * len(of) else _sorted_ranks(of)
    if len(of) >= _MANY:
        from sluice.risk.row_groups_kernel import first_and_size

        return RowGroups(of, *first_and_size(of, groups))
    first = np.empty(groups, dtype=np.int64)
    first[of[::-1]] = np.arange(len(of) - 1, -1, -1)  # of several rows the first is written last
    return RowGroups(of=of, first=first, size=np.bincount(of, minlength=groups))


def value_ranks(column: npt.NDArray[Any]) -> tuple[IntArray, int]:
    """The rank of each value among the distinct ones, and how many these are; by counting where they are like codes."""
    column = np.asarray(column)
    if column.dtype.kind in "iuf" and len(column):
        low, high = float(column.min()), float(column.max())
        if high - low < _FEW * len(column):  # not so for a missing value
            moved = column - column.min()
            whole: IntArray = moved.astype(np.int64)
            if column.dtype.kind != "f" or (whole == moved).all():
                return _whole_ranks(whole, int(whole.max()) + 1)
        if len(column) >= _MANY:
            return _sorted_ranks(column)
    codes, levels = pd.factorize(column, sort=True, use_na_sentinel=False)
    return codes.astype(np.int64), len(levels)


def _sorted_ranks(values: npt.NDArray[Any]) -> tuple[IntArray, int]:
    """The same of numbers of which most are different; 16 bytes a row, where a table of them takes many times that."""
    if len(values) < _MANY:
        distinct, ranks = np.unique(values, return_inverse=True)
        return ranks.astype(np.int64), len(distinct)
    from sluice.risk.row_groups_kernel import number  # compiled code, loaded where it is needed

    ranks = np.empty(len(values), np.int64)
    return ranks, int(number(values, np.argsort(values), ranks))


def _whole_ranks(values: IntArray, cells: int) -> tuple[IntArray, int]:
    """The same of whole numbers 0..cells-1."""
    ranks = np.cumsum(np.bincount(values, minlength=cells) > 0) - 1
    return ranks[values], int(ranks[-1]) + 1

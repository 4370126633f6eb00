"""Groups of equal rows, found exactly: no hash that might collide, no order of rows that might show."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.arrays import IntArray

_KEY_LIMIT = 2**62  # a mixed-radix key of several columns stays below this


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
        codes, levels = pd.factorize(column, sort=True, use_na_sentinel=False)
        if of is None:
            of, cells = codes.astype(np.int64), len(levels)
            continue
        if cells * len(levels) > _KEY_LIMIT:
            distinct, of = np.unique(of, return_inverse=True)
            cells = len(distinct)
            if cells == len(of):
                break  # all distinct: no further column can change the groups or their order
        of = of * len(levels) + codes  # ranks keep the lexicographic order
        cells *= len(levels)
    if of is None:
        raise ValueError("row_groups needs at least one column")
    _, first, of, size = np.unique(of, return_index=True, return_inverse=True, return_counts=True)
    return RowGroups(of=of.astype(np.int64), first=first, size=size)

"""From records to the cells of a table, in memory."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from sluice.tabular.cells import Cells, Codes, Integers, equations_of, keys_of
from sluice.tabular.dimension import Dimension

LARGEST_KEPT = 5  # the rules that people use look at three


def aggregate(
    dimensions: Sequence[Dimension],
    leaves: Codes,
    contributor: Integers,
    value: Integers,
    kept: int = LARGEST_KEPT,
) -> Cells:
    """Every non-empty cell of the table of all dimensions, with its total, contributors and largest contributions.

    leaves      : shape (n, d), the position of each record's leaf in each dimension
    contributor : shape (n,), whose record it is, as a number of 0 or more; records of one contributor add up
    value       : shape (n,), whole numbers in units of the last decimal
    kept        : how many of the largest contributions of a cell are kept
    cost        : O(n log n) for each combination of levels
    """
    parts = []
    for columns in product(*(dimension.columns for dimension in dimensions)):
        codes = np.column_stack([column[leaves[:, axis]] for axis, column in enumerate(columns)])
        inside = (codes >= 0).all(axis=1)
        if inside.any():
            parts.append(_cells_of(dimensions, codes[inside], contributor[inside], value[inside], kept))
    codes, total, contributors, largest, owners = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.argsort(keys_of(dimensions, codes), kind="stable")
    codes = codes[order]
    return Cells(
        dimensions=tuple(dimensions),
        codes=codes,
        total=total[order],
        contributors=contributors[order],
        largest=largest[order],
        owners=owners[order],
        equations=equations_of(dimensions, codes),
        published=np.ones(len(codes), dtype=bool),
    )


def _cells_of(
    dimensions: Sequence[Dimension], codes: Codes, contributor: Integers, value: Integers, kept: int
) -> tuple[Codes, Integers, Integers, Integers, Integers]:
    keys = keys_of(dimensions, codes)
    order = np.lexsort((contributor, keys))
    keys, contributor, value = keys[order], contributor[order], value[order]
    starts = np.flatnonzero(np.r_[True, (keys[1:] != keys[:-1]) | (contributor[1:] != contributor[:-1])])
    shares, keys, contributor = np.add.reduceat(value, starts), keys[starts], contributor[starts]
    order = np.lexsort((contributor, -shares, keys))
    shares, keys, contributor = shares[order], keys[order], contributor[order]
    cells = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
    contributors = np.diff(np.r_[cells, len(keys)])
    largest = np.zeros((len(cells), kept), dtype=np.int64)
    owners = np.full((len(cells), kept), -1, dtype=np.int64)
    for rank in range(kept):
        has = contributors > rank
        largest[has, rank] = shares[cells[has] + rank]
        owners[has, rank] = contributor[cells[has] + rank]
    sizes = tuple(len(dimension.codes) for dimension in dimensions)
    unique = np.column_stack(np.unravel_index(keys[cells], sizes)).astype(np.int32)
    return unique, np.add.reduceat(shares, cells), contributors.astype(np.int64), largest, owners

"""The cells that suppression decides on, and the sums between them.

Cells that attackers know anyway (zeros, by assumption) change in no table that they believe possible, and drop out. A
sum with one part left equals that part: both are suppressed or neither, and they stand for one unknown here.

A protection range is how far a reader believes that an unknown may lie from its value, and for a moment less: to
whoever knows more.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Codes, Floats

_ROUNDING = 1e-6  # units


@dataclass(frozen=True, eq=False)
class UnknownCells:
    """u unknowns for c cells.

    of_cell     : shape (c,), the unknown of each cell, -1 where attackers know it
    first       : shape (u,), the cell that stands for each unknown: with the fewest contributors, the most detailed
    rows        : shape (e, u), the sums between them; each row times the values is a constant
    columns     : shape (u, e), the same by unknown
    down        : shape (u,), how far attackers believe each may lie below its value, and `up` above
    """

    of_cell: Codes
    first: Codes
    rows: csr_array
    columns: csr_array
    down: Floats
    up: Floats

    def __len__(self) -> int:
        return len(self.first)

    def any(self, given: Booleans) -> Booleans:
        """Shape (u,): whether a cell of each unknown is among those given, of shape (c,)."""
        return self.sum(given.astype(np.float64)) > 0

    def sum(self, given: Floats) -> Floats:
        """Shape (u,): what is given for its cells, of shape (c,), added up."""
        known = self.of_cell < 0
        return np.bincount(self.of_cell[~known], weights=given[~known], minlength=len(self)).astype(np.float64)

    def max(self, given: Floats) -> Floats:
        """Shape (u,): the largest of what is given for its cells, 0 or more."""
        largest = np.zeros(len(self))
        known = self.of_cell < 0
        np.maximum.at(largest, self.of_cell[~known], given[~known])
        return largest

    def min(self, given: Floats) -> Floats:
        """Shape (u,): the smallest of what is given for its cells."""
        smallest = np.full(len(self), np.inf)
        known = self.of_cell < 0
        np.minimum.at(smallest, self.of_cell[~known], given[~known])
        return smallest


def unknown_cells(cells: Cells, lower: Floats, upper: Floats) -> UnknownCells:
    """Drop the cells whose bounds leave no doubt, and merge each sum with its only part.

    lower, upper : shape (c,), what attackers believe possible of each cell; `Assumptions.bounds`
    cost         : O(entries) for each level of sums with one part
    """
    from scipy.sparse.csgraph import connected_components  # loaded where it is needed

    label = np.arange(len(cells))
    free = upper > lower
    while True:
        to = csr_array((np.ones(int(free.sum())), (np.flatnonzero(free), label[free])), shape=(len(cells), len(cells)))
        rows = (cells.equations @ to).tocsr()
        rows.eliminate_zeros()
        count = np.diff(rows.indptr)
        alone = rows.indices[rows.indptr[:-1][count == 1]]
        if len(alone):
            free &= ~np.isin(label, alone)
            continue
        at = rows.indptr[:-1][count == 2]
        opposite = rows.data[at] + rows.data[at + 1] == 0
        one, other = rows.indices[at][opposite], rows.indices[at + 1][opposite]
        if not len(one):
            break
        joined = csr_array((np.ones(len(one)), (one, other)), shape=(len(cells), len(cells)))
        _, component = connected_components(joined, directed=False)
        smallest = np.full(len(cells), len(cells))
        np.minimum.at(smallest, component[label], label)
        label = smallest[component[label]]
    depth = np.zeros(len(cells), dtype=np.int64)
    for axis, dimension in enumerate(cells.dimensions):
        depth += dimension.depth[cells.codes[:, axis]]
    order = np.lexsort((np.arange(len(cells)), -depth, cells.contributors))
    order = order[free[order]]
    _, at, inverse = np.unique(label[order], return_index=True, return_inverse=True)
    of_cell = np.full(len(cells), -1, dtype=np.int32)
    of_cell[order] = inverse
    first = order[at].astype(np.int32)
    kept = rows[count > 1][:, label[first]].tocsr()
    kept.sort_indices()
    down, up = np.full(len(first), np.inf), np.full(len(first), np.inf)
    np.minimum.at(down, of_cell[order], (cells.total - lower)[order])
    np.minimum.at(up, of_cell[order], (upper - cells.total)[order])
    columns = kept.T.tocsr()
    columns.sort_indices()
    return UnknownCells(of_cell, first, kept, columns, down, up)


def of_known_zeros(cells: Cells, sensitive: Booleans, assumptions: Assumptions) -> str:
    """A sentence, with a blank in front, on the zeros that can hide nothing as everybody knows them; '' without any."""
    zeros = int((cells.published & ~sensitive & (cells.contributors > 0) & (cells.contributions.total == 0)).sum())
    if not assumptions.zeros_known or not zeros:
        return ""
    return (
        f" Readers are taken to know which cells are zero, so that {zeros:,} cell{'s' * (zeros > 1)} of zeros cannot "
        "be suppressed with it. If they do not know, say so (table_attackers.zeros_known: false)."
    )


@dataclass(frozen=True, eq=False)
class ProtectionRanges:
    """Shapes (u,), in whole units of the last decimal or infinite.

    down, up : how far below and above its value each may lie
    both     : the smaller of the two
    """

    down: Floats
    up: Floats
    both: Floats

    @classmethod
    def of(cls, unknowns: UnknownCells, down: Floats, up: Floats) -> "ProtectionRanges":
        """Of cells that may lie so far below and above their values, shapes (c,): equal cells change together."""
        down, up = (np.floor(unknowns.min(room) + _ROUNDING) for room in (down, up))
        return cls(down, up, np.minimum(down, up))

    def within(self, side: int) -> tuple[Floats, Floats]:
        """How far a change upwards (1) may go down and up, one downwards (-1) seen in a mirror, and one of both (0)."""
        return {0: (self.both, self.both), 1: (self.down, self.up), -1: (self.up, self.down)}[side]

    @contextmanager
    def narrowed(self, unknowns: NDArray[np.intp], down: Floats) -> Iterator[None]:
        """Leave these, each once, at most so much room downwards meanwhile."""
        before = self.down[unknowns], self.both[unknowns]
        self.down[unknowns] = np.minimum(before[0], down)
        self.both[unknowns] = np.minimum(before[1], down)
        try:
            yield
        finally:
            self.down[unknowns], self.both[unknowns] = before

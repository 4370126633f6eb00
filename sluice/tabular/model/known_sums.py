"""The sums between unpublished cells: which cells follow from the published ones, and which hang together."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sluice.tabular.model.cells import Booleans

Indices = NDArray[np.intp]


def computable(equations: csr_array, free: Booleans) -> list[tuple[int, int, float]]:
    """(cell, equation, sign in it), in an order in which each cell is the only unknown one of its equation.

    equations : shape (e, c)
    free      : shape (c,), the unknown cells; not changed
    """
    by_cell = equations.T.tocsr()
    left = free.copy()
    counts = (abs(equations) @ left.astype(np.float64)).astype(np.int64)
    waiting = list(np.flatnonzero(counts == 1)[::-1])
    found = []
    while waiting:
        row = int(waiting.pop())
        if counts[row] != 1:
            continue
        inside = slice(equations.indptr[row], equations.indptr[row + 1])
        at = int(np.flatnonzero(left[equations.indices[inside]])[0])
        cell = int(equations.indices[inside][at])
        found.append((cell, row, float(equations.data[inside][at])))
        left[cell] = False
        touched = by_cell.indices[by_cell.indptr[cell] : by_cell.indptr[cell + 1]]
        counts[touched] -= 1
        waiting += [int(other) for other in touched if counts[other] == 1]
    return found


def components(equations: csr_array, free: Booleans) -> NDArray[np.int32]:
    """Shape (c,): a number for each set of unknown cells that equations tie together, directly or through others."""
    from scipy.sparse.csgraph import connected_components  # loaded where it is needed

    rows, cells = equations.shape
    inside = equations.tocoo()
    row, cell = inside.coords
    held = free[cell]
    graph = csr_array((np.ones(held.sum()), (row[held], rows + cell[held])), shape=(rows + cells, rows + cells))
    label: NDArray[np.int32] = connected_components(graph, directed=False)[1][rows:]
    return label

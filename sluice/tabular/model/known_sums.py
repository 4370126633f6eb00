"""The sums between unpublished cells: which follow, which hang together, and what bounds of some say of others."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sluice.tabular.model.cells import Booleans, Codes, Floats

_MOST_TOGETHER = 1_500  # unknown cells whose equations are solved as a whole: a second, and some 50 MB
_STILL = 1e-9
_ROUNDS = 30  # as many as sums hang below each other, and a few for what goes up and down again

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


def determined(equations: csr_array, free: Booleans, most: int = _MOST_TOGETHER) -> tuple[Booleans, Booleans]:
    """The unknown cells whose value the equations tell, whatever the known cells are; and those that are not decided.

    most    : unknown cells that hang together; of more, only what follows one cell at a time is found
    returns : two arrays of shape (c,)
    cost    : O(k^3) for k unknown cells that hang together
    """
    from scipy.linalg import null_space  # loaded where it is needed

    told, undecided = np.zeros(len(free), dtype=bool), np.zeros(len(free), dtype=bool)
    told[[cell for cell, _, _ in computable(equations, free)]] = True
    left = free & ~told
    label = components(equations, left)
    for part in np.unique(label[left]):
        members = np.flatnonzero(left & (label == part))
        if len(members) > most:
            undecided[members] = True
            continue
        within = equations[:, members]
        moves = null_space(within[np.flatnonzero(np.diff(within.indptr))].toarray())
        told[members] = (np.abs(moves) < _STILL).all(axis=1)
    return told, undecided


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


def propagated_bounds(equations: csr_array, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Bounds that are as tight as those given, and as each sum by itself makes them; shapes (c,).

    A marginal is at least what its parts are. Source: interval constraints, Davis (1987).

    equations    : shape (e, c), +1 at a sum and -1 at its parts; every row adds up to 0
    lower, upper : shape (c,), whole numbers or infinite; some values fit between them
    cost         : O(entries) for each level of the hierarchies
    """
    entries = equations.tocoo()
    row, cell = entries.coords
    gains = entries.data > 0
    lower, upper = lower.copy(), upper.copy()
    for _ in range(_ROUNDS):
        # what each entry adds to its row: from `least` to `most`
        least, most = np.where(gains, lower[cell], -upper[cell]), np.where(gains, upper[cell], -lower[cell])
        others_least, others_most = _others(row, least), _others(row, most)
        tightest = np.where(gains, -others_most, others_least), np.where(gains, -others_least, others_most)
        before = lower.copy(), upper.copy()
        np.maximum.at(lower, cell, tightest[0])
        np.minimum.at(upper, cell, tightest[1])
        if (lower == before[0]).all() and (upper == before[1]).all():
            break
    return lower, upper


def _others(row: Codes, ends: Floats) -> Floats:
    """For each entry the sum of the other entries of its row; all of them finite, or infinite on the same side."""
    finite = np.isfinite(ends)
    amount, endless = np.where(finite, ends, 0.0), np.where(finite, 0.0, np.sign(ends))
    sums, infinite = (np.bincount(row, weights=of)[row] - of for of in (amount, endless))
    others: Floats = np.where(infinite == 0, sums, np.copysign(np.inf, infinite))
    return others

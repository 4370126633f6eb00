"""The compiled search of small-count rounding."""

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def improve(
    up: NDArray[np.bool_],
    difference: NDArray[np.float64],
    starts: NDArray[np.int32],
    margins: NDArray[np.int32],
    cell_starts: NDArray[np.int32],
    cells: NDArray[np.int32],
    base: int,
    order: NDArray[np.int64],
    sweeps: int,
    candidates: int = 64,
) -> None:
    """Change single cells, or one that goes up with one that does not, while the sum of squared differences falls.

    up               : shape (m,), which cells go up; changed in place
    difference       : shape (e,), of each margin, rounded less true; changed in place
    starts, margins  : the margins that hold each cell, in compressed columns
    cell_starts, cells : the cells of each margin, in compressed rows
    candidates       : cells of a margin that are tried as partners of one cell, at most
    """
    shared = np.zeros(len(difference), dtype=np.bool_)
    for _ in range(sweeps):
        changed = False
        for cell in order:
            own = -base if up[cell] else base
            alone = 0.0
            smallest = -1
            for at in range(starts[cell], starts[cell + 1]):
                margin = margins[at]
                alone += own * (2.0 * difference[margin] + own)
                shared[margin] = True
                size = cell_starts[margin + 1] - cell_starts[margin]
                if size > 1 and (smallest < 0 or size < cell_starts[smallest + 1] - cell_starts[smallest]):
                    smallest = margin
            best, partner = alone, -1
            if smallest >= 0:
                begin, end = cell_starts[smallest], cell_starts[smallest + 1]
                tried = 0
                for at in range(begin, end):
                    other = cells[at]
                    if up[other] == up[cell]:
                        continue
                    tried += 1
                    if tried > candidates:
                        break
                    together = alone
                    for where in range(starts[other], starts[other + 1]):
                        margin = margins[where]
                        now = difference[margin] + (own if shared[margin] else 0)
                        together += -own * (2.0 * now - own)
                    if together < best:
                        best, partner = together, other
            for at in range(starts[cell], starts[cell + 1]):
                shared[margins[at]] = False
            if best < -1e-9:
                changed = True
                up[cell] = not up[cell]
                for at in range(starts[cell], starts[cell + 1]):
                    difference[margins[at]] += own
                if partner >= 0:
                    up[partner] = not up[partner]
                    for at in range(starts[partner], starts[partner + 1]):
                        difference[margins[at]] -= own
        if not changed:
            break

"""The idea of HITAS (De Wolf 2002), plainly: a hierarchical table is protected in simple subtables, one after another.

A subtable is one sum in each dimension, with its marginals. Within it, every suppressed cell gets a change up and one
down as large as its level, the cheapest that the subtable has, so that its bounds there are exactly as wide as asked;
cells that another subtable suppressed count as sensitive, by one unit. What one subtable suppresses in its marginals
others see in their turn, until none changes any more. Nobody looks at two subtables together, or at contributors.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack

from sluice.tabular.model.cells import Booleans, Cells
from sluice.tabular.rules.sensitivity import Requirements

_ROUNDS = 20
_MOVED = 1e-7  # units; less is at rest


def hitas_pattern(cells: Cells, requirements: Requirements) -> Booleans:
    """Which cells are suppressed, sensitive ones with them."""
    suppressed = requirements.sensitive.copy()
    subtables = list(_subtables(cells))
    for _ in range(_ROUNDS):
        before = suppressed.copy()
        for inside, sums in subtables:
            _protect(cells, requirements, suppressed, inside, sums)
        if (before == suppressed).all():
            break
    return suppressed


def _subtables(cells: Cells) -> Iterator[tuple[NDArray[np.intp], csr_array]]:
    """The cells of each, and its sums, shape (e, cells); from the top down."""
    members = np.diff(cells.equations.indptr)
    for groups in product(*(dimension.sums for dimension in cells.dimensions)):
        within = [np.isin(cells.codes[:, axis], [group, *parts]) for axis, (group, parts) in enumerate(groups)]
        inside = np.logical_and.reduce(within)
        whole = np.flatnonzero((abs(cells.equations) @ inside.astype(np.float64)).astype(int) == members)
        if len(whole):
            yield np.flatnonzero(inside), csr_array(cells.equations[whole][:, np.flatnonzero(inside)])


def _protect(
    cells: Cells, requirements: Requirements, suppressed: Booleans, inside: NDArray[np.intp], sums: csr_array
) -> None:
    """Suppress what one subtable takes."""
    total = cells.total[inside].astype(np.float64)
    levels = np.maximum([requirements.upper[inside], requirements.lower[inside]], 1)
    hidden = np.flatnonzero(suppressed[inside])
    for cell in hidden[np.argsort(-levels[0, hidden], kind="stable")].tolist():
        for side, level in zip((1, -1), levels[:, cell].tolist(), strict=True):
            price = np.where(suppressed[inside], 1e-4, total + 1)
            lower, upper = np.zeros((2, 2 * len(inside)))
            upper[: len(inside)], upper[len(inside) :] = np.inf, total
            moved = cell if side > 0 else len(inside) + cell
            upper[[cell, len(inside) + cell]] = 0
            lower[moved] = upper[moved] = min(level, total[cell]) if side < 0 else level
            found = linprog(
                np.tile(price, 2),
                A_eq=hstack([sums, -sums]),
                b_eq=np.zeros(sums.shape[0]),
                bounds=np.column_stack([lower, upper]),
            )
            if found.status == 0:
                change = found.x[: len(inside)] - found.x[len(inside) :]
                suppressed[inside[np.abs(change) > _MOVED]] = True

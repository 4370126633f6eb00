"""What bounds of some cells say of others, by the sums between them: a marginal is at least what its parts are.

Source: interval constraints, Davis (1987).
"""

import numpy as np
from scipy.sparse import csr_array

from sluice.tabular.model.cells import Codes, Floats

_ROUNDS = 30  # as many as sums hang below each other, and a few for what goes up and down again


def propagated_bounds(equations: csr_array, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Bounds that are as tight as those given, and as each sum by itself makes them; shapes (c,).

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

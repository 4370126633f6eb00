"""Pareto front: the plans than which no other is better in one respect and as good in the other."""

import numpy as np
import numpy.typing as npt

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError


def pareto_front(loss: FloatArray, risk: FloatArray) -> npt.NDArray[np.bool_]:
    """Which points no other one dominates; of both coordinates less is better.

    loss, risk : shape (n,), any finite unit each, infinite allowed; a point with a NaN is on no front and dominates
                 none
    returns    : shape (n,); points that are equal in both are on the front together
    raises     : DataError when the lengths differ
    cost       : O(n log n)

    Source: Duncan, Keller-McNulty and Stokes (2001), who draw risk against utility; the front is the set of
    undominated points.
    """
    if loss.shape != risk.shape or loss.ndim != 1:
        raise DataError(f"loss and risk must have one value for each plan; got shapes {loss.shape} and {risk.shape}.")
    front = np.zeros(len(loss), dtype=bool)
    known = np.flatnonzero(~(np.isnan(loss) | np.isnan(risk)))
    order = known[np.lexsort((risk[known], loss[known]))]
    best_risk, its_loss = np.inf, np.nan
    for at in order:
        if risk[at] < best_risk or (risk[at] == best_risk and (loss[at] == its_loss or not front.any())):
            front[at] = True
            best_risk, its_loss = risk[at], loss[at]
    return front

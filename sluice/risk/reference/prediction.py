"""Prediction distance, ambiguity and uncertainty: what a released file tells of each original record.

Source: Lasko and Vinterbo (2010), section II.A, "Prediction distance", "Prediction ambiguity", "Prediction uncertainty"
and equation (1). Low distance: the file holds a record much like this person's. Low ambiguity: it stands out from the
next ones. Low uncertainty: the nearest records agree, so that it does not matter which of them is the person's.
"""

from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.risk.coded_points import Points
from sluice.risk.distances.neighbours import nearest_neighbours

_BLOCK_CELLS = 4_000_000  # neighbours are gathered in blocks of 32 MB


@dataclass(frozen=True)
class Prediction:
    """The three measures, each of shape (n,), one value an original record. Small is worse for all three."""

    distance: FloatArray  # to the nearest released record, equation (1): root mean square over the dimensions
    ambiguity: FloatArray  # nearest distance / k-th nearest distance, 0 to 1; 0 / 0 is 0
    uncertainty: FloatArray  # mean over the dimensions of the variance (n - 1) of the k nearest


def prediction(original: FloatArray, released: Points, k: int = 5, own_row: IntArray | None = None) -> Prediction:
    """Attack each original record with the whole released file.

    original : shape (n, d), coded records (see sluice.risk.coding), finite
    released : shape (m, d), coded in the same space, m >= k
    own_row  : shape (n,), the row of `released` that is the record itself and does not count (leave-one-out)
    raises   : ValueError when k < 2 or there are fewer than k released records
    cost     : that of nearest_neighbours
    """
    if k < 2:
        raise ValueError(f"k must be at least 2, for a nearest and a k-th nearest record; got {k}")
    neighbours = nearest_neighbours(original, released, k, own_row)
    n, d = original.shape
    nearest, farthest = neighbours.distance[:, 0], neighbours.distance[:, -1]
    uncertainty = np.empty(n)
    rows = max(1, _BLOCK_CELLS // (k * d))
    for start in range(0, n, rows):
        crowd = released[neighbours.index[start : start + rows]]
        crowd = crowd - crowd[:, :1]  # k copies of one record then vary by 0 exactly, not by a rounding error
        uncertainty[start : start + rows] = crowd.var(axis=1, ddof=1).mean(axis=1)
    return Prediction(
        distance=nearest / np.sqrt(d),
        # An exact copy fails even when it stands k times: 0 / 0 is 0, not 1.
        ambiguity=np.divide(nearest, farthest, out=np.zeros(n), where=farthest > 0),
        uncertainty=uncertainty,
    )

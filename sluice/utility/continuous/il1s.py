"""Information loss IL1s: how far the values of each record moved, in standard deviations.

Source: Yancey, Winkler and Creecy (2002); the denominator sqrt(2) S is also that of Mateo-Sanz, Domingo-Ferrer and Sebe
(2005).
"""

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError
from sluice.utility.comparable_columns import is_constant
from sluice.utility.continuous.column_moments import column_moments
from sluice.utility.continuous.number_columns import Numbers
from sluice.utility.record_weights import relative_weight


def il1s(original: Numbers, masked: Numbers, weight: FloatArray | None = None) -> float:
    """Mean of |x - x'| / (sqrt(2) S_j) over all cells; S_j is the standard deviation (n - 1) of the original column j.

    original, masked : shape (n, d), row i of both being the same record; NaN for a missing value
    weight           : (n,) of the original records, finite and not negative: how much each cell counts, in the mean and
                       in S_j; None: each counts 1
    returns          : 0 for no change, higher is worse, no upper bound; 0.80 (the root of 2 / pi) when every value of
                       a normal column is replaced by another drawn at random
    raises           : DataError if the shapes differ, or for weights that do not fit
    cost             : O(n d)

    The division is by a standard deviation, never by the value, so a change of a zero counts. Cells missing in
    either file have no distance and are left out (see cell_changes for them); NaN when no cell is left. A changed cell
    of a constant column is infinitely far off, an unchanged one is 0 off.
    """
    if original.shape != masked.shape:
        raise DataError(f"IL1s compares record by record; got files of shape {original.shape} and {masked.shape}.")
    weight = relative_weight(weight, len(original))
    total = cells = 0.0
    for at in range(original.shape[1]):
        before, after = original[:, at], masked[:, at]
        there = ~np.isnan(before) if weight is None else ~np.isnan(before) & (weight > 0)
        present = there & ~np.isnan(after)
        moved = np.abs(before[present] - after[present])
        w = None if weight is None else weight[present]
        cells += int(present.sum()) if w is None else float(w.sum())
        if not moved.any():
            continue
        if is_constant(before[there]):
            return float("inf")
        deviation = column_moments(before[there], None if weight is None else weight[there]).deviation
        total += float((moved if w is None else moved * w).sum()) / float(np.sqrt(2) * deviation)
    return total / cells if cells else float("nan")

"""Information loss IL1s: how far the values of each record moved, in standard deviations.

Source: Yancey, Winkler and Creecy (2002); the denominator sqrt(2) S is also that of Mateo-Sanz, Domingo-Ferrer and Sebe
(2005).
"""

import numpy as np

from sluice.errors import DataError
from sluice.utility.comparable_columns import is_constant
from sluice.utility.continuous.number_columns import Numbers


def il1s(original: Numbers, masked: Numbers) -> float:
    """Mean of |x - x'| / (sqrt(2) S_j) over all cells; S_j is the standard deviation (n - 1) of the original column j.

    original, masked : shape (n, d), row i of both being the same record; NaN for a missing value
    returns          : 0 for no change, higher is worse, no upper bound; 0.80 (the root of 2 / pi) when every value of
                       a normal column is replaced by another drawn at random
    raises           : DataError if the shapes differ
    cost             : O(n d)

    The division is by a standard deviation, never by the value, so a change of a zero counts. Cells missing in
    either file have no distance and are left out (see cell_changes for them); NaN when no cell is left. A changed cell
    of a constant column is infinitely far off, an unchanged one is 0 off.
    """
    if original.shape != masked.shape:
        raise DataError(f"IL1s compares record by record; got files of shape {original.shape} and {masked.shape}.")
    total, cells = 0.0, 0
    for at in range(original.shape[1]):
        before, after = original[:, at], masked[:, at]
        present = ~(np.isnan(before) | np.isnan(after))
        moved = np.abs(before[present] - after[present])
        cells += int(present.sum())
        if not moved.any():
            continue
        if is_constant(before):
            return float("inf")
        total += float(moved.sum()) / float(np.sqrt(2) * np.nanstd(before, ddof=1))
    return total / cells if cells else float("nan")

"""Alignment: released numbers on the scale of the original ones, where masking changed the scale as a whole.

A column in another currency, as an index, as a logarithm or with its sign reversed hides nobody: whoever compares the
order of both files undoes it.
"""

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray

_NEARER = 0.5  # aligned values lie at most so far, as a share of what they lie apart as they stand
_PAIRS = 10_000  # pairs that tell


def aligned(before: FloatArray, after: FloatArray) -> FloatArray:
    """The released values as they stand, or each as the original value of its rank or of its rank from above.

    Whichever brings true pairs together by ranks; another than the first one only if it halves what they lie apart.

    before, after : shape (n,), row i of both the same record, NaN where missing
    cost          : that of some thousand pairs, which decide; O(n log n) where the order is what tells
    """
    pairs = np.flatnonzero(~np.isnan(before) & ~np.isnan(after))
    if len(pairs) < 2:
        return after
    some = pairs[:: -(-len(pairs) // _PAIRS)]
    values, sent = np.sort(before[some]), after[some]
    own = pd.Series(before[some]).rank(pct=True).to_numpy()
    choices = [sent, _at(values, sent), _at(values, -sent)]
    apart = [float(np.abs(_place(values, choice) - own).mean()) for choice in choices]
    best = int(np.argmin(apart))
    if best == 0 or apart[best] >= _NEARER * apart[0]:
        return after
    return _at(np.sort(before[~np.isnan(before)]), after if best == 1 else -after)


def _at(values: FloatArray, column: FloatArray) -> FloatArray:
    """For each number the original value at its rank; equal numbers have one."""
    ranks = pd.Series(column).rank(pct=True, method="average").to_numpy()
    places = np.where(np.isnan(ranks), 0, np.ceil(ranks * len(values) - 1e-9) - 1).astype(np.int64)
    return np.where(np.isnan(ranks), np.nan, values[np.clip(places, 0, len(values) - 1)])


def _place(values: FloatArray, column: FloatArray) -> FloatArray:
    """Share of the original values below, half of the equal ones included."""
    below, upto = np.searchsorted(values, column, "left"), np.searchsorted(values, column, "right")
    return np.asarray((below + upto + 1) / 2 / len(values))

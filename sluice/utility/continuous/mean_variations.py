"""Mean variations: IL1 to IL5, relative changes of values, means, variances, covariances and correlations; and IL1s,
how far the value of each record moved, in standard deviations.

Sources: Xiong (CS573 slides), "IL measures for continuous attributes"; Torra (2013) has the same loss in the scores of
rank swapping. The slide calls the average "IL6 = 100 times the average of IL1-6"; its table is 100 times the average
of IL1 to IL5, and a measure cannot be part of itself. IL1s: Yancey, Winkler and Creecy (2002); the denominator sqrt(2)
S is also that of Mateo-Sanz, Domingo-Ferrer and Sebe (2005).
"""

from typing import NamedTuple

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError
from sluice.utility.continuous.moments import (
    NEGLIGIBLE,
    PairwiseMoments,
    blocks,
    column_moments,
    is_constant,
    pairwise_moments,
)
from sluice.utility.continuous.released_numbers import Numbers
from sluice.utility.record_weights import UNWEIGHTED, Weights, relative_weight


class MeanVariations(NamedTuple):
    """0 for no change, 1 for a change of 100 % on average, without an upper bound but for correlations: 2."""

    values: float  # IL1; NaN for files that are not paired
    means: float  # IL2
    variances: float  # IL3
    covariances: float  # IL4, of pairs of columns
    correlations: float  # IL5: absolute, not relative, changes

    @property
    def loss(self) -> float:
        """IL, the average of the five, 1 for 100 %: the sources print 100 times this. NaN unless all five are known."""
        return float(np.mean(self))


def mean_variations(
    original: Numbers,
    masked: Numbers,
    *,
    paired_records: bool = True,
    weights: Weights = UNWEIGHTED,
    moments: tuple[PairwiseMoments, PairwiseMoments] | None = None,
) -> MeanVariations:
    """The five losses of two files of the same columns, at least two.

    original, masked : shape (n, d) and (m, d); NaN for a missing value
    paired_records   : row i of both is the same record
    weights          : of the records of both; what happened to a value weighs what its original record does
    moments          : of both files, where they are known already
    returns          : NaN where nothing in the original can be compared
    raises           : DataError if the columns differ, or the records of paired files
    cost             : O(n d^2)

    A zero original, and what the masked file does not give, such as a suppressed value or the covariances of a removed
    variable: see `relative_changes`. Covariances and correlations are of the records that have both values; a
    correlation with a variable that does not vary is 0, and one that does not in the original has none.
    """
    if original.shape[1] != masked.shape[1]:
        raise DataError(f"both files need the same columns; got {original.shape[1]} and {masked.shape[1]}.")
    if paired_records and len(original) != len(masked):
        raise DataError(f"values compare record by record; got {len(original):,} and {len(masked):,} records.")
    before, after = moments or (pairwise_moments(original, weights[0]), pairwise_moments(masked, weights[1]))
    pairs = np.triu_indices(original.shape[1], 1)
    variances = np.diagonal(before.covariance)
    deviation = np.sqrt(np.maximum(np.nan_to_num(variances), 0))
    known = ~np.isnan(before.correlation[pairs])
    return MeanVariations(
        values=_of_values(original, masked, weights[0]) if paired_records else float("nan"),
        means=_mean(relative_changes(before.mean, after.mean, NEGLIGIBLE * deviation)),
        variances=_mean(relative_changes(variances, np.diagonal(after.covariance))),
        covariances=_mean(
            relative_changes(
                before.covariance[pairs],
                after.covariance[pairs],
                NEGLIGIBLE * np.outer(deviation, deviation)[pairs],
            )
        ),
        correlations=_mean(np.abs(before.correlation[pairs] - np.nan_to_num(after.correlation[pairs], nan=0.0))[known]),
    )


def _of_values(original: Numbers, masked: Numbers, weight: FloatArray | None) -> float:
    total = cells = 0.0
    weight = relative_weight(weight, len(original))
    for rows in blocks(len(original)):
        changes = relative_changes(original[rows], masked[rows])
        known = ~np.isnan(changes)
        if weight is None:
            cells += int(known.sum())
        else:
            w = weight[rows, np.newaxis]
            cells += float((known * w).sum())
            changes = changes * w
        total += float(changes.sum(where=known))
    return total / cells if cells else float("nan")


def _mean(changes: FloatArray) -> float:
    known = changes[~np.isnan(changes)]
    return float(known.mean()) if len(known) else float("nan")


def relative_changes(original: FloatArray, masked: FloatArray, negligible: float | FloatArray = 0.0) -> FloatArray:
    """The change of each figure, relative to the original one: 0 for none, without an upper bound.

    original, masked : arrays of one shape; NaN for what does not exist
    negligible       : an original of at most this size counts as 0, as does a masked one
    returns          : the same shape, NaN where the original is NaN

    An original of 0 has no relative change: it counts as 0 when it stayed and as 1, a change of the whole, when it did
    not. A figure that the masked file does not give (a suppressed value, the mean of a removed variable) counts as 1
    likewise. An original that is small beside its change still gives a large one: that is how the ratio is defined.
    """
    before = np.where(np.abs(original) <= negligible, 0.0, original)
    after = np.where(np.abs(masked) <= negligible, 0.0, masked)
    nothing = before == 0
    changes = np.abs(before - after) / np.abs(np.where(nothing, 1.0, before))
    changes = np.where(nothing, np.where(after == 0, 0.0, 1.0), changes)
    return np.where(np.isnan(before), np.nan, np.where(np.isnan(after), 1.0, changes))


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

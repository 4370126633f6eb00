"""Mean variations IL1 to IL5: relative changes of values, means, variances and covariances, and those of correlations.

Sources: Xiong (CS573 slides), "IL measures for continuous attributes"; Torra (2013) has the same loss in the scores of
rank swapping. The slide calls the average "IL6 = 100 times the average of IL1-6"; its table is 100 times the average of
IL1 to IL5, and a measure cannot be part of itself.
"""

from typing import NamedTuple

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError
from sluice.utility.continuous.number_columns import Numbers
from sluice.utility.continuous.pairwise_moments import NEGLIGIBLE, PairwiseMoments, blocks, pairwise_moments
from sluice.utility.continuous.relative_changes import relative_changes
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

"""Moments: how far masking moved the means, variances and correlations of the numeric variables.

Source: Lasko and Vinterbo (2010), section II.D and Table I. Differs from it: the diagonal of the correlation matrices,
always 1, is left out, so that it cannot lower the median.
"""

from typing import NamedTuple

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError
from sluice.utility.comparable_columns import is_constant
from sluice.utility.continuous.column_moments import column_moments
from sluice.utility.continuous.number_columns import NumberColumns, Numbers
from sluice.utility.continuous.pairwise_moments import pairwise_moments
from sluice.utility.record_weights import UNWEIGHTED, Weights, relative_weight


class MomentDifferences(NamedTuple):
    """Median absolute differences, 0 for no change, higher is worse; NaN where there is nothing to compare."""

    mean: float  # in standard deviations of the original column, over columns
    variance: float  # relative to the variance of the original column, over columns
    correlation: float  # over pairs of columns
    rank_correlation: float  # Spearman's, over pairs of columns


def moment_differences(original: Numbers, masked: Numbers, weights: Weights = UNWEIGHTED) -> MomentDifferences:
    """The differences between two files of the same columns.

    original, masked : shape (n, d) and (m, d); NaN for a missing value. Any rows in any order: nothing is matched
    weights          : of the records of both, of which a record of weight 0 is left out
    raises           : DataError if the numbers of columns differ, or for weights that do not fit
    cost             : O(n d^2 + n d log n); the ranks are counted anew for each pair of columns

    Missing values: each moment uses the records that have the value, each correlation those that have both; columns
    and pairs with fewer than 2 such records in either file are left out.
    Constant columns: a mean or variance that moved away from a constant original is infinitely far off, one that did
    not is 0 off. A constant column goes with nothing, so its correlations are 0; a pair that is so in both files is
    left out. Collinear columns need no care: correlations are taken pair by pair and no matrix is inverted.
    """
    if original.shape[1] != masked.shape[1]:
        raise DataError(f"both files need the same columns; got {original.shape[1]} and {masked.shape[1]}.")
    weights = relative_weight(weights[0], len(original)), relative_weight(weights[1], len(masked))
    means, variances = [], []
    for at in range(original.shape[1]):
        before, of_before = _present(original[:, at], weights[0])
        after, of_after = _present(masked[:, at], weights[1])
        if len(before) < 2 or len(after) < 2:
            continue
        (mean, deviation), (mean_after, deviation_after) = (
            column_moments(before, of_before),
            column_moments(after, of_after),
        )
        stayed = is_constant(np.append(before, mean_after))
        means.append(0.0 if stayed else _relative(abs(mean_after - mean), deviation))
        variances.append(_relative(abs(deviation_after**2 - deviation**2), deviation**2))
    return MomentDifferences(
        mean=_median(means),
        variance=_median(variances),
        correlation=_median(_pair_differences(_pearson(original, weights[0]), _pearson(masked, weights[1]))),
        rank_correlation=_median(_pair_differences(_spearman(original, weights[0]), _spearman(masked, weights[1]))),
    )


def _present(values: FloatArray, weight: FloatArray | None) -> tuple[FloatArray, FloatArray | None]:
    """Without missing values, and without records that weigh nothing."""
    kept = ~np.isnan(values) if weight is None else ~np.isnan(values) & (weight > 0)
    return values[kept], None if weight is None else weight[kept]


def _relative(difference: float, scale: float) -> float:
    if difference == 0:
        return 0.0
    return difference / scale if scale > 0 else float("inf")


class _Correlations(NamedTuple):
    """Shapes (d, d)."""

    found: FloatArray  # NaN with a column that is constant
    records: FloatArray  # that have both values


def _pair_differences(original: _Correlations, masked: _Correlations) -> FloatArray:
    """|r - r'| of every pair of columns that can be compared: see `moment_differences` for the constant ones."""
    upper = np.triu_indices(len(original.found), k=1)
    r, s = original.found[upper], masked.found[upper]
    known = (original.records[upper] >= 2) & (masked.records[upper] >= 2)
    comparable = known & ~(np.isnan(r) & np.isnan(s))
    return np.asarray(np.abs(np.nan_to_num(r) - np.nan_to_num(s))[comparable], dtype=np.float64)


def _pearson(values: Numbers, weight: FloatArray | None) -> _Correlations:
    moments = pairwise_moments(values, weight)
    return _Correlations(moments.correlation, moments.records)


def _spearman(values: Numbers, weight: FloatArray | None) -> _Correlations:
    from sluice.utility.continuous.rank_correlation_kernel import rank_correlation  # compiled

    columns = NumberColumns.of(values)
    d = columns.shape[1]
    found, records = np.eye(d), np.zeros((d, d))
    varying = [not is_constant(_present(columns[:, at], weight)[0]) for at in range(d)]
    for i, one in enumerate(columns.columns):
        for j, other in enumerate(columns.columns[:i]):
            r, n = rank_correlation(one.codes, len(one.values), other.codes, len(other.values), weight)
            found[i, j] = found[j, i] = r if varying[i] and varying[j] else np.nan
            records[i, j] = records[j, i] = n
    return _Correlations(found, records)


def _median(values: list[float] | FloatArray) -> float:
    return float(np.median(values)) if len(values) else float("nan")

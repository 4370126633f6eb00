"""Moments: how far masking moved the means, variances and correlations of the numeric variables.

Source: Lasko and Vinterbo (2010), section II.D and Table I. Differs from it: the diagonal of the correlation matrices,
always 1, is left out, so that it cannot lower the median.
"""

from typing import Literal, NamedTuple

import numpy as np

from sluice.arrays import FloatArray
from sluice.errors import DataError
from sluice.utility.comparable_columns import is_constant
from sluice.utility.continuous.number_columns import NumberColumns, Numbers
from sluice.utility.continuous.pairwise_moments import pairwise_moments, records_in_common


class MomentDifferences(NamedTuple):
    """Median absolute differences, 0 for no change, higher is worse; NaN where there is nothing to compare."""

    mean: float  # in standard deviations of the original column, over columns
    variance: float  # relative to the variance of the original column, over columns
    correlation: float  # over pairs of columns
    rank_correlation: float  # Spearman's, over pairs of columns


def moment_differences(original: Numbers, masked: Numbers) -> MomentDifferences:
    """The differences between two files of the same columns.

    original, masked : shape (n, d) and (m, d); NaN for a missing value. Any rows in any order: nothing is matched
    raises           : DataError if the numbers of columns differ
    cost             : O(n d^2 + n d log n); the ranks are counted anew for each pair of columns

    Missing values: each moment uses the records that have the value, each correlation those that have both; columns
    and pairs with fewer than 2 such records in either file are left out.
    Constant columns: a mean or variance that moved away from a constant original is infinitely far off, one that did
    not is 0 off. A constant column goes with nothing, so its correlations are 0; a pair that is so in both files is
    left out. Collinear columns need no care: correlations are taken pair by pair and no matrix is inverted.
    """
    if original.shape[1] != masked.shape[1]:
        raise DataError(f"both files need the same columns; got {original.shape[1]} and {masked.shape[1]}.")
    means, variances = [], []
    for at in range(original.shape[1]):
        before, after = (column[~np.isnan(column)] for column in (original[:, at], masked[:, at]))
        if len(before) < 2 or len(after) < 2:
            continue
        deviation, deviation_after = _deviation(before), _deviation(after)
        stayed = is_constant(np.append(before, after.mean()))
        means.append(0.0 if stayed else _relative(abs(float(after.mean() - before.mean())), deviation))
        variances.append(_relative(abs(deviation_after**2 - deviation**2), deviation**2))
    return MomentDifferences(
        mean=_median(means),
        variance=_median(variances),
        correlation=_median(_pair_differences(original, masked, "pearson")),
        rank_correlation=_median(_pair_differences(original, masked, "spearman")),
    )


def _deviation(values: FloatArray) -> float:
    """Standard deviation, n - 1; exactly 0 for a constant."""
    return 0.0 if is_constant(values) else float(values.std(ddof=1))


def _relative(difference: float, scale: float) -> float:
    if difference == 0:
        return 0.0
    return difference / scale if scale > 0 else float("inf")


def _pair_differences(original: Numbers, masked: Numbers, method: Literal["pearson", "spearman"]) -> FloatArray:
    """|r - r'| of every pair of columns that can be compared: see `moment_differences` for the constant ones."""
    upper = np.triu_indices(original.shape[1], k=1)
    r, s = _correlations(original, method)[upper], _correlations(masked, method)[upper]
    known = (records_in_common(original)[upper] >= 2) & (records_in_common(masked)[upper] >= 2)
    comparable = known & ~(np.isnan(r) & np.isnan(s))
    return np.asarray(np.abs(np.nan_to_num(r) - np.nan_to_num(s))[comparable], dtype=np.float64)


def _correlations(values: Numbers, method: Literal["pearson", "spearman"]) -> FloatArray:
    """Shape (d, d), NaN for a column that is constant; pairwise complete."""
    if method == "pearson":
        return pairwise_moments(values).correlation
    columns = NumberColumns.of(values)
    varying = [at for at in range(values.shape[1]) if not is_constant(columns[:, at])]
    correlations = np.full((values.shape[1], values.shape[1]), np.nan)
    correlations[np.ix_(varying, varying)] = _rank_correlations(columns[:, varying])
    return correlations


def _rank_correlations(values: NumberColumns) -> FloatArray:
    """Spearman's of columns that vary, pair by pair."""
    from sluice.utility.continuous.rank_correlation_kernel import rank_correlation  # compiled

    found = np.eye(values.shape[1])
    for i, one in enumerate(values.columns):
        for j, other in enumerate(values.columns[:i]):
            found[i, j] = found[j, i] = rank_correlation(one.codes, len(one.values), other.codes, len(other.values))
    return found


def _median(values: list[float] | FloatArray) -> float:
    return float(np.median(values)) if len(values) else float("nan")

"""Moments: how far masking moved the means, variances and correlations of the numeric variables.

Source: 000_bbb18fa80793c128.txt, section II.D and Table I. Differs from it: the diagonal of the correlation matrices,
always 1, is left out, so that it cannot lower the median.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.errors import DataError
from sluice.utility.comparable_columns import is_constant

FloatArray = NDArray[np.float64]


class MomentDifferences(NamedTuple):
    """Median absolute differences, 0 for no change, higher is worse; NaN where there is nothing to compare."""

    mean: float  # in standard deviations of the original column, over columns
    variance: float  # relative to the variance of the original column, over columns
    correlation: float  # over pairs of columns
    rank_correlation: float  # Spearman's, over pairs of columns


def moment_differences(original: FloatArray, masked: FloatArray) -> MomentDifferences:
    """The differences between two files of the same columns.

    original, masked : shape (n, d) and (m, d); NaN for a missing value. Any rows in any order: nothing is matched
    raises           : DataError if the numbers of columns differ
    cost             : O(n d^2 + n d log n); with missing values the ranks are taken anew for each pair of columns

    Missing values: each moment uses the records that have the value, each correlation those that have both.
    Constant columns: a mean or variance that moved away from a constant original is infinitely far off, one that did
    not is 0 off. A constant column goes with nothing, so its correlations are 0; a pair of columns of which one is
    constant (or always missing) in both files is left out. Correlations are taken pair by pair and no matrix is
    inverted, so collinear columns need no care.
    """
    if original.shape[1] != masked.shape[1]:
        raise DataError(f"both files need the same columns; got {original.shape[1]} and {masked.shape[1]}.")
    means, variances = [], []
    for before, after in zip(original.T, masked.T, strict=True):
        before, after = before[~np.isnan(before)], after[~np.isnan(after)]
        if len(before) < 2 or len(after) < 2:
            continue
        spread, spread_after = _spread(before), _spread(after)
        stayed = is_constant(np.append(before, after.mean()))
        means.append(0.0 if stayed else _relative(abs(float(after.mean() - before.mean())), spread))
        variances.append(_relative(abs(spread_after**2 - spread**2), spread**2))
    return MomentDifferences(
        mean=_median(means),
        variance=_median(variances),
        correlation=_median(_pair_differences(original, masked, "pearson")),
        rank_correlation=_median(_pair_differences(original, masked, "spearman")),
    )


def _spread(values: FloatArray) -> float:
    """Standard deviation, n - 1; exactly 0 for a constant."""
    return 0.0 if is_constant(values) else float(values.std(ddof=1))


def _relative(difference: float, scale: float) -> float:
    if difference == 0:
        return 0.0
    return difference / scale if scale > 0 else float("inf")


def _pair_differences(original: FloatArray, masked: FloatArray, method: str) -> FloatArray:
    """|r - r'| of every pair of columns that varies in at least one of the files."""
    before, after = _correlations(original, method), _correlations(masked, method)
    upper = np.triu_indices(original.shape[1], k=1)
    r, s = before[upper], after[upper]
    return np.asarray(np.abs(np.nan_to_num(r) - np.nan_to_num(s))[~(np.isnan(r) & np.isnan(s))], dtype=np.float64)


def _correlations(values: FloatArray, method: str) -> FloatArray:
    """Shape (d, d), NaN for a column that is constant; pairwise complete."""
    varying = np.array([not is_constant(column) for column in values.T], dtype=bool)
    correlations = np.full((values.shape[1], values.shape[1]), np.nan)
    if varying.any():
        frame = pd.DataFrame(values[:, varying])
        if method == "spearman" and not np.isnan(values[:, varying]).any():
            frame, method = frame.rank(), "pearson"  # the same, and fast
        correlations[np.ix_(varying, varying)] = (
            frame.corr(min_periods=2) if method == "pearson" else frame.corr(method="spearman", min_periods=2)
        ).to_numpy()
    return correlations


def _median(values: list[float] | FloatArray) -> float:
    return float(np.median(values)) if len(values) else float("nan")

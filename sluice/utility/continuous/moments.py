"""Moments: how far masking moved the means, variances and correlations of the numeric variables.

Source: Lasko and Vinterbo (2010), section II.D and Table I. Differs from it: the diagonal of the correlation matrices,
always 1, is left out, so that it cannot lower the median.

Also the moments that other measures of numbers start from: mean and standard deviation of one column, and covariances
and correlations of many columns at once, each over the records that have both; all weighted where records have weights.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray
from sluice.ground.errors import DataError
from sluice.utility.continuous.released_numbers import NumberColumns, Numbers
from sluice.utility.record_weights import UNWEIGHTED, Weights, relative_weight

_BLOCK = 1 << 15  # records at a time, so that what a product reads lies in the cache
NEGLIGIBLE = 1e-12  # of the largest that a moment can be: what is smaller is a rounding error, and counts as 0


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


def is_constant(values: FloatArray) -> bool:
    """True when the values, shape (n,), do not vary beyond a rounding error, or there is none. NaN is passed over."""
    present = values[~np.isnan(values)]
    return len(present) == 0 or bool(np.ptp(present) <= 1e-12 * np.abs(present).max())


class PairwiseMoments(NamedTuple):
    """Shapes (d,) and (d, d)."""

    records: FloatArray  # that have both values and a weight; on the diagonal, that have the value
    effective: FloatArray  # records of equal weight that would tell as much (Kish 1965); without weights the records
    mean: FloatArray  # NaN for a column without values
    covariance: FloatArray  # by n - 1; NaN for fewer than 2 records, exactly 0 with a constant column
    correlation: FloatArray  # NaN with a constant column, too; 1 on the diagonal


def pairwise_moments(values: Numbers, weight: FloatArray | None = None) -> PairwiseMoments:
    """The moments of every pair of columns.

    values : shape (n, d), finite, or NaN for a missing value: each pair uses the records that have both
    weight : (n,), finite and not negative, of which a record of weight 0 is left out; None: each record weighs 1
    raises : DataError for weights that do not fit
    cost   : O(n d^2), as products of matrices, with memory of a few thousand records beside the file

    A weighted covariance is that of the population of the weights' sum, times n / (n - 1) with n the records, so that
    it does not depend on the weights' unit and is the usual one where all are equal.

    With missing values the correlations come from different records and need not be those of any one file: their
    matrix can have eigenvalues below 0. A column is constant when it varies by no more than a rounding error.
    """
    weight = relative_weight(weight, len(values))
    d = values.shape[1]
    mean, constant = _means(values, weight)
    records, total, total_of_squares, sums, squares, products = (np.zeros((d, d)) for _ in range(6))
    for centred, present, w in centred_blocks(values, np.nan_to_num(mean), weight=weight):
        if w is None:
            weighted = centred
            products += centred.T @ centred
        else:
            weighted = centred * w
            root = centred * np.sqrt(w)
            products += root.T @ root  # of one matrix with itself, so that it is symmetric to the last bit
        if present.all():
            records += len(centred)
            total += len(centred) if w is None else w.sum()
            total_of_squares += len(centred) if w is None else (w**2).sum()
            sums += weighted.sum(axis=0)[:, np.newaxis]
            squares += (weighted * centred).sum(axis=0)[:, np.newaxis]
            continue
        held = present.astype(np.float64)
        both = held.T @ held
        records += both
        total += both if w is None else held.T @ (held * w)
        total_of_squares += both if w is None else held.T @ (held * w**2)
        sums += weighted.T @ held  # of column i over the records that have j
        squares += (weighted * centred).T @ held
    with np.errstate(divide="ignore", invalid="ignore"):
        many = np.where(records >= 2, total, np.nan)
        freedom = many - many / records
        covariance = (products - sums * sums.T / many) / freedom
        variance = (squares - sums**2 / many) / freedom  # of column i over the records that have j
        effective = np.where(records > 0, total**2 / total_of_squares, 0.0)
        variance = np.where(variance <= NEGLIGIBLE * np.diagonal(variance)[:, np.newaxis], 0.0, variance)
        covariance = np.where(np.logical_or.outer(constant, constant) & (records >= 2), 0.0, covariance)
        scale = np.sqrt(variance * variance.T)
        correlation = np.clip(covariance / np.where(scale > 0, scale, np.nan), -1, 1)
    correlation[constant, :] = correlation[:, constant] = np.nan
    np.fill_diagonal(correlation, np.where(constant, np.nan, 1.0))
    return PairwiseMoments(records, effective, mean, covariance, correlation)


def blocks(records: int) -> Iterator[slice]:
    """The rows of a file, some at a time."""
    for start in range(0, records, _BLOCK):
        yield slice(start, start + _BLOCK)


def centred_blocks(
    values: Numbers, centre: FloatArray, scale: float | FloatArray = 1.0, weight: FloatArray | None = None
) -> Iterator[tuple[FloatArray, BoolArray, FloatArray | None]]:
    """Blocks of b records as (x - centre) / scale, 0 where missing; where a value is present; the weights, (b, 1).

    Of a record that weighs nothing no value is present.
    """
    for rows in blocks(len(values)):
        block = values[rows]
        w = None if weight is None else weight[rows, np.newaxis]
        present = ~np.isnan(block) if w is None else ~np.isnan(block) & (w > 0)
        yield np.where(present, (block - centre) / scale, 0.0), present, w


def _means(values: Numbers, weight: FloatArray | None) -> tuple[FloatArray, BoolArray]:
    """Column means of the values that are present, to the last bit of a constant, and which columns are constant."""
    d = values.shape[1]
    count, total = np.zeros(d), np.zeros(d)
    least, most = np.full(d, np.inf), np.full(d, -np.inf)
    for rows in blocks(len(values)):
        block = values[rows]
        present = ~np.isnan(block)
        if weight is None:
            count += present.sum(axis=0)
            total += block.sum(axis=0, where=present)
        else:
            w = weight[rows, np.newaxis]
            present &= w > 0
            count += np.where(present, w, 0.0).sum(axis=0)
            total += (block * w).sum(axis=0, where=present)
        least = np.fmin(least, block.min(axis=0, where=present, initial=np.inf))
        most = np.fmax(most, block.max(axis=0, where=present, initial=-np.inf))
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(least == most, least, total / np.where(count > 0, count, np.nan))
        constant = (count == 0) | (most - least <= NEGLIGIBLE * np.maximum(np.abs(least), np.abs(most)))
    return mean, np.asarray(constant, dtype=bool)


class ColumnMoments(NamedTuple):
    mean: float
    deviation: float  # by n - 1, with n the records; exactly 0 for a constant


def column_moments(values: FloatArray, weight: FloatArray | None = None) -> ColumnMoments:
    """The moments of a column of at least 2 values.

    values : shape (n,), without missing values
    weight : (n,), finite and above 0; None: each record weighs 1. The deviation is that of `pairwise_moments`
    """
    constant = is_constant(values)
    if weight is None:
        return ColumnMoments(float(values.mean()), 0.0 if constant else float(values.std(ddof=1)))
    mean = float(np.average(values, weights=weight))
    variance = float(np.average((values - mean) ** 2, weights=weight)) * len(values) / (len(values) - 1)
    return ColumnMoments(mean, 0.0 if constant else float(np.sqrt(variance)))

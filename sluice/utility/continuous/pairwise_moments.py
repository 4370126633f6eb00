"""Pairwise moments: covariances and correlations of many columns at once, each over the records that have both."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray
from sluice.utility.continuous.number_columns import Numbers
from sluice.utility.record_weights import relative_weight

_BLOCK = 1 << 15  # records at a time, so that what a product reads lies in the cache
NEGLIGIBLE = 1e-12  # of the largest that a moment can be: what is smaller is a rounding error, and counts as 0


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

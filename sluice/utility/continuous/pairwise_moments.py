"""Pairwise moments: covariances and correlations of many columns at once, each over the records that have both."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sluice.arrays import BoolArray, FloatArray
from sluice.utility.continuous.number_columns import Numbers

_BLOCK = 1 << 15  # records at a time, so that what a product reads lies in the cache
NEGLIGIBLE = 1e-12  # of the largest that a moment can be: what is smaller is a rounding error, and counts as 0


class PairwiseMoments(NamedTuple):
    """Shapes (d,) and (d, d)."""

    records: FloatArray  # that have both values; on the diagonal, that have the value
    mean: FloatArray  # NaN for a column without values
    covariance: FloatArray  # n - 1; NaN for fewer than 2 records, exactly 0 with a constant column
    correlation: FloatArray  # NaN with a constant column, too; 1 on the diagonal


def pairwise_moments(values: Numbers) -> PairwiseMoments:
    """The moments of every pair of columns.

    values : shape (n, d), finite, or NaN for a missing value: each pair uses the records that have both
    cost   : O(n d^2), as products of matrices, with memory of a few thousand records beside the file

    With missing values the correlations come from different records and need not be those of any one file: their
    matrix can have eigenvalues below 0. A column is constant when it varies by no more than a rounding error.
    """
    d = values.shape[1]
    mean, constant = _means(values)
    records, sums, squares, products = (np.zeros((d, d)) for _ in range(4))
    for centred, present in centred_blocks(values, np.nan_to_num(mean)):
        products += centred.T @ centred
        if present.all():
            records += len(centred)
            sums += centred.sum(axis=0)[:, np.newaxis]
            squares += (centred**2).sum(axis=0)[:, np.newaxis]
            continue
        held = present.astype(np.float64)
        records += held.T @ held
        sums += centred.T @ held  # of column i over the records that have j
        squares += (centred**2).T @ held
    with np.errstate(divide="ignore", invalid="ignore"):
        many = np.where(records >= 2, records, np.nan)
        covariance = (products - sums * sums.T / many) / (many - 1)
        variance = (squares - sums**2 / many) / (many - 1)  # of column i over the records that have j
        variance = np.where(variance <= NEGLIGIBLE * np.diagonal(variance)[:, np.newaxis], 0.0, variance)
        covariance = np.where(np.logical_or.outer(constant, constant) & (records >= 2), 0.0, covariance)
        scale = np.sqrt(variance * variance.T)
        correlation = np.clip(covariance / np.where(scale > 0, scale, np.nan), -1, 1)
    correlation[constant, :] = correlation[:, constant] = np.nan
    np.fill_diagonal(correlation, np.where(constant, np.nan, 1.0))
    return PairwiseMoments(records, mean, covariance, correlation)


def records_in_common(values: Numbers) -> FloatArray:
    """Shape (d, d): for each pair of columns, the number of records that have both."""
    found = np.zeros((values.shape[1],) * 2)
    for rows in blocks(len(values)):
        present = (~np.isnan(values[rows])).astype(np.float64)
        found += present.T @ present
    return found


def blocks(records: int) -> Iterator[slice]:
    """The rows of a file, some at a time."""
    for start in range(0, records, _BLOCK):
        yield slice(start, start + _BLOCK)


def centred_blocks(
    values: Numbers, centre: FloatArray, scale: float | FloatArray = 1.0
) -> Iterator[tuple[FloatArray, BoolArray]]:
    """Blocks of records as (x - centre) / scale, 0 where missing, and where a value is present."""
    for rows in blocks(len(values)):
        block = values[rows]
        present = ~np.isnan(block)
        yield np.where(present, (block - centre) / scale, 0.0), present


def _means(values: Numbers) -> tuple[FloatArray, BoolArray]:
    """Column means of the values that are present, to the last bit of a constant, and which columns are constant."""
    d = values.shape[1]
    count, total = np.zeros(d), np.zeros(d)
    least, most = np.full(d, np.inf), np.full(d, -np.inf)
    for rows in blocks(len(values)):
        block = values[rows]
        present = ~np.isnan(block)
        count += present.sum(axis=0)
        total += block.sum(axis=0, where=present)
        least = np.fmin(least, block.min(axis=0, where=present, initial=np.inf))
        most = np.fmax(most, block.max(axis=0, where=present, initial=-np.inf))
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(least == most, least, total / np.where(count > 0, count, np.nan))
        constant = (count == 0) | (most - least <= NEGLIGIBLE * np.maximum(np.abs(least), np.abs(most)))
    return mean, np.asarray(constant, dtype=bool)

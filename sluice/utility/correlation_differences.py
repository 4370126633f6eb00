"""Correlation differences: what goes together in the original and in the masked file, pair by pair.

Sources: Pearson's r; Kendall (1945), tau-b; Cramer (1946), V. Numbers are compared as `released_numbers` reads them, a
group by the mean of what it may stand for; V is of all variables on common bins of the unrecoded original.

All three are of the records that have both values: with missing values as a category, V would be large where the same
few records lost both. What suppression costs, the tables of pairs tell.

A variable that is constant, or was removed, goes with nothing: where the other file has a figure, its figure is 0.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.utility.continuous.pairwise_moments import PairwiseMoments, pairwise_moments
from sluice.utility.continuous.released_numbers import ReleasedNumbers
from sluice.utility.kendall import half_width, kendall_tau
from sluice.utility.marginals import MarginalTables
from sluice.utility.record_weights import UNWEIGHTED, Weights, effective_records

Kind = Literal["pearson", "kendall", "cramers_v"]

_MOST_RECORDS = 50_000


@dataclass(frozen=True)
class CorrelationDifferences:
    """One measure of what goes together.

    names            : d variables
    original, masked : (d, d), symmetric; -1 to 1, V 0 to 1. NaN where neither file has a figure, and on the diagonal
    records          : of each file that were drawn to compute it; None: all were used
    margin           : half of a 95 % interval of each figure, at most, where records were drawn
    """

    kind: Kind
    names: tuple[str, ...]
    original: FloatArray
    masked: FloatArray
    records: tuple[int, int] | None = None
    margin: float | None = None

    @property
    def mean(self) -> float:
        """The mean absolute difference over pairs of variables, 0 to 2; higher is worse. NaN without any pair."""
        found = np.abs(self.original - self.masked)[np.triu_indices(len(self.names), 1)]
        found = found[~np.isnan(found)]
        return float(found.mean()) if len(found) else float("nan")

    @property
    def pairs(self) -> int:
        """Pairs of variables that have a figure."""
        return int(np.count_nonzero(~np.isnan(self.original)) // 2)

    def worst(self, most: int) -> tuple[tuple[str, str, float, float], ...]:
        """The pairs that moved most: both names, the original's figure, the masked one."""
        rows, columns = np.triu_indices(len(self.names), 1)
        moved = np.abs(self.original - self.masked)[rows, columns]
        order = [at for at in np.argsort(-moved, kind="stable").tolist() if not np.isnan(moved[at])][:most]
        return tuple(
            (self.names[i], self.names[j], float(self.original[i, j]), float(self.masked[i, j]))
            for i, j in ((rows[at], columns[at]) for at in order)
        )


def pearson_differences(
    numbers: ReleasedNumbers,
    weights: Weights = UNWEIGHTED,
    *,
    moments: tuple[PairwiseMoments, PairwiseMoments] | None = None,
) -> CorrelationDifferences:
    """Pearson's r of every pair of numbers, of the records that have both.

    weights : of the records of both files
    moments : of both files, where they are known already
    cost    : O(n d^2)
    """
    files = numbers.original, numbers.masked
    before, after = moments or (pairwise_moments(files[0], weights[0]), pairwise_moments(files[1], weights[1]))
    return CorrelationDifferences("pearson", numbers.names, *_comparable(before.correlation, after.correlation))


def kendall_differences(
    numbers: ReleasedNumbers, rng: np.random.Generator, most: int = _MOST_RECORDS, weights: Weights = UNWEIGHTED
) -> CorrelationDifferences:
    """Kendall's tau-b of every pair of numbers.

    weights   : of the records of both files; the margin is that of the effective number of those drawn
    rng, most : of a file of more records than `most`, so many are drawn; `margin` says what that may change. Files of
                one length are drawn alike, so that the records of both are the same where they are in one order
    cost      : O(n d^2 log n), see `kendall_tau`
    """
    files = (numbers.original, numbers.masked)
    n, m = (len(file) for file in files)
    drawn = None
    if max(n, m) > most:
        rows = [np.sort(rng.permutation(n)[:most])]
        rows.append(rows[0] if n == m else np.sort(rng.permutation(m)[:most]))
        files = files[0][rows[0]], files[1][rows[1]]
        weights = _rows(weights[0], rows[0]), _rows(weights[1], rows[1])
        drawn = len(files[0]), len(files[1])
    compared = _comparable(*(kendall_tau(file, weight) for file, weight in zip(files, weights, strict=True)))
    margin = None
    if drawn is not None:
        margin = half_width(min(effective_records(w, n) for w, n in zip(weights, drawn, strict=True)))
    return CorrelationDifferences("kendall", numbers.names, *compared, drawn, margin)


def _rows(weight: FloatArray | None, rows: IntArray) -> FloatArray | None:
    return None if weight is None else weight[rows]


def cramers_v_differences(tables: MarginalTables) -> CorrelationDifferences:
    """Cramer's V of every pair of variables, of the records that have both.

    tables : of two variables, all of them; the last bin of each is for missing values
    cost   : O(n d^2)
    """
    d = len(tables.names)
    before, after = np.full((d, d), np.nan), np.full((d, d), np.nan)
    for (i, j), p, q in tables.shares():
        before[i, j] = before[j, i] = cramers_v(p[:-1, :-1])
        after[i, j] = after[j, i] = cramers_v(q[:-1, :-1])
    return CorrelationDifferences("cramers_v", tables.names, *_comparable(before, after))


def cramers_v(table: FloatArray) -> float:
    """sqrt(chi-square / (n (min(rows, columns) - 1))) of a table of counts or shares.

    Empty rows and columns are left out.

    returns : 0 to 1; NaN where a single row or column is left, or the table is unknown
    """
    if np.isnan(table).any():
        return float("nan")
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        return float("nan")
    table = table / table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    return float(min(1.0, np.sqrt(((table - expected) ** 2 / expected).sum() / (min(table.shape) - 1))))


def _comparable(before: FloatArray, after: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What one file alone has no figure of is 0 there."""
    known = ~(np.isnan(before) & np.isnan(after))
    np.fill_diagonal(known, False)
    return np.where(known, np.nan_to_num(before), np.nan), np.where(known, np.nan_to_num(after), np.nan)

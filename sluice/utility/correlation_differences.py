"""Correlation differences: what goes together in the original and in the masked file, pair by pair.

Sources: Pearson's r; Kendall (1945), tau-b; Cramer (1946), V. Numbers are compared as `released_numbers` reads them, a
group by the mean of what it may stand for; V is of all variables on common bins of the unrecoded original.

All three are of the records that have both values: with missing values as a category, V would be large where the same
few records lost both. What suppression costs, the tables of pairs tell.

A variable that is constant, or was removed, goes with nothing: where the other file has a figure, its figure is 0.

tau-b is how much more often two variables rise together than apart, over pairs of records, which a sort counts (Knight
1966).
"""

from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.utility.continuous.moments import PairwiseMoments, pairwise_moments
from sluice.utility.continuous.released_numbers import Numbers, ReleasedNumbers
from sluice.utility.marginals import MarginalTables
from sluice.utility.record_weights import UNWEIGHTED, Weights, effective_records, relative_weight

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


def kendall_tau(values: Numbers, weight: FloatArray | None = None) -> FloatArray:
    """tau-b of every pair of columns, shape (d, d), -1 to 1; 1 on the diagonal.

    values  : shape (n, d), NaN for a missing value: each pair uses the records that have both
    weight  : (n,), finite and not negative: a pair of records weighs the product of theirs, so that tau is that of the
              population in which each stands for so many; a record of weight 0 is left out. None: every pair weighs 1
    returns : NaN where fewer than 2 records have both, or one of the two is constant among these
    raises  : DataError for weights that do not fit
    cost    : O(d^2 n log n): 190 pairs of 50,000 records take about 1 s
    """
    from sluice.utility.kendall_kernel import tau_b  # compiled: loaded where it is needed

    d, weight = values.shape[1], relative_weight(weight, len(values))
    kept = slice(None) if weight is None else weight > 0
    weight = None if weight is None else weight[kept]
    ranks, orders, sizes = [], [], []
    for at in range(d):
        codes, distinct = pd.factorize(values[:, at][kept], sort=True)  # -1 for a missing value
        ranks.append(np.ascontiguousarray(codes, dtype=np.int32))
        orders.append(np.argsort(codes, kind="stable"))
        sizes.append(len(distinct))
    found = np.full((d, d), np.nan)
    for i in range(d):
        found[i, i] = np.nan if sizes[i] < 2 else 1.0
        for j in range(i):
            found[i, j] = found[j, i] = tau_b(ranks[i], ranks[j], orders[j], sizes[i], weight)
    return found


def half_width(records: float) -> float:
    """Half of a 95 % interval of tau from a random sample of so many (effective) records, at most: 1.96 sqrt(2 / n).

    Source: Kendall (1970), section 4.12, by whom the variance is at most 2 (1 - tau^2) / n.
    """
    return 1.959963984540054 * sqrt(2 / records) if records else float("nan")

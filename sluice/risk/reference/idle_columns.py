"""Idle columns: released columns that tell nothing of any other, and what is left of them but a name.

An income, a weight, a date go with something else in the file. The number of a case, a hash, a code under a secret
function go with nothing, and yet are different for nearly everybody: two known people give such a function away, or
whoever made the file has it. No measure of closeness sees it, for it is no order.

Source: Article 29 Data Protection Working Party (2014), section 4, on pseudonyms made by encryption, hashes and tokens,
which leave people as easy to single out as before.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.comparable_values import plain_values
from sluice.risk.row_groups import row_groups, value_ranks

Columns = Mapping[str, "pd.Series[Any]"]

_BINS = 12
_SIGMAS = 6.0  # by which two columns depend on each other: of some thousand pairs none does so by chance
_TIED, _LOOSELY_TIED = 0.8, 0.3  # correlations of ranks, and of values
_SMOOTH = 0.2  # of what two numbers lie apart, that of neighbours' numbers lie apart under a function
_APART = 0.382  # of the numbers lie between two that are far from each other, whatever part of them a function repeats
_ALIKE = 0.1  # distance of two distributions
_EVEN = 0.1  # from an even one
_KNOWN = 0.9  # of the values are the original's
_DIFFERENT = 0.5  # values a record
_FEW = 20  # values: no part of a number that names somebody
_GAP = 1.2  # of the usual gap, the mean one in a running number; where numbers are drawn evenly it is 1.44


def idle_columns(columns: Columns) -> set[str]:
    """The names of those on which no other column depends, as far as tables of the two and their ranks show.

    columns : typed, all of one length
    cost    : O(d^2 n) for d columns
    """
    names = list(columns)
    binned = [_binned(columns[name]) for name in names]
    ranked = np.column_stack([_ranks(columns[name]) for name in names])
    n = len(ranked)
    ranked = ranked - ranked.mean(axis=0)
    norm = np.sqrt((ranked**2).sum(axis=0))
    together = np.abs(ranked.T @ ranked) / np.where(norm > 0, norm, np.inf)[:, None] / np.where(norm > 0, norm, np.inf)
    depends = together * np.sqrt(n) > _SIGMAS
    np.fill_diagonal(depends, False)
    for one in range(len(names)):
        for two in range(one):
            if not (depends[one].any() and depends[two].any()) and _dependent(binned[one], binned[two]):
                depends[one, two] = depends[two, one] = True
    return {name for name, found in zip(names, depends.any(axis=1), strict=True) if not found}


def _dependent(one: IntArray, two: IntArray) -> bool:
    table = np.zeros((int(one.max()) + 1, int(two.max()) + 1))
    np.add.at(table, (one, two), 1)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    rows, cols = table.shape
    if rows < 2 or cols < 2:
        return False
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    free = (rows - 1) * (cols - 1)
    # Cells of which hardly any record is expected make chi-square wild: the variance is corrected for them.
    squared = float(((table - expected) ** 2 / expected).sum())
    variance = 2 * free + float((1 / expected).sum())
    return bool(squared - free > _SIGMAS * np.sqrt(variance))


def _binned(column: "pd.Series[Any]") -> IntArray:
    """A column in a dozen bins of about as many records; its most frequent values have bins of their own."""
    codes, levels = value_ranks(_ordered(column))
    if levels <= _BINS:
        return codes
    counts = np.bincount(codes, minlength=levels)
    cell = np.minimum((np.cumsum(counts) - counts / 2) * _BINS // len(codes), _BINS - 1).astype(np.int64)
    heaps = np.flatnonzero(counts * _BINS > len(codes))
    cell[heaps] = _BINS + np.arange(len(heaps))
    return value_ranks(cell[codes])[0]


def _ranks(column: "pd.Series[Any]") -> FloatArray:
    return np.asarray(pd.Series(_ordered(column)).rank(), dtype=np.float64)


def _ordered(column: "pd.Series[Any]") -> npt.NDArray[Any]:
    """Its values as numbers in their order, a missing one last; labels in the order of their texts."""
    values = plain_values(column)
    if values.dtype.kind == "f":
        return np.where(np.isnan(values), np.inf, values)
    texts, _ = pd.factorize(values, use_na_sentinel=True)
    labels = pd.unique(values[~pd.isna(values)])
    place = np.append(np.argsort(np.argsort(labels.astype(str))), len(labels))
    return np.asarray(place[texts], dtype=np.float64)


def is_tied(released: "pd.Series[Any]", original: "pd.Series[Any]") -> bool:
    """Whether a released column is its original one but for noise, grouping or scale, so that measures of closeness
    see it; row i of both the same record. A function that is no order, such as the rest of a division, is not.

    cost : a sort
    """
    before, after = _ordered(original), _ordered(released)
    if (before == after).mean() >= _TIED or _correlation(_ranks(original), _ranks(released)) >= _TIED:
        return True
    both = np.isfinite(before) & np.isfinite(after)
    if _correlation(before[both], after[both]) < _LOOSELY_TIED:
        return False
    values = after[both][np.argsort(before[both], kind="stable")]
    near, far = np.abs(np.diff(values)), np.abs(values - np.roll(values, round(_APART * len(values))))
    return bool(np.median(near) > _SMOOTH * np.median(far))  # noise; a function takes near numbers to near ones


def _correlation(one: FloatArray, two: FloatArray) -> float:
    if len(one) < 3 or not one.std() or not two.std():
        return 0.0
    return float(np.abs(np.corrcoef(one, two)[0, 1]))


def is_drawn_alike(released: "pd.Series[Any]", original: "pd.Series[Any]") -> bool:
    """Whether a released column may be the original one, permuted or drawn anew: of the same values, or distributed as
    they are and not evenly, as ciphers are. One of different values without gaps is a running number, and one of some
    dozens that are equally frequent may be a part of such.

    released, original : of any number of records, in any order
    """
    after, before = plain_values(released), plain_values(original)
    after, before = after[~pd.isna(after)], before[~pd.isna(before)]
    if not len(after) or not len(before):
        return False
    distinct, is_number = len(pd.unique(after)), after.dtype.kind == before.dtype.kind == "f"
    if distinct > _DIFFERENT * len(after) and (not is_number or _is_running(after)):
        return False
    if is_number and _FEW < distinct <= _DIFFERENT * len(after) and _is_even(after):
        return False  # a part of a number that was cut up
    if is_number:
        return float(np.isin(after, before).mean()) >= _KNOWN or (_are_alike(after, before) and not _is_even(after))
    return float(np.isin(after.astype(str), before.astype(str)).mean()) >= _KNOWN


def _is_running(values: FloatArray) -> bool:
    gaps = np.diff(np.unique(values))
    return bool(len(gaps)) and float(gaps.mean()) <= _GAP * float(np.median(gaps))


def _are_alike(one: FloatArray, two: FloatArray) -> bool:
    one, two = np.sort(one), np.sort(two)
    both = np.concatenate([one, two])
    shares = [np.searchsorted(each, both, "right") / len(each) for each in (one, two)]
    return float(np.abs(shares[0] - shares[1]).max()) <= _ALIKE


def _is_even(values: FloatArray) -> bool:
    """Whether numbers lie evenly between the smallest and the largest."""
    ordered = np.sort(values)
    place = (ordered - ordered[0]) / ((ordered[-1] - ordered[0]) or 1.0)
    return float(np.abs(np.arange(1, len(place) + 1) / len(place) - place).max()) <= _EVEN


def alone_share(columns: "Columns | pd.DataFrame", names: Sequence[str]) -> float:
    """The share of the records that are alone with their values of these columns together.

    cost : a sort of the records
    """
    groups = row_groups(plain_values(columns[name]) for name in names)
    return float((groups.size == 1).sum() / max(1, len(groups.of)))

"""Divergence: how far the distribution of a variable in one file lies from that in another, and its entropy.

Source: Yamazoe and Omote (2021), section 5.2, "Basic analysis": information entropy and Kullback-Leibler divergence of
each attribute. Added to the source: three distances that stay finite (Lin 1991 for the Jensen-Shannon divergence), and
a stated treatment of empty bins.

A distribution is given by its counts in bins, which may be sums of probabilities. The source reads a small divergence
as a risk: whoever knows how the original values are distributed can then tell which masked value stands for which. For
the data's user the same figure is a loss that grows the other way.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.errors import DataError

Divergence = Literal["kullback_leibler", "jensen_shannon", "hellinger", "total_variation"]


def entropy(counts: FloatArray) -> float:
    """Bits needed to tell a record's bin: 0 when all share one, log2(b) when b bins are equally frequent.

    counts : shape (b,), not negative, not all 0; an empty bin adds nothing
    raises : DataError
    """
    share = _shares(counts, 0.0)
    present = share[share > 0]
    return max(0.0, float(-(present * np.log2(present)).sum()))


def divergence(which: Divergence, original: FloatArray, masked: FloatArray, pseudo_count: float = 0.0) -> float:
    """How far the masked distribution q lies from the original one p; 0 when they are the same.

    kullback_leibler : sum p log2(p / q), in bits, from 0 without bound. An empty bin of the original adds nothing; one
                       of the masked file that the original fills makes it infinite, unless `pseudo_count` is above 0
    jensen_shannon   : mean divergence of p and q from their mean, in bits, 0 to 1
    hellinger        : sqrt(1 - sum sqrt(p q)), 0 to 1
    total_variation  : half the sum of |p - q|, 0 to 1: the share of records that would have to change bin

    original, masked : shape (b,), counts in the same bins, not negative, not all 0
    pseudo_count     : added to every bin of both files; 0.5 is Krichevsky and Trofimov's. Bins empty in both count too
    raises           : DataError
    cost             : O(b)
    """
    if np.shape(original) != np.shape(masked):
        raise DataError(f"both distributions must have the same bins; got {len(original)} and {len(masked)}")
    p, q = _shares(original, pseudo_count), _shares(masked, pseudo_count)
    if which == "kullback_leibler":
        return _relative_entropy(p, q)
    if which == "jensen_shannon":
        middle = (p + q) / 2
        return min(1.0, (_relative_entropy(p, middle) + _relative_entropy(q, middle)) / 2)
    if which == "hellinger":
        return float(
            np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2)
        )  # as 1 - sum sqrt(pq), and exactly 0 for p = q
    return min(1.0, float(np.abs(p - q).sum() / 2))


def _relative_entropy(p: FloatArray, q: FloatArray) -> float:
    at = p > 0
    with np.errstate(divide="ignore"):
        return max(0.0, float((p[at] * np.log2(p[at] / q[at])).sum()))


def _shares(counts: FloatArray, pseudo_count: float) -> FloatArray:
    weights = np.asarray(counts, np.float64) + pseudo_count
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise DataError("a distribution needs counts that are finite, not negative and not all 0")
    return np.asarray(weights / weights.sum())


def interval_edges(values: FloatArray, bins: int) -> FloatArray:
    """Inner edges of at most `bins` intervals that hold about equal shares of the values; strictly rising.

    values : shape (n,), finite. With no more than `bins` different ones each has an interval of its own
    """
    distinct = np.unique(values)
    if len(distinct) <= bins:
        return np.asarray((distinct[1:] + distinct[:-1]) / 2)
    return np.unique(np.quantile(values, np.arange(1, bins) / bins))


def counts_of(original: "pd.Series[Any]", masked: "pd.Series[Any] | pd.DataFrame", bins: int) -> tuple[FloatArray, ...]:
    """Counts of a variable of two files in common bins, the last of them for missing values where there are any.

    original : typed column of the original after the recodings of the plan alone
    masked   : typed column of the same kind; or, where a distribution over labels is released, one column of
               probabilities a label, named by the label
    bins     : numbers and dates fall into about so many intervals of equal shares of the original; the outer ones are
               open. Labels are bins of their own, whichever file they occur in
    raises   : DataError when one file holds numbers and the other labels
    returns  : two arrays of one shape, without bins that are empty in both
    """
    if isinstance(masked, pd.DataFrame):
        before = pd.Series(plain_values(original)).value_counts(dropna=False)
        shares = masked.fillna(0.0).sum(axis=0)
        after = pd.concat([shares, pd.Series({np.nan: float(len(masked) - shares.sum())})])
        labels = before.index.union(after.index, sort=False)
        return _filled(_in(labels, before), _in(labels, after))
    left, right = plain_values(original), plain_values(masked)
    if (left.dtype.kind == "f") != (right.dtype.kind == "f"):
        raise DataError(
            f"'{original.name}' holds numbers in one file and labels in the other; they have no common bins"
        )
    if left.dtype.kind == "f":
        edges = interval_edges(left[~np.isnan(left)], bins)
        left, right = (np.where(np.isnan(v), len(edges) + 1, np.searchsorted(edges, v, "right")) for v in (left, right))
    codes, _ = pd.factorize(np.concatenate([left, right]), use_na_sentinel=False)
    size = int(codes.max(initial=-1)) + 1
    return _filled(np.bincount(codes[: len(left)], minlength=size), np.bincount(codes[len(left) :], minlength=size))


def _in(labels: "pd.Index[Any]", counts: "Mapping[Any, Any] | pd.Series[Any]") -> FloatArray:
    return pd.Series(counts).reindex(labels, fill_value=0.0).to_numpy(np.float64)


def _filled(original: npt.NDArray[Any], masked: npt.NDArray[Any]) -> tuple[FloatArray, FloatArray]:
    held = (original > 0) | (masked > 0)
    return original[held].astype(np.float64), masked[held].astype(np.float64)

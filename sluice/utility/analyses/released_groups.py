"""Released groups: the original values that a released value may stand for.

Read off the original and the same records after the recodings alone, both of which a reader knows from the published
plan. A released value behind which no original one stands is that original value itself, if it is one.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from sluice.ground.arrays import IntArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.variables import Kind, Variable


def has_one_meaning(before: Variable, after: Variable) -> bool:
    """Whether a released value is a number or a date for itself."""
    return (before.kind.is_numeric and after.kind.is_numeric) or before.kind is after.kind is Kind.DATE


@dataclass(frozen=True)
class ReleasedGroups:
    """The released values of one variable, and what each may stand for.

    values : distinct original values, typed, the last one missing
    labels : (groups - 1,) the released values, as numbers or texts; the last group is that of a missing value
    codes  : (m,) the group of each masked value
    counts : (groups,) how many original values a group may stand for; 0 where nothing tells
    start  : (groups,) where these begin in `places`
    places : in `values`
    """

    values: "pd.Series[Any]"
    labels: "pd.Index[Any]"
    codes: IntArray
    counts: IntArray
    start: IntArray
    places: IntArray

    @classmethod
    def of(cls, original: "pd.Series[Any]", recoded: "pd.Series[Any] | None", masked: "pd.Series[Any]") -> Self:
        """original, recoded: length n, row by row the same records, None where nobody knows; masked: length m.

        cost : O(n log n + m)
        """
        values = _distinct(original)
        missing = len(values) - 1
        codes, labels = pd.factorize(plain_values(masked))
        place_of = pd.Index(plain_values(values.iloc[:missing]))
        group, place = np.zeros(0, np.int64), np.zeros(0, np.int64)
        if recoded is not None:
            label = pd.Index(labels).get_indexer(pd.Index(plain_values(recoded)))
            at = place_of.get_indexer(pd.Index(plain_values(original)))
            known = (label >= 0) & (at >= 0)
            pairs = np.unique(label[known].astype(np.int64) * len(values) + at[known])
            group, place = pairs // len(values), pairs % len(values)
        itself = place_of.get_indexer(pd.Index(labels))
        alone = np.setdiff1d(np.flatnonzero(itself >= 0), group)
        group = np.concatenate([group, alone, [len(labels)]]).astype(np.int64)
        place = np.concatenate([place, itself[alone], [missing]]).astype(np.int64)
        order = np.argsort(group, kind="stable")
        counts = np.bincount(group, minlength=len(labels) + 1).astype(np.int64)
        return cls(
            values=values,
            labels=pd.Index(labels),
            codes=np.where(codes < 0, len(labels), codes).astype(np.int64),
            counts=counts,
            start=np.cumsum(counts) - counts,
            places=place[order],
        )

    @property
    def is_single(self) -> bool:
        """Whether every group is one value."""
        return bool((self.counts == 1).all())

    @property
    def first(self) -> IntArray:
        """(groups,) the place of the first value of each; meaningless for a group of which nothing is known."""
        return self.places[np.minimum(self.start, len(self.places) - 1)]


def _distinct(column: "pd.Series[Any]") -> "pd.Series[Any]":
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = [*range(len(column.cat.categories)), -1]
        return pd.Series(pd.Categorical.from_codes(codes, dtype=column.dtype))
    present = column.dropna().drop_duplicates().reset_index(drop=True)
    return present.reindex(range(len(present) + 1))

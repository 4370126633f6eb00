"""The attack on local suppression: a value was suppressed because it was rare, so it is none of the frequent ones.

Source: Wong, Fu, Wang and Pei (2007), the minimality attack on methods that change no more than they must.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, Codes, FloatArray, IntArray
from sluice.ground.categories import codes_of
from sluice.risk.linkage.share_at_risk import share_at_risk
from sluice.risk.row_groups import row_groups
from sluice.risk.transparency.attack import Attack, Leak
from sluice.risk.transparency.pairs import Pairs, paired_share

_MOST_SETS = 50  # of keys that are looked at beside a suppressed one
_SURE = 0.5
_UNSEEN = 0.5  # of a record, for a value of which none is left


@dataclass(frozen=True)
class WhySuppressed(Attack):
    """Rule out the values with which the rest of the record would have been frequent enough to stay.

    k : how many records had to share a combination
    m : of so many of the columns
    """

    k: int
    m: int

    @property
    def knows(self) -> str:
        return f"that values were suppressed where fewer than {self.k} records shared them,"

    def play(self, pairs: Pairs) -> tuple[Leak, ...]:
        """Records that lost one value; the baseline goes by the complete records with the same rest, or by all.

        cost : O(n log n) and O(people asked x categories) for each column
        """
        names = [name for name in self.columns if name in pairs.recoded and name in pairs.masked]
        if not names:
            return (
                Leak("confident", share_at_risk(np.zeros(len(pairs.rows)), len(pairs.masked)), "no key is released"),
            )
        released = [_codes(pairs.masked[name], pairs.recoded[name]) for name in names]
        known = [_codes(pairs.recoded[name], pairs.recoded[name]) for name in names]
        lost = [(before >= 0) & (after < 0) for before, after in zip(known, released, strict=True)]
        asked = np.zeros(len(pairs.masked), np.bool_)
        asked[pairs.rows] = True
        asked &= np.add.reduce(lost, dtype=np.int64) == 1
        complete = _all_there(released)
        right, without = np.zeros(len(asked)), np.zeros(len(asked))
        for j in range(len(names)):
            others = [i for i in range(len(names)) if i != j]
            rows = np.flatnonzero(asked & lost[j])
            rows = rows[_all_there([released[i][rows] for i in others])] if others else rows
            if not len(rows):
                continue
            values = int(known[j].max()) + 1
            frequent, counts = self._frequent(released, others, j, rows, complete, values)
            share = np.bincount(released[j][released[j] >= 0], minlength=values) + _UNSEEN
            right[rows] = _sure_and_right(np.where(frequent, 0.0, share), known[j][rows])
            told = counts.sum(axis=1, keepdims=True) > 0
            without[rows] = _sure_and_right(np.where(told, counts, share), known[j][rows])
        measured = paired_share(right[pairs.rows], without[pairs.rows], len(pairs.masked))
        return (Leak("confident", measured, "which value it was that a record lost"),)

    def _frequent(
        self, released: Sequence[Codes], others: list[int], j: int, rows: IntArray, complete: BoolArray, values: int
    ) -> tuple[BoolArray, FloatArray]:
        """For each row and value, shape (rows, values): whether all sets of m columns with it would have been frequent
        enough; and the complete records that share all the row's other values."""
        frequent = np.ones((len(rows), values), np.bool_)
        for beside in islice(combinations(others, min(self.m, len(others) + 1) - 1), _MOST_SETS):
            frequent &= _counts(released, list(beside), j, rows, complete, values) >= self.k
        return frequent, _counts(released, others, j, rows, complete, values)


def _all_there(released: Sequence[Codes]) -> BoolArray:
    """Which records have a value of every column."""
    there = np.ones(len(released[0]), np.bool_)
    for codes in released:
        there &= codes >= 0
    return there


def _counts(
    released: Sequence[Codes], beside: list[int], j: int, rows: IntArray, complete: BoolArray, values: int
) -> FloatArray:
    """Complete records with the row's values of `beside` and each value of column j, shape (rows, values)."""
    rest = row_groups(released[i] for i in beside).of if beside else np.zeros(len(complete), np.int64)
    cells = np.bincount(rest[complete] * values + released[j][complete], minlength=(int(rest.max()) + 1) * values)
    return np.asarray(cells.reshape(-1, values)[rest[rows]], dtype=np.float64)


def _sure_and_right(weights: FloatArray, true: Codes) -> FloatArray:
    """1 where the likeliest value has more than half of the weight and is the true one; shape (rows,)."""
    total = weights.sum(axis=1)
    likeliest = weights.argmax(axis=1)
    sure = weights.max(axis=1) > _SURE * total
    return np.asarray(sure & (total > 0) & (likeliest == true), dtype=np.float64)


def _codes(column: "pd.Series[Any]", original: "pd.Series[Any]") -> Codes:
    """The place of each value among those of the original column, -1 where missing, in the smallest type."""
    values = pd.Index(original.dropna().unique())
    kind = np.min_scalar_type(-1 - len(values))
    if isinstance(column.dtype, pd.CategoricalDtype):
        places = values.get_indexer(pd.Index(column.cat.categories)).astype(kind)
        return np.append(places, kind.type(-1))[codes_of(column)]
    return np.asarray(np.where(column.isna(), -1, values.get_indexer(pd.Index(column)))).astype(kind)

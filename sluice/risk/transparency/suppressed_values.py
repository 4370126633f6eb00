"""The attack on local suppression: a value was suppressed because it was rare, so it is none of the frequent ones.

Source: Wong, Fu, Wang and Pei (2007), the minimality attack on methods that change no more than they must.

The attack on suppressed items: whoever knows a whole set seeks, among the released sets that it holds, the rarest.

Source: Terrovitis, Mamoulis and Kalnis (2008), section 1: an intruder who knows items of a set looks for the records
that fit. Differs from it: the intruder knows all items, and that the method takes items out and puts none in. Of the
sets that fit, one with more and rarer items is likelier to be the person's own (Fellegi and Sunter 1969).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, Codes, FloatArray, IntArray
from sluice.ground.comparable_values import codes_of
from sluice.ground.variables import Kind
from sluice.items.item_sets import ItemSets
from sluice.risk.attacks.attack_success import share_at_risk
from sluice.risk.row_groups import row_groups
from sluice.risk.transparency.attack import Attack, Leak, Pairs, paired_share
from sluice.risk.transparency.linkage import Likelihood, Linkage

if TYPE_CHECKING:
    from scipy.sparse import csr_array

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


@dataclass(frozen=True)
class SetsWithin(Linkage):
    """Take the released set with the most and rarest items of which every item is known."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.ITEMS,)

    @property
    def knows(self) -> str:
        return "that items were taken out of sets,"

    def likelihood(self, pairs: Pairs) -> Likelihood:
        """Items are taken out, and held by others, independently. O(q m) and O(common items) a column."""
        columns = [_OneColumn.of(pairs, name) for name in self.columns]

        def of(rows: IntArray) -> FloatArray:
            return np.asarray(sum(column.logs(rows) for column in columns), dtype=np.float64)

        return of


@dataclass(frozen=True)
class _OneColumn:
    """Known and released sets of one variable over the same items, as matrices of 0 and 1, and what an item speaks for.

    weights : shape (items,), by how much an item that is left makes the set likelier to be that of who is known to have
              it, against one that was taken out
    """

    known: "csr_array"
    released: "csr_array"
    weights: FloatArray

    @classmethod
    def of(cls, pairs: Pairs, name: str) -> "_OneColumn":
        separator = pairs.released[name].between_items
        known, released = ItemSets.of(pairs.recoded[name], separator), ItemSets.of(pairs.masked[name], separator)
        place = {item: code for code, item in enumerate((*known.names, *released.names))}
        left = np.clip(len(released.items) / max(len(known.items), 1), 0.001, 0.999)
        held = _matrix(released, place)
        share = np.clip(
            held.sum(axis=0) / max(len(released), 1), 0.5 / (len(released) + 1), 1 - 0.5 / (len(released) + 1)
        )
        return cls(_matrix(known, place), held, np.log(left / share) - np.log((1 - left) / (1 - share)))

    def logs(self, rows: IntArray) -> FloatArray:
        """Log-likelihood ratio of each released set given the known ones, shape (q, m), but for a constant of each."""
        common = (self.known[rows] @ self.released.T).toarray()
        return np.where(common == self.released.sum(axis=1), self.released @ self.weights, -np.inf)


def _matrix(sets: ItemSets, place: dict[str, int]) -> "csr_array":
    from scipy.sparse import csr_array

    columns = np.array([place[name] for name in sets.names], dtype=np.int64)[sets.items]
    return csr_array(
        (np.ones(len(columns)), columns, sets.starts), shape=(len(sets), max(place.values(), default=0) + 1)
    )

"""Learned variables: how much the closeness of a known and a released value speaks for one person rather than two.

Source: Fellegi and Sunter (1969), the weight of agreement: log of the probability of what is seen if both records are
one person's, over its probability if they are two people's. Differs from it: agreement is graded, the probabilities of
true pairs are counted on people whose pairs are known (an intruder who knows the published method can make such
examples), and those of other pairs are the released file's own, for each person by itself: how many released records
are as close to this very value. No scale is assumed: a value is compared by its exact equality and by its rank.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.coding import plain_values
from sluice.variables import NAMES, Kind, Variables

Levels = npt.NDArray[np.uint16]
Weights = npt.NDArray[np.float32]

MOST_LEVELS = 1024  # levels into which the released values of a number are parted; the exact values are kept beside
_FEW_VALUES = 20  # numbers of no more values are compared as categories
_BINS = 20  # bins of closeness, each with as many of the true pairs
_PAIRS_A_BIN = 15  # true pairs that a bin needs
_HEAP = 0.01  # share of the original records from which a single number is a heap, with frequencies of its own
_PRIOR = 5.0  # true pairs that the prior is worth
_QUANTILES = 50  # most groups of a number that was released as a label


@dataclass(frozen=True)
class ComparedNumber:
    """A number or date in both files."""

    name: str
    levels: int  # the last is that of missing values
    released: Levels
    exact: tuple[IntArray, IntArray] | None
    coordinates: Weights  # share of the original values below each code's value, half of the equal ones included
    level_at: FloatArray  # (levels - 1,) mean coordinate of each level
    level_of: IntArray  # (n,) the level into which the original value falls
    place: FloatArray  # (n,) coordinate of the original value, NaN where missing
    equals: IntArray  # (n,) released records of exactly this value
    ranked: FloatArray  # coordinates of the released values, in rising order
    equal: BoolArray  # (n,) whether the released value of the same row is exactly this one, or missing as well
    to: FloatArray  # (m,) coordinate of the released value, NaN where missing
    heap: IntArray  # (n,) heap of the original value: 0 missing, 1 no heap, from 2 the heaps

    @classmethod
    def of(cls, name: str, before: FloatArray, after: FloatArray) -> "ComparedNumber":
        n = len(before)
        codes, values = pd.factorize(np.concatenate([before, after]), sort=True)
        known, out = codes[:n].astype(np.int64), codes[n:].astype(np.int64)
        present, sent = known >= 0, out >= 0
        ranked = np.sort(before[present])
        places = np.searchsorted(ranked, values, "left") + np.searchsorted(ranked, values, "right")
        coordinates = places / (2.0 * max(1, len(ranked)))
        held = np.bincount(out[sent], minlength=len(values))
        # A level is a released value, or a run of them where there are too many.
        wide = int((held > 0).sum()) > MOST_LEVELS
        below = np.cumsum(held) - held  # released records of smaller values
        level = below * MOST_LEVELS // max(1, int(held.sum())) if wide else np.cumsum(held > 0) - 1
        level = np.clip(level, 0, None)
        count = int(level.max()) + 1 if len(level) else 1
        sums = np.bincount(level, coordinates * held, count)
        sizes = np.bincount(level, held, count)
        spots = np.divide(sums, sizes, out=np.full(count, np.nan), where=sizes > 0)
        shares = np.bincount(known[present], minlength=len(values))
        heaps = np.flatnonzero(shares >= max(_HEAP * n, 2 * _PAIRS_A_BIN))
        heap_of = np.ones(len(values) + 1, np.int64)
        heap_of[heaps] = np.arange(len(heaps)) + 2
        heap_of[-1] = 0
        full = np.append(coordinates, np.nan)
        return cls(
            name=name,
            levels=count + 1,
            released=np.where(sent, level[out], count).astype(np.uint16),
            exact=(known, out) if wide else None,
            coordinates=coordinates.astype(np.float32),
            level_at=spots,
            level_of=np.where(present, np.append(level, 0)[known], count),
            place=full[known],
            equals=np.append(held, (~sent).sum())[known],
            ranked=np.sort(coordinates[out[sent]]),
            equal=known == out[:n] if len(out) == n else np.zeros(n, np.bool_),
            to=full[out],
            heap=heap_of[known],
        )

    def learn(self, rows: IntArray) -> "LearnedNumber":
        at, to, equal, heap = self.place[rows], self.to[rows], self.equal[rows], self.heap[rows]
        far = np.abs(at - to)
        unequal = ~equal & ~np.isnan(far)
        bins = int(np.clip(unequal.sum() // _PAIRS_A_BIN, 1, _BINS))
        edges = np.unique(np.quantile(far[unequal], np.linspace(0, 1, bins + 1)[1:])) if unequal.any() else np.ones(1)
        # Outcomes: equal, in each bin, beyond the last edge, one of both missing.
        outcome = np.where(np.isnan(far), len(edges) + 2, np.searchsorted(edges, far) + 1)
        outcome[equal] = 0
        outcomes, groups = len(edges) + 3, int(self.heap.max()) + 1
        counts = np.bincount(heap * outcomes + outcome, minlength=groups * outcomes).reshape(groups, outcomes)
        pooled = (counts.sum(axis=0) + 0.5) / (counts.sum() + 0.5 * outcomes)
        chances = (counts + _PRIOR * pooled) / (counts.sum(axis=1, keepdims=True) + _PRIOR)
        return LearnedNumber(self, edges, chances)


@dataclass(frozen=True)
class LearnedNumber:
    """Closeness of one number: how often true pairs are that close, over how many released records are."""

    compared: ComparedNumber
    upper: FloatArray  # (bins - 1,) ends of the bins; beyond the last one more
    chances: FloatArray  # (heaps, outcomes) of true pairs

    @property
    def edges(self) -> Weights:
        return self.upper.astype(np.float32)

    def _outcomes(self, rows: IntArray) -> Weights:
        """Weight of each outcome for each person, shape (q, outcomes)."""
        own, m = self.compared, len(self.compared.released)
        at, equals = own.place[rows][:, None], own.equals[rows]
        missing = np.isnan(at[:, 0])
        within = np.searchsorted(own.ranked, at + self.upper, "right") - np.searchsorted(
            own.ranked, at - self.upper, "left"
        )
        inside = np.column_stack([equals, within, np.full(len(rows), len(own.ranked))])
        held = np.diff(inside, axis=1)
        gone = m - len(own.ranked)
        others = np.where(missing, len(own.ranked), gone)
        counts = np.column_stack([equals, held, others])
        counts[missing, 1:-1] = 0
        return np.asarray(np.log(self.chances[own.heap[rows]] * m / np.maximum(counts, 1)), dtype=np.float32)

    def weights(self, rows: IntArray) -> Weights:
        """Weight of a released record at each level, for each person, shape (q, levels)."""
        own = self.compared
        outcomes = self._outcomes(rows)
        at = own.place[rows]
        missing = np.isnan(at)
        far = np.abs(np.where(missing, 0.0, at)[:, None] - np.nan_to_num(own.level_at))
        table = np.empty((len(rows), own.levels), np.float32)
        table[:, :-1] = np.take_along_axis(outcomes, np.searchsorted(self.upper, far) + 1, axis=1)
        table[:, -1] = np.where(missing, outcomes[:, 0], outcomes[:, -1])
        table[missing, :-1] = outcomes[missing, -1:]
        if own.exact is None:
            alike = np.flatnonzero(~missing & (own.equals[rows] > 0))
            table[alike, own.level_of[rows[alike]]] = outcomes[alike, 0]
        return table

    def near(self, rows: IntArray) -> tuple[IntArray, Weights]:
        """Levels from and to which exact values are looked up, shape (q, 2), and weights, shape (q, 2 + edges).

        The first weight is that of equal values, the others those up to each edge and beyond the last. From above to:
        the levels tell all.
        """
        own, outcomes = self.compared, self._outcomes(rows)
        level = own.level_of[rows]
        span = np.column_stack([level - 1, np.minimum(level + 1, own.levels - 2)])
        span[(level == own.levels - 1) | (own.exact is None)] = (0, -1)
        return span, outcomes[:, :-1]


@dataclass(frozen=True)
class ComparedCategory:
    """A category in both files, or a number that was released as a label."""

    name: str
    levels: int
    released: Levels
    exact: tuple[IntArray, IntArray] | None
    coordinates: Weights
    known: IntArray  # (n,) code of the original value
    label: IntArray  # (n,) code of the released label that its recoding gives it, among all labels
    codes: int
    labels: int  # released labels come first

    @classmethod
    def of(
        cls, name: str, original: npt.NDArray[Any], before: npt.NDArray[Any], after: npt.NDArray[Any]
    ) -> "ComparedCategory":
        n = len(before)
        both = np.concatenate([after.astype(object), before.astype(object)])  # released labels first
        of, labels = pd.factorize(both)
        of = np.where(of < 0, len(labels), of).astype(np.int64)
        if original.dtype.kind == "f" and len(np.unique(original)) > _QUANTILES:
            ends = np.nanquantile(original, np.linspace(0, 1, _QUANTILES + 1)[1:-1])
            known = np.where(np.isnan(original), _QUANTILES, np.searchsorted(ends, original))
        else:
            known = pd.factorize(original, use_na_sentinel=False)[0]
        pairs = pd.factorize(known.astype(np.int64) * (len(labels) + 1) + of[len(after) :])[0]
        out, label = of[: len(after)], of[len(after) :]
        assert len(label) == n
        return cls(
            name, len(labels) + 1, out.astype(np.uint16), None, np.zeros(1, np.float32), pairs.astype(np.int64), label,
            int(pairs.max()) + 1 if n else 0, len(labels) + 1,
        )  # fmt: skip

    def learn(self, rows: IntArray) -> "LearnedCategory":
        out = self.released[rows].astype(np.int64)
        shares = (np.bincount(self.released, minlength=self.labels) + 1e-9) / len(self.released)
        kept = float((self.label[rows] == out).sum() + 1) / (len(rows) + 2)
        prior = (1 - kept) * shares + kept * np.eye(self.labels)
        by_label = _conditional(self.label[rows], out, prior)
        label_of = np.zeros(self.codes, np.int64)
        label_of[self.known] = self.label
        chances = _conditional(self.known[rows], out, by_label[label_of])
        floor = 1 / len(self.released)
        weights = np.log(np.maximum(chances, floor * 1e-3)) - np.log(np.maximum(shares, floor))
        return LearnedCategory(self, weights.astype(np.float32))


@dataclass(frozen=True)
class LearnedCategory:
    """Released label given original code, against the label's share in the released file."""

    compared: ComparedCategory
    table: Weights  # (codes, labels)

    @property
    def edges(self) -> Weights:
        return np.zeros(0, np.float32)

    def weights(self, rows: IntArray) -> Weights:
        return self.table[self.compared.known[rows]]

    def near(self, rows: IntArray) -> tuple[IntArray, Weights]:
        return np.tile(np.array([0, -1]), (len(rows), 1)), np.zeros((len(rows), 1), np.float32)


ComparedVariable: TypeAlias = ComparedNumber | ComparedCategory
LearnedVariable: TypeAlias = LearnedNumber | LearnedCategory


def compared_variables(
    original: pd.DataFrame, recoded: pd.DataFrame, masked: pd.DataFrame, variables: Variables, released: Variables
) -> list[ComparedVariable]:
    """The released variables that describe a person, in codes; keys, texts and what no original variable explains not.

    original : typed by `variables`
    recoded  : the same records after the recodings of the plan alone, typed by `released`
    masked   : typed by `released`, row i the masked record of row i of the original
    cost     : O(v n log n) time, O(v n) memory
    """
    compared: list[ComparedVariable] = []
    for name, variable in variables.items():
        if name not in released or variable.role in NAMES or Kind.TEXT in (variable.kind, released[name].kind):
            continue
        before, after = plain_values(recoded[name]), plain_values(masked[name])
        numbers = before.dtype.kind == "f" and after.dtype.kind == "f"
        if numbers and len(np.unique(np.concatenate([before, after]))) > _FEW_VALUES:
            compared.append(ComparedNumber.of(name, before, after))
        else:
            compared.append(ComparedCategory.of(name, plain_values(original[name]), before, after))
    return compared


def _conditional(given: IntArray, out: IntArray, prior: FloatArray) -> FloatArray:
    """Shares of `out` for each code of `given`, drawn towards the prior, shape of the prior."""
    codes, labels = prior.shape
    counts = np.bincount(given * labels + out, minlength=codes * labels).reshape(codes, labels)
    return np.asarray((counts + _PRIOR * prior) / (counts.sum(axis=1, keepdims=True) + _PRIOR))

"""Learned variables: how much the closeness of a known and a released value speaks for one person rather than two.

Source: Fellegi and Sunter (1969), the weight of agreement: log of the probability of what is seen if both records are
one person's, over its probability if they are two people's. Differs from it: agreement is graded, the probabilities of
true pairs are counted on people whose pairs are known (an intruder who knows the published method can make such
examples), and those of other pairs are the released file's own, for each person by itself: how many released records
are as close to this very value. No scale is
assumed: a number is compared by exact equality, and by ranks, values or logarithms, whichever tells most.
"""

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray, narrow
from sluice.ground.comparable_values import codes_of, comparable_values, is_missing, plain_values
from sluice.ground.released_values import labels_of, released_as
from sluice.ground.variables import NAMES, Kind, Variables
from sluice.risk.linkage.number_patterns import aligned, kept_digits

Codes = npt.NDArray[np.signedinteger[Any]]
Levels = npt.NDArray[np.uint16]
Weights = npt.NDArray[np.float32]

MOST_LEVELS = 1024  # levels into which the released values of a number are parted; the exact values are kept beside
_FEW_VALUES = 20  # numbers of no more values are compared as categories
_FIRST = 1_000  # records that are looked at first
_BINS = 20  # bins of closeness, each with as many of the true pairs
_PAIRS_A_BIN = 15  # true pairs that a bin needs
_HEAP = 0.01  # share of the original records from which a single number is a heap, with frequencies of its own
_PRIOR = 5.0  # true pairs that the prior is worth
_PARTS = 8  # most parts by rank, with frequencies of their own
_PEOPLE_A_PART = 1_000  # original records that a part needs
_TRIED = 1_000  # true pairs by which the scale is chosen
_LINEAR = 0.01  # share of the median size up to which the logarithmic scale is nearly linear
_MOST_DIGITS = 200  # digits of more different values, such as times of day, are compared as numbers
_MOST_LABELS = 2_000  # categories of more labels are compared by equality alone
_SHARES = 20  # groups of a released probability
_QUANTILES = 50  # most groups of a number that was released as a label


@dataclass(frozen=True)
class ComparedNumber:
    """A number or date in both files. Codes number the distinct values of both files in rising order."""

    name: str
    levels: int  # the last is that of missing values
    released: Levels
    exact: tuple[Codes, Codes] | None
    known: Codes  # (n,) code of the original value, -1 where missing
    sent: Codes  # (m,) code of the released value, -1 where missing
    below: Codes  # (codes + 1,) released records with a smaller code; the last: all with a value
    held: Codes  # (codes + 1,) released records with each code; the last, of missing values, is 0
    level: Codes  # (codes,) level of each code
    scales: tuple[FloatArray, ...]  # (codes,) each, rising: measures of closeness, of which one is chosen in learning
    group: Codes  # (codes + 1,) records of alike chances: 0 missing (the last), then quantiles, then heaps

    @classmethod
    def of(cls, name: str, before: FloatArray, after: FloatArray) -> "ComparedNumber":
        n = len(before)
        codes, values = pd.factorize(np.concatenate([before, after]), sort=True)
        held = np.bincount(codes[n:][codes[n:] >= 0], minlength=len(values))
        below = np.concatenate([[0], np.cumsum(held)])
        # A level is a released value, or a run of them where there are too many.
        wide = int((held > 0).sum()) > MOST_LEVELS
        kind = np.dtype(np.int32) if wide else np.min_scalar_type(-1 - len(values))
        known, sent = codes[:n].astype(kind), codes[n:].astype(kind)
        level = below[:-1] * MOST_LEVELS // max(1, int(below[-1])) if wide else np.cumsum(held > 0) - 1
        level = np.clip(level, 0, None)
        levels = int(level.max(initial=0)) + 2
        return cls(
            name=name,
            levels=levels,
            released=np.where(sent >= 0, np.append(level, 0)[sent], levels - 1).astype(np.uint16),
            exact=(known, sent) if wide else None,
            known=known,
            sent=sent,
            below=below.astype(np.int32),
            held=np.append(held, 0).astype(np.int32),
            level=level.astype(np.int32),
            scales=_scales(np.asarray(values, np.float64), known[known >= 0]),
            group=_groups(known, len(values)),
        )

    def sharing(self, released: Levels, sent: Codes) -> "ComparedNumber":
        """The same, which keeps what was released in these arrays of another's, (m,), and no copy of its own."""
        released[:] = self.released
        if self.exact is None:
            return replace(self, released=released)
        sent[:] = self.sent
        return replace(self, released=released, sent=sent, exact=(self.known, sent))

    def learn(self, rows: IntArray) -> "LearnedNumber":
        """The scale by which the true pairs of these rows stand out most, and how often they are how close by it."""
        known, sent = self.known[rows], self.sent[rows]
        missing, equal = (known < 0) | (sent < 0), known == sent
        unequal = ~missing & ~equal
        group = self.group[known]
        groups = int(self.group.max()) + 1
        best: tuple[float, LearnedNumber] | None = None
        for coordinates in self.scales:
            far = np.abs(coordinates[known] - coordinates[sent])
            bins = int(np.clip(unequal.sum() // _PAIRS_A_BIN, 1, _BINS))
            shares = np.linspace(0, 1, bins + 1)[1:]
            edges = np.unique(np.quantile(far[unequal], shares)) if unequal.any() else np.ones(1)
            # Outcomes: equal, in each bin, beyond the last edge, one of both missing.
            outcome = np.where(missing, len(edges) + 2, np.searchsorted(edges, far) + 1)
            outcome[equal] = 0
            outcomes = len(edges) + 3
            counts = np.bincount(group * outcomes + outcome, minlength=groups * outcomes).reshape(groups, outcomes)
            pooled = (counts.sum(axis=0) + 0.5) / (counts.sum() + 0.5 * outcomes)
            chances = (counts + _PRIOR * pooled) / (counts.sum(axis=1, keepdims=True) + _PRIOR)
            learned = LearnedNumber(self, coordinates, edges, chances, self._centres(coordinates))
            some = rows[unequal][:_TRIED]
            told = learned.outcomes(some)[np.arange(len(some)), outcome[unequal][:_TRIED]]
            gain = float(told.mean()) if len(told) else 0.0
            if best is None or gain > best[0]:
                best = gain, learned
        assert best is not None
        return best[1]

    def _centres(self, coordinates: FloatArray) -> FloatArray:
        sizes = np.bincount(self.level, self.held[:-1], self.levels - 1)
        sums = np.bincount(self.level, self.held[:-1] * coordinates, self.levels - 1)
        centres = np.divide(sums, sizes, out=np.full(self.levels - 1, -np.inf), where=sizes > 0)
        # Rising, also where a level holds nothing.
        return np.asarray(np.maximum(np.maximum.accumulate(centres), coordinates.min(initial=0.0)))


@dataclass(frozen=True)
class LearnedNumber:
    """Closeness of one number: how often true pairs are that close, over how many released records are."""

    compared: ComparedNumber
    scale: FloatArray  # (codes,) coordinate of each code
    upper: FloatArray  # (bins,) upper ends of the bins; beyond the last one more
    chances: FloatArray  # (groups, outcomes) of true pairs
    centres: FloatArray  # (levels - 1,) mean coordinate of the released values of each level, rising

    @property
    def edges(self) -> Weights:
        """Upper ends of the bins of closeness, shape (bins,)."""
        return self.upper.astype(np.float32)

    @property
    def coordinates(self) -> Weights:
        """Of each code, by whose difference closeness is measured."""
        return self.scale.astype(np.float32)

    def outcomes(self, rows: IntArray) -> Weights:
        """Weight of each outcome for each person: equal, in each bin, beyond, one of both missing; (q, outcomes)."""
        own, m = self.compared, len(self.compared.released)
        known, filled = own.known[rows], int(own.below[-1])
        missing = known < 0
        place = self.scale[known][:, None]
        equals = np.where(missing, m - filled, own.held[known])
        upto = np.searchsorted(self.scale, place + self.upper, "right")
        from_ = np.searchsorted(self.scale, place - self.upper, "left")
        within = own.below[upto] - own.below[from_]
        held = np.diff(np.column_stack([equals, within, np.full(len(rows), filled)]), axis=1)
        counts = np.column_stack([equals, held, np.where(missing, filled, m - filled)])
        chances = self.chances[own.group[known]]
        return np.asarray(np.log(chances * m / np.maximum(counts, 1)), dtype=np.float32)

    def weights(self, rows: IntArray) -> Weights:
        """Weight of a released record at each level, for each person, shape (q, levels)."""
        return self.tables(rows)[0]

    def tables(self, rows: IntArray) -> tuple[Weights, IntArray, Weights]:
        """Weights by level, shape (q, levels); levels from and to which exact values are looked up, (q, 2); theirs.

        The last, shape (q, 2 + edges), begins with the weight of equal values; those up to each edge and beyond the
        last one follow. From above to: the levels tell all.
        """
        from sluice.risk.linkage.learned_variable_kernel import by_closeness

        own, outcomes = self.compared, self.outcomes(rows)
        known = own.known[rows]
        missing = known < 0
        table = np.empty((len(rows), own.levels), np.float32)
        by_closeness(self.scale[known], self.centres, self.upper, outcomes, table)
        table[:, -1] = np.where(missing, outcomes[:, 0], outcomes[:, -1])
        table[missing, :-1] = outcomes[missing, -1:]
        level = own.level[known]
        span = np.column_stack([level - 1, np.minimum(level + 1, own.levels - 2)])
        span[(known < 0) | (own.exact is None)] = (0, -1)
        if own.exact is None:
            alike = np.flatnonzero(~missing & (own.held[known] > 0))
            table[alike, level[alike]] = outcomes[alike, 0]
        return table, span, outcomes[:, :-1]


def _scales(values: FloatArray, known: Codes) -> tuple[FloatArray, ...]:
    """Coordinates of distinct values, shape (codes,) each: share of original values below (half of the equal ones
    included); as they are; and logarithms of their sizes, nearly linear around 0."""
    if not len(known):
        return (np.zeros(len(values)),)
    counts = np.bincount(known, minlength=len(values))
    ranks = (np.cumsum(counts) - counts / 2) / len(known)
    sizes = np.abs(values[known])
    middle = float(np.median(sizes[sizes > 0])) if (sizes > 0).any() else 1.0
    centre = float(np.median(values[known]))
    spread = float(np.median(np.abs(values[known] - centre))) or middle
    return ranks, (values - centre) / spread, np.arcsinh(values / (_LINEAR * middle))


def _groups(known: Codes, codes: int) -> Codes:
    """Group of each code, shape (codes + 1,): values whose true pairs are likely to be alike in closeness.

    A single value that many records share, such as 0, is a group by itself; the others are parted by rank, as noise
    moves the dense middle over more ranks than the tails.
    """
    n = int((known >= 0).sum())
    shares = np.bincount(known[known >= 0], minlength=codes)
    heaps = np.flatnonzero(shares >= max(_HEAP * len(known), 2 * _PAIRS_A_BIN))
    parts = int(np.clip(n // _PEOPLE_A_PART, 1, _PARTS))
    group = np.empty(codes + 1, np.int32)
    group[:-1] = np.clip((np.cumsum(shares) - shares) * parts // max(n, 1), 0, parts - 1) + 1
    group[heaps] = np.arange(len(heaps)) + 1 + parts
    group[-1] = 0
    return group


@dataclass(frozen=True)
class ComparedCategory:
    """A category in both files, or a number that was released as a label."""

    name: str
    levels: int
    released: Levels
    exact: None
    known: npt.NDArray[np.integer[Any]]  # (n,) code of the original value
    label_of: IntArray  # (codes,) the released label that its recoding gives it, among all labels
    labels: int  # released labels come first

    @classmethod
    def of(
        cls, name: str, original: npt.NDArray[Any], before: npt.NDArray[Any], after: npt.NDArray[Any]
    ) -> "ComparedCategory":
        of, found = _in_order(after, before)  # released labels first
        of = np.where(of < 0, found, of)
        if original.dtype.kind == "f" and len(np.unique(original)) > _QUANTILES:
            ends = np.nanquantile(original, np.linspace(0, 1, _QUANTILES + 1)[1:-1])
            known = np.where(np.isnan(original), _QUANTILES, np.searchsorted(ends, original))
        else:
            known = pd.factorize(original, use_na_sentinel=False)[0]
        pairs, came = pd.factorize(known.astype(np.int64) * (found + 1) + of[len(after) :])
        out = of[: len(after)].astype(np.uint16)
        return cls(name, found + 1, out, None, narrow(pairs, len(came)), came % (found + 1), found + 1)

    def sharing(self, released: Levels, sent: Codes) -> "ComparedCategory":
        """The same, which keeps what was released in this array of another's, (m,), and no copy of its own."""
        released[:] = self.released
        return replace(self, released=released)

    def learn(self, rows: IntArray) -> "LearnedCategory":
        out, known = (each[rows].astype(np.int64) for each in (self.released, self.known))
        label = self.label_of[known]
        shares = (np.bincount(self.released, minlength=self.labels) + 1e-9) / len(self.released)
        kept = float((label == out).sum() + 1) / (len(rows) + 2)
        prior = (1 - kept) * shares + kept * np.eye(self.labels)
        by_label = _conditional(label, out, prior)
        chances = _conditional(known, out, by_label[self.label_of])
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

    @property
    def coordinates(self) -> Weights:
        return np.zeros(1, np.float32)

    def weights(self, rows: IntArray) -> Weights:
        return np.asarray(self.table[self.compared.known[rows]])

    def tables(self, rows: IntArray) -> tuple[Weights, IntArray, Weights]:
        """As those of a number; no exact values are looked up."""
        return self.weights(rows), np.tile(np.array([0, -1]), (len(rows), 1)), np.zeros((len(rows), 1), np.float32)


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
        columns = released_as(name, variables, released)
        if not columns or variable.role in NAMES or Kind.TEXT in (variable.kind, released[columns[0]].kind):
            continue
        if columns != (name,):
            labels = plain_values(recoded[name])
            compared += [_one_label(column, name, labels, plain_values(masked[column])) for column in columns]
            continue
        before, after = comparable_values(recoded[name], masked[name])
        numbers = before.dtype.kind == "f" and after.dtype.kind == "f"
        distinct = _distinct(before[:_FIRST], after[:_FIRST])  # enough values of a number are mostly seen at once
        if not numbers or distinct <= _FEW_VALUES:
            distinct = _distinct(before, after)
        if numbers and distinct > _FEW_VALUES:
            compared.append(ComparedNumber.of(name, before, aligned(before, after)))
            for which, (known, sent) in kept_digits(before, after, variable.kind is Kind.DATE).items():
                label = f"{name} ({which})"
                if _distinct(known, sent) > _MOST_DIGITS:
                    compared.append(ComparedNumber.of(label, known, sent))
                else:
                    compared.append(ComparedCategory.of(label, known, known, sent))
        elif distinct > _MOST_LABELS:
            codes = _in_order(before, after)[0].astype(np.float64)
            codes[codes < 0] = np.nan
            compared.append(ComparedNumber.of(name, codes[: len(before)], codes[len(before) :]))
        else:
            own = original[name]
            codes_or_values = codes_of(own) if isinstance(own.dtype, pd.CategoricalDtype) else plain_values(own)
            compared.append(ComparedCategory.of(name, codes_or_values, before, after))
    return compared


def _in_order(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> tuple[IntArray, int]:
    """The values of one and the other in the order of their coming, from 0, -1 where missing; and how many they are.

    They are as `comparable_values` gives them.
    """
    if one.dtype.kind != "u":
        found, values = pd.factorize(np.concatenate([one.astype(object), other.astype(object)]))
        return found.astype(np.int64), len(values)
    found, values = pd.factorize(np.concatenate([one, other]))
    missing = np.flatnonzero(is_missing(values))
    if len(missing):
        found = np.where(found == missing, -1, found - (found > missing))
    return found.astype(np.int64), len(values) - len(missing)


def _distinct(before: npt.NDArray[Any], after: npt.NDArray[Any]) -> int:
    return len(pd.unique(np.concatenate([before.astype(after.dtype), after])))


def _one_label(column: str, name: str, labels: npt.NDArray[Any], chances: npt.NDArray[Any]) -> ComparedCategory:
    """The released probability of one label, in groups, beside whether it is the person's own."""
    own = (labels == labels_of(name, (column,))[0]).astype(np.float64)
    ends = np.unique(np.nanquantile(chances.astype(np.float64), np.linspace(0, 1, _SHARES + 1)[1:-1]))
    group = np.searchsorted(ends, chances.astype(np.float64)).astype(np.float64)
    return ComparedCategory.of(column, own, np.full(len(own), np.nan), group)


def _conditional(given: IntArray, out: IntArray, prior: FloatArray) -> FloatArray:
    """Shares of `out` for each code of `given`, drawn towards the prior, shape of the prior."""
    codes, labels = prior.shape
    counts = np.bincount(given * labels + out, minlength=codes * labels).reshape(codes, labels)
    return np.asarray((counts + _PRIOR * prior) / (counts.sum(axis=1, keepdims=True) + _PRIOR))

"""Mapped columns: what is known of a person, and all that is released, as columns that a map may lead from and to.

A number stands as it is, as its normal score, and as the logarithm of its size, nearly linear around 0; each with mean
0 and variance 1, a missing one at the mean. A category has a column for each of its most frequent labels.

Who knows a person's household, or all stays of a patient, knows what follows from these: totals, means, ends, shares
and ranks of a number, how many members are above some values or have a label, how many there are, and where the
household stands in the order of its name.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations
from math import gcd
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.comparable_values import codes_of, plain_values
from sluice.ground.released_values import is_number, released_as
from sluice.ground.variables import NAMES, Kind, Variables

_SEEN = 4_000  # released records that tell the scale of a column
_MOST_COLUMNS = 200  # released ones; of more, the last are left out
_KNOTS = 4_000  # values that tell a distribution
_LINEAR = 0.01  # share of the median size up to which the logarithmic scale is nearly linear
_LABELS = 12  # most frequent labels of a category, known or released, that have a column
_COUNTED = (0.2, 0.4, 0.6, 0.8)  # quantiles of a number above which members of a household are counted
_MOST_TOGETHER = 100  # categories of a variable that is compared with others
_FEWEST_TOGETHER = 2  # columns that are made of three categories
_COUNTED_LABELS = 4  # most frequent labels whose bearers are
_MULTIPLIED = 14  # most directions whose products are columns
_APART = 1e-10  # least variance of a direction, of the numbers that are standardised: less is rounding


@dataclass(frozen=True)
class Column:
    """One column of a file as numbers, NaN where missing, or as codes of labels, -1 where missing.

    labels : how many categories it has, those of an ordinal one with numbers, too; 0: it has none
    """

    name: str
    values: npt.NDArray[Any] = field(repr=False)
    is_number: bool
    labels: int = 0

    @classmethod
    def of(cls, name: str, column: "pd.Series[Any]", ordinal: bool) -> Self:
        if is_number(column):
            return cls(name, plain_values(column), True)
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes, labels = codes_of(column), len(column.dtype.categories)
        else:
            codes, names = pd.factorize(plain_values(column))
            labels = len(names)
        values = np.where(codes < 0, np.nan, codes) if ordinal else codes
        return cls(name, values, ordinal, labels)

    @property
    def codes(self) -> npt.NDArray[np.int8]:
        """Of its categories, -1 where missing; there are at most 100."""
        return np.where(np.isfinite(self.values), self.values, -1).astype(np.int8)


@dataclass(frozen=True)
class MappedColumns:
    """What may be known of a person, and all that is released.

    under     : the columns as which each known variable is released
    of_whom   : what is known, in words
    kept_back : what is known, too, and not released: it may tell in which part of the file a person is
    totals    : of what is known of a unit, its totals and what is no number: maps of parts know few people as it is
    """

    known: tuple[Column, ...]
    released: tuple[Column, ...]
    under: Mapping[str, tuple[str, ...]]
    of_whom: str = "all variables"
    kept_back: tuple[Column, ...] = ()
    totals: tuple[Column, ...] = ()

    @classmethod
    def of(cls, original: pd.DataFrame, masked: pd.DataFrame, variables: Variables, released: Variables) -> Self:
        """Row i of `masked` is that of row i of `original`. Names of people and of groups, and texts, are left out."""

        def columns(frame: pd.DataFrame, described: Variables, names: Sequence[str]) -> Iterator[Column]:
            for name in names:
                kind = described[name].kind
                if name in frame and described[name].role not in NAMES and kind is not Kind.TEXT:
                    yield Column.of(name, frame[name], kind is Kind.ORDINAL)

        under = {name: released_as(name, variables, released) for name in variables}
        known, kept_back = ([name for name in variables if bool(under[name]) is shown] for shown in (True, False))
        return cls(
            tuple(columns(original, variables, known)), tuple(columns(masked, released, [*released])), under,
            kept_back=tuple(columns(original, variables, kept_back)),
        )  # fmt: skip

    def knowing(self, names: Collection[str]) -> Self:
        """The same, of which the variables that are released under these names are known, of whoever they are."""
        known, totals = (
            tuple(each for each in side if each.name not in self.under or {*self.under[each.name]} & {*names})
            for side in (self.known, self.totals)
        )
        if len(known) == len(self.known):
            return self
        return replace(self, known=known, totals=totals, kept_back=())

    @cached_property
    def shown(self) -> "Features":
        """The released columns on their scales: so many as may be compared, numbers first."""
        records = len(self.released[0].values)
        features = Features.fit(self.released, np.arange(records)[:: -(-records // _SEEN)])
        order = sorted(range(len(features.columns)), key=lambda at: not features.columns[at].is_number)
        widths = np.cumsum([features.scales[at].width for at in order])
        kept = [at for at, width in zip(order, widths.tolist(), strict=True) if width <= _MOST_COLUMNS]
        return Features(tuple(features.scales[at] for at in kept), tuple(features.columns[at] for at in kept))

    def known_by(self, rows: IntArray) -> "Features":
        """The known columns on scales that these people tell: once for all maps that are learned from them."""
        key = rows.tobytes()
        if key not in self._known_by:
            self._known_by[key] = Features.fit(self.known, rows)
        return self._known_by[key]

    @cached_property
    def _known_by(self) -> "dict[bytes, Features]":
        return {}

    def take(self, rows: IntArray) -> Self:
        """Of these rows of both files alone: orders of a few thousand records cost nothing."""

        def some(side: Sequence[Column]) -> tuple[Column, ...]:
            return tuple(replace(column, values=column.values[rows]) for column in side)

        return replace(
            self, known=some(self.known), released=some(self.released), kept_back=some(self.kept_back),
            totals=some(self.totals),
        )  # fmt: skip

    def of_units(self, units: IntArray, places: FloatArray, word: str = "household") -> Self | None:
        """The same, of which all members of a person's unit are known; None where nobody has others.

        units  : (n,) who belongs together, from 0
        places : (n,) where the unit stands in the order of the units' names
        word   : for the unit
        cost   : O(n log n) time for each known variable; 80 n bytes for each number, 32 n for each category
        """
        sizes = np.bincount(units)
        if sizes.max(initial=0) < 2:
            return None
        about = tuple(Column("", values.astype(np.float64), True) for values in (sizes[units], places))
        more = [tuple(_of_members(column, units, sizes)) for column in self.known]
        totals = (made[0] if column.is_number and made else column
                  for column, made in zip(self.known, more, strict=True))  # fmt: skip
        return replace(
            self, known=(*self.known, *about, *chain.from_iterable(more)), of_whom=f"all variables of the {word}",
            totals=(*about, *totals),
        )  # fmt: skip

    @property
    def of_a_unit(self) -> bool:
        """Whether all members of a person's unit are known."""
        return any(not column.name for column in self.known)

    @cached_property
    def by_totals(self) -> Self:
        """The same, with a unit's totals alone in place of all that its members tell together."""
        return replace(self, known=self.totals) if self.totals else self

    def one_of_each_unit(self, rows: IntArray) -> IntArray:
        """Of these rows, the first of each unit whose members are known together: the others show the same."""
        about = [column for column in self.known if not column.name]
        return rows[np.sort(np.unique(about[-1].values[rows], return_index=True)[1])] if about else rows

    @cached_property
    def in_order(self) -> Self | None:
        """The same, with each record's own numbers from the least to the largest in place of its columns of numbers.
        None where one file has fewer than two: one is in order as it is."""
        return self._sorted(lambda column: column.values)

    @cached_property
    def in_order_of_scores(self) -> Self | None:
        """As `in_order`, by their normal scores: what is low, and what is high, for its column."""
        return self._sorted(_scores)

    @cached_property
    def in_order_of_sizes(self) -> Self | None:
        """As `in_order_of_scores`, without their signs: how far from the middle of its column, to whichever side."""
        return self._sorted(lambda column: np.abs(_scores(column)))

    @cached_property
    def in_products(self) -> Self | None:
        """The same, with squares and products of each record's numbers beside them, in directions in which they are
        uncorrelated: what stays, such as a length, where each record was turned or mirrored by a secret of its own."""
        return self._multiplied(0)

    @cached_property
    def in_products_of_logarithms(self) -> Self | None:
        """As `in_products`, of logarithms."""
        return self._multiplied(2)

    @cached_property
    def in_differences(self) -> Self | None:
        """The same, with differences of each record's codes in place of its categories: what stays where all codes of a
        record were shifted by one number of its own, around the number of categories or a divisor of it. None where
        fewer than three go together."""
        return self._together(_differences)

    @cached_property
    def in_patterns(self) -> Self | None:
        """The same, with which codes of each record are alike in place of its categories: what stays where each record
        has other codes of its own for all variables with as many categories. None as `in_differences`."""
        return self._together(_patterns)

    def _together(self, of: Callable[[Sequence[Column]], list[Column]]) -> Self | None:
        place = {name: at for at, column in enumerate(self.known) for name in self.under.get(column.name, ())}
        # What is known comes first, in one order on both sides, as the others stand in relation to the first.
        released = sorted(self.released, key=lambda column: place.get(column.name, len(place)))
        sides = [
            (of([column for column in side if 1 < column.labels <= _MOST_TOGETHER]), side)
            for side in (self.known, released)
        ]
        if any(len(made) < _FEWEST_TOGETHER for made, _ in sides):
            return None
        known, shown = (
            (*made, *(column for column in side if column.is_number and not column.labels)) for made, side in sides
        )
        return replace(self, known=known, released=shown)

    def _multiplied(self, on: int) -> Self | None:
        if any(sum(column.is_number for column in side) < 2 for side in (self.known, self.released)):
            return None
        return replace(self, known=_with_products(self.known, on), released=_with_products(self.released, on))

    def _sorted(self, of: Callable[[Column], FloatArray]) -> Self | None:
        if any(sum(column.is_number for column in side) < 2 for side in (self.known, self.released)):
            return None
        return replace(self, known=_from_least_on(self.known, of), released=_from_least_on(self.released, of))


def _of_members(column: Column, units: IntArray, sizes: IntArray) -> Iterator[Column]:
    """What the values of all members tell together; under the name of the variable."""

    def made(values: npt.NDArray[Any]) -> Column:
        return Column(column.name, values.astype(np.float64), True)

    def count(which: npt.NDArray[np.bool_]) -> Column:
        return made(np.bincount(units, which, len(sizes))[units])

    if not column.is_number:
        labels, counts = np.unique(column.values[column.values >= 0], return_counts=True)
        for label in labels[np.argsort(-counts, kind="stable")[:_COUNTED_LABELS]].tolist():
            yield count(column.values == label)
        return
    present = np.isfinite(column.values)
    if not present.any():
        return
    held = pd.Series(np.where(present, column.values, np.nan)).groupby(units)
    together = {what: held.transform(what).to_numpy(np.float64) for what in ("sum", "mean", "min", "max")}
    yield from map(made, together.values())
    with np.errstate(divide="ignore", invalid="ignore"):
        yield made(column.values / together["sum"])
    yield made(held.rank().to_numpy(np.float64))
    for least in np.unique(np.quantile(column.values[present], _COUNTED)).tolist():
        yield count(present & (column.values > least))


def _differences(columns: Sequence[Column]) -> list[Column]:
    """From the first code that the record has, of variables whose numbers of categories have a divisor in common."""
    moduli = {gcd(one.labels, other.labels) for one, other in combinations(columns, 2)} - {1}
    made: dict[tuple[str, ...], list[Column]] = {}
    for modulus in sorted(moduli, reverse=True):
        group = [column for column in columns if column.labels % modulus == 0]
        codes = np.column_stack([column.codes for column in group])
        first = np.take_along_axis(codes, (codes >= 0).argmax(axis=1)[:, None], axis=1)
        apart = np.where(codes < 0, -1, (codes - first) % modulus)
        made.setdefault(
            tuple(column.name for column in group),
            [
                Column(f"{column.name} modulo {modulus}", values, False)
                for column, values in zip(group[1:], np.ascontiguousarray(apart.T[1:]), strict=True)
            ],
        )
    return [column for of_group in made.values() for column in of_group]


def _patterns(columns: Sequence[Column]) -> list[Column]:
    """For each code the place of the first variable, of those with as many categories, that has it, too."""
    made = []
    for size in sorted({column.labels for column in columns}):
        group = [column for column in columns if column.labels == size]
        codes = np.column_stack([column.codes for column in group])
        for at, column in enumerate(group[1:], start=1):
            first = (codes[:, : at + 1] == codes[:, [at]]).argmax(axis=1)
            places = np.where(codes[:, at] < 0, -1, first).astype(np.int16)
            made.append(Column(f"{column.name} among {size}", places, False))
    return made


def _scores(column: Column) -> FloatArray:
    scale = NumberScale.fit(column.values)
    return scale.code(column.values, (1,))[:, 0] if scale else np.zeros(len(column.values))


def _with_products(columns: Sequence[Column], on: int) -> tuple[Column, ...]:
    """on : the scale of `NumberScale`; cost: O(n p^2) time and memory, 4 bytes for each of at most 119 columns"""
    numbers = [column for column in columns if column.is_number]
    fitted = [(NumberScale.fit(column.values), column.values) for column in numbers]
    coded = np.column_stack([scale.code(values, (on,))[:, 0] for scale, values in fitted if scale] or [np.zeros(0)])
    if coded.shape[1] < 2 or not len(coded):
        return tuple(columns)
    spread, axes = np.linalg.eigh(coded.T @ coded / len(coded))
    kept = np.flatnonzero(spread > _APART * spread[-1])[-_MULTIPLIED:]
    turned = (coded @ (axes[:, kept] / np.sqrt(spread[kept]))).astype(np.float32)
    made = [*turned.T]
    made += [turned[:, i] * turned[:, j] for i in range(turned.shape[1]) for j in range(i + 1)]
    return (*(Column(f"product {at}", each, True) for at, each in enumerate(made)),
            *(column for column in columns if not column.is_number))  # fmt: skip


def _from_least_on(columns: Sequence[Column], of: Callable[[Column], FloatArray]) -> tuple[Column, ...]:
    numbers = [of(column) for column in columns if column.is_number]
    if not numbers:
        return tuple(columns)
    ordered = np.sort(np.column_stack(numbers), axis=1)  # those that are missing last
    made = [Column(f"number {place} of the record", values, True) for place, values in enumerate(ordered.T, start=1)]
    return (*made, *(column for column in columns if not column.is_number))


@dataclass(frozen=True)
class Features:
    """How the columns of a file become numbers with mean 0 and variance 1."""

    scales: tuple["NumberScale | Labels", ...]
    columns: tuple[Column, ...] = field(repr=False)

    @classmethod
    def fit(cls, columns: Sequence[Column], rows: IntArray) -> Self:
        kept, scales = [], []
        for column in columns:
            kind = NumberScale if column.is_number else Labels
            scale = kind.fit(column.values[rows])
            if scale is not None:
                kept.append(column)
                scales.append(scale)
        return cls(tuple(scales), tuple(kept))

    @property
    def spread_index(self) -> list[int]:
        """For each number that comes of released columns, the place of the column."""
        widths = [scale.width for scale in self.scales]
        return [int(j) for j in np.repeat(np.arange(len(widths)), widths)]

    @property
    def spread_over(self) -> list[Column]:
        """For each number that comes of released columns, the column."""
        return [self.columns[j] for j in self.spread_index]

    def of(self, rows: IntArray, on: Sequence[int]) -> FloatArray:
        """On these scales, shape (r, columns)."""
        parts = [scale.code(column.values[rows], on) for scale, column in zip(self.scales, self.columns, strict=True)]
        return np.hstack(parts) if parts else np.zeros((len(rows), 0))


@dataclass(frozen=True)
class NumberScale:
    knots: FloatArray  # distinct values, rising
    scores: FloatArray  # their normal scores
    middle: float
    centre: FloatArray  # (3,)
    spread: FloatArray  # (3,)
    width: ClassVar[int] = 1

    @classmethod
    def fit(cls, values: FloatArray) -> Self | None:
        from scipy.special import ndtri  # loaded where it is needed

        present = values[np.isfinite(values)]
        if len(present) < 2 or present.min() == present.max():
            return None
        present = np.sort(present)[:: -(-len(present) // _KNOTS)]
        knots, counts = np.unique(present, return_counts=True)
        scores = ndtri((np.cumsum(counts) - counts / 2) / counts.sum())
        sizes = np.abs(present[present != 0])
        middle = float(np.median(sizes)) if len(sizes) else 1.0
        draft = cls(knots, scores, middle, np.zeros(3), np.ones(3))
        three = draft.code(present, (0, 1, 2))
        spread = three.std(axis=0)
        return cls(knots, scores, middle, three.mean(axis=0), np.where(spread > 0, spread, 1.0))

    def code(self, values: FloatArray, on: Sequence[int]) -> FloatArray:
        made = np.column_stack([self._on(values, which) for which in on])
        made = (made - self.centre[list(on)]) / self.spread[list(on)]
        return np.where(np.isfinite(made), made, 0.0)

    def _on(self, values: FloatArray, which: int) -> FloatArray:
        if which == 0:
            return values
        if which == 1:
            return np.interp(values, self.knots, self.scores)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # numbers near 0 that count as none
            return np.sign(values) * np.log1p(np.abs(values) / (_LINEAR * self.middle))


@dataclass(frozen=True)
class Labels:
    labels: IntArray  # codes that have a column
    shares: FloatArray

    @classmethod
    def fit(cls, codes: npt.NDArray[Any]) -> Self | None:
        labels, counts = np.unique(codes, return_counts=True)
        if len(labels) < 2:
            return None
        order = np.argsort(-counts, kind="stable")[: min(_LABELS, len(labels) - 1)]
        return cls(labels[order].astype(np.int64), counts[order] / len(codes))

    def code(self, codes: npt.NDArray[Any], on: Sequence[int]) -> FloatArray:
        return self.standard((codes[:, None] == self.labels).astype(np.float64))

    @property
    def width(self) -> int:
        return len(self.labels)

    def standard(self, shares: FloatArray) -> FloatArray:
        return (shares - self.shares) / np.sqrt(self.shares * (1 - self.shares))

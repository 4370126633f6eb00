"""Coding: typed records as points of one space, so that original and released records can be compared.

Source: Lasko and Vinterbo (2010), section IV.A (standardised variables, binary -1/+1, dummy coding) and equation (1).
The original data alone set the space for every file. Differs from the source: a variable is centred on its median and
divided by its robust spread, because a few values can make a standard deviation so large that all others seem equal.
Added to the source:

- an ordinal variable is standardised by the position of its categories, a date by its days;
- a set of items has one coordinate for each item, -1 without it, +1 with it;
- a missing value lies in the original's middle (median; of nominal and binary variables the mean); where the original
  has missing values, one more dimension (-1 present, +1 missing) tells them apart;
- a released label that is no original value (an age group, a wider region) stands for the centroid of the original
  records that carry it after the published recodings (their median for numbers): the best that an intruder can make
  of it;
- a distribution over labels (columns 'area=north', 'area=south', ... of probabilities) lies at its expected place;
- a value that is missing in the release more often than the recodings explain has been suppressed: a released missing
  value then lies between 'missing' and 'any value', in the proportion in which it stands for either. Otherwise a file
  could look safe because a few cells of every record were blanked.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import PlainArray, codes_of, comparable_values, plain_values
from sluice.ground.errors import DocumentError
from sluice.ground.released_values import labels_of, released_as
from sluice.ground.variables import NAMES, Kind, Variable, Variables
from sluice.items.item_sets import ItemSets
from sluice.risk.coded_points import (
    ByCategory,
    ByValue,
    Coded,
    CodedColumn,
    CodedPoints,
    label_centroids,
    labels_in_order,
)
from sluice.risk.spread import spread

_FAR = 1e6  # spreads; whatever lies farther out is nobody's neighbour, and squares stay in range
_MOST_ITEMS = 256  # coordinates of sets of items; of more items, the rarer ones share coordinates
_NO_WEIGHTS: Mapping[str, float] = MappingProxyType({})


def _coded_column(
    column: "pd.Series[Any]", code: Callable[[PlainArray], FloatArray], width: int, missing_at: FloatArray | None = None
) -> CodedColumn:
    """A column whose values lie where `code` puts them; missing ones at `missing_at`, where it is given."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        table = code(plain_values(_each_category(column)))
        if missing_at is not None:
            table[-1] = missing_at
        return ByCategory(table, codes_of(column))

    def code_part(part: "pd.Series[Any]") -> FloatArray:
        coded = code(plain_values(part))
        if missing_at is not None:
            coded[part.isna().to_numpy()] = missing_at
        return coded

    return ByValue(column, code_part, width)


def _each_category(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Each category once, and a missing value."""
    assert isinstance(column.dtype, pd.CategoricalDtype)
    return pd.Series(pd.Categorical.from_codes([*range(len(column.cat.categories)), -1], dtype=column.dtype))


def _times(column: "pd.Series[Any]") -> IntArray:
    """How many records have each category, and in the last place none."""
    codes, count = codes_of(column), len(column.cat.categories)
    return np.bincount(np.where(codes < 0, count, codes), minlength=count + 1)


def _by_category(column: "pd.Series[Any]", code: Callable[[PlainArray], npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """`code` of each value of a column, row by row; of a category only once."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return code(plain_values(column))
    return code(plain_values(_each_category(column)))[codes_of(column)]


@dataclass(frozen=True)
class _Scale:
    """How the original values of one variable become coordinates."""

    kind: Kind
    categories: "pd.Index[Any]"  # of a categorical variable, in order; the items of sets, the most frequent first
    dummies: npt.NDArray[np.int64]  # positions of the categories that have a coordinate of their own (nominal, items)
    centre: float
    scale: float
    fill: FloatArray  # (width,) where a missing value lies
    indicator: bool  # one more coordinate tells whether the value is missing
    weight: float
    separator: str  # between the items of a set

    @classmethod
    def fit(cls, variable: Variable, column: "pd.Series[Any]", weight: float) -> Self:
        categories: pd.Index[Any] = pd.Index([])
        dummies = np.zeros(0, np.int64)
        if variable.kind.is_categorical:
            categories = pd.Index(list(variable.categories or column.cat.categories), dtype=object)
        if variable.kind is Kind.ITEMS:
            sets = ItemSets.of(column, variable.between_items)
            frequency = np.bincount(sets.items, minlength=len(sets.names))
            categories = pd.Index(np.asarray(sets.names, dtype=object)[np.argsort(-frequency, kind="stable")])
            dummies = np.arange(min(len(categories), _MOST_ITEMS))
        if variable.kind is Kind.NOMINAL:
            # A category that no original record has would be a constant coordinate.
            found = np.asarray(column.dropna().unique(), dtype=object)
            dummies = np.unique(categories.get_indexer(pd.Index(found, dtype=object)))
        draft = cls(
            variable.kind, categories, dummies, 0.0, 1.0, np.zeros(1), bool(column.isna().any()), weight,
            variable.between_items,
        )  # fmt: skip
        centre, scale, fill = 0.0, 1.0, np.zeros(1)
        if draft.is_ordered:
            raw = _by_category(column, lambda values: draft._raw(values)[0][:, 0])
            present = raw[~_by_category(column, lambda values: draft._raw(values)[1])]
            if len(present):
                centre = float(np.median(present))
                scale = spread(present) or 1.0
        else:
            each = _each_category(column) if isinstance(column.dtype, pd.CategoricalDtype) else column
            raw, absent = draft._raw(plain_values(each))
            times = _times(column) if each is not column else np.ones(len(column), np.int64)
            times = np.where(absent, 0, times)
            # Whole numbers, -1 and +1: their sums are exact in any order.
            fill = times @ raw / times.sum() if times.any() else np.zeros(raw.shape[1])
        return replace(draft, centre=centre, scale=scale, fill=fill)

    @property
    def is_ordered(self) -> bool:
        """Whether the variable has one coordinate, on which its values lie in order."""
        return self.kind not in (Kind.NOMINAL, Kind.BINARY, Kind.ITEMS)

    def unknown(self, values: PlainArray) -> BoolArray:
        """Labels that are no category of the original variable."""
        if not self.kind.is_categorical:
            return np.zeros(len(values), np.bool_)
        if self.kind is Kind.ITEMS:
            sets, items = self._items(values)
            return np.asarray(np.bincount(sets.rows, items[sets.items] < 0, len(values)) > 0)
        return (self.categories.get_indexer(pd.Index(values, dtype=object)) < 0) & ~pd.isna(values)

    def code(self, values: PlainArray) -> FloatArray:
        """Coordinates, shape (n, width). A category that the original variable does not have lies in the middle."""
        coded, absent = self._raw(values)  # in place: of a category of thousands of codes it is large
        coded -= self.centre
        coded /= self.scale
        np.clip(coded, -_FAR, _FAR, out=coded)
        coded[absent] = self.fill
        if self.indicator:
            coded = np.column_stack([coded, np.where(pd.isna(values), 1.0, -1.0)])
        coded *= np.sqrt(self.weight)
        return coded

    def column(self, values: "pd.Series[Any]") -> CodedColumn:
        """`code` of each value of a column, worked out when it is asked for; of a category only once."""
        return _coded_column(values, self.code, len(self.fill) + self.indicator)

    def _items(self, values: PlainArray) -> tuple[ItemSets, IntArray]:
        """The sets, and the place of each of their items among the original's, -1 where it is none."""
        sets = ItemSets.of(pd.Series(values, dtype="str"), self.separator)
        return sets, self.categories.get_indexer(pd.Index(sets.names, dtype=object)).astype(np.int64)

    def _raw(self, values: PlainArray) -> tuple[FloatArray, BoolArray]:
        if not self.kind.is_categorical:
            numbers = values.astype(np.float64)
            return numbers[:, None], np.isnan(numbers)
        if self.kind is Kind.ITEMS:
            sets, items = self._items(values)
            known = items[sets.items] >= 0
            held = np.full((len(values), len(self.dummies)), -1.0)
            np.add.at(held, (sets.rows[known], items[sets.items[known]] % max(len(self.dummies), 1)), 2.0)
            return held, pd.isna(values)
        positions = self.categories.get_indexer(pd.Index(values, dtype=object))
        if self.kind is Kind.NOMINAL:
            return np.where(positions[:, None] == self.dummies, 1.0, -1.0), positions < 0
        places = positions.astype(np.float64)[:, None]
        return places * 2 - 1 if self.kind is Kind.BINARY else places, positions < 0


@dataclass(frozen=True)
class _Reading:
    """What an intruder makes of the released values of one variable: coordinates on the original's scale."""

    scale: _Scale
    direct: bool  # released values are original values
    labels: "pd.Index[Any]"  # otherwise: released labels,
    centroids: FloatArray  # where the original records of each label lie, and in the last row any original record
    missing_at: FloatArray  # where the original records lie that are missing after the recodings,
    missing_share: float  # and their share

    @classmethod
    def fit(
        cls, scale: _Scale, before: Variable, after: Variable, original: "pd.Series[Any]", recoded: "pd.Series[Any]"
    ) -> Self:
        coded = scale.column(original)
        missing = recoded.isna().to_numpy()
        codes, labels = labels_in_order(recoded)
        direct = _same_values(before, after, original, recoded)
        if direct and labels.size:  # nobody asks where each label's records lie
            codes, labels = np.minimum(codes, 0), labels[:1]
        centroids, overall, at_missing = label_centroids(coded, len(original), codes, len(labels), scale.is_ordered)
        if missing.any() and np.array_equal(missing, original.isna().to_numpy()):
            at_missing = coded.of(np.flatnonzero(missing)[:1])[0]  # to the last bit, so that a copy lies at distance 0
        return cls(
            scale=scale,
            direct=direct,
            labels=labels,
            centroids=np.vstack([centroids, overall]),
            missing_at=at_missing,
            missing_share=float(missing.mean()),
        )

    def read(self, column: "pd.Series[Any]") -> tuple[CodedColumn, int]:
        """The coordinates, and the number of values that could not be read; these lie in the middle."""
        missing = float(column.isna().to_numpy().mean()) if len(column) else 0.0
        missing_at = None
        if missing:
            natural = min(1.0, self.missing_share / missing)
            missing_at = natural * self.missing_at + (1 - natural) * self.centroids[-1]
        return _coded_column(column, self._read, self.centroids.shape[1], missing_at), self.unread(column)

    def unread(self, column: "pd.Series[Any]") -> int:
        """How many values could not be read."""
        return int(_by_category(column, self._unknown).sum())

    def _read(self, values: PlainArray) -> FloatArray:
        if not self.direct:
            return np.asarray(self.centroids[self.labels.get_indexer(pd.Index(values))])
        coded = self.scale.code(values)
        coded[self.scale.unknown(values)] = self.centroids[-1]
        return coded

    def _unknown(self, values: PlainArray) -> BoolArray:
        if self.direct:
            return self.scale.unknown(values)
        return np.asarray((self.labels.get_indexer(pd.Index(values)) < 0) & ~pd.isna(values))

    def read_distribution(self, shares: FloatArray, labels: list[str]) -> tuple[FloatArray, int]:
        """Coordinates of distributions over labels, shape (m, width), and how many could not be read."""
        total = shares.sum(axis=1, keepdims=True)
        unknown = ~(total[:, 0] > 0)
        shares = np.where(unknown[:, None], 0.0, shares / np.where(unknown[:, None], 1.0, total))
        coded = shares @ self.centroids[self.labels.get_indexer(pd.Index(labels))]
        coded[unknown] = self.centroids[-1]
        return coded, int(unknown.sum())


def _same_values(before: Variable, after: Variable, original: "pd.Series[Any]", recoded: "pd.Series[Any]") -> bool:
    """Whether a released value means what the same original value means."""
    if before.kind.is_numeric and after.kind.is_numeric:
        return True
    if before.kind is not after.kind:
        return False
    if not before.kind.is_categorical:
        return True
    same = np.equal(*comparable_values(original, recoded))
    return bool((same | (original.isna().to_numpy() & recoded.isna().to_numpy())).all())


@dataclass(frozen=True)
class Coding:
    """The space in which original and released records are compared."""

    names: tuple[str, ...]  # variables that are compared
    left_out: tuple[str, ...]  # released columns that are not: texts, and columns that no original variable explains
    _columns: tuple[tuple[str, ...], ...]  # released columns of each variable
    _scales: tuple[_Scale, ...]
    _readings: tuple[_Reading, ...]

    @classmethod
    def fit(
        cls,
        original: pd.DataFrame,
        recoded: pd.DataFrame,
        variables: Variables,
        released: Variables,
        weights: Mapping[str, float] = _NO_WEIGHTS,
    ) -> Self:
        """The space that the original records span, over the released variables that describe a person.

        original : typed by `variables`, at least one row, any index
        recoded  : the same records in the same order after the recodings alone, otherwise typed by `released`
        weights  : how much a variable counts against the others, 1 when not named; 0 leaves it out
        raises   : DocumentError when a weight names no variable

        Identifiers, households and contributors are keys, not descriptions; survey weights describe.
        """
        for name in weights:
            if name not in variables:
                raise DocumentError(
                    f"the data have no variable '{name}'.", field="weights", came=name, allowed=variables
                )
        keys = {name for name, variable in variables.items() if variable.role in NAMES}
        held_by = {name: released_as(name, variables, released) for name in variables if name not in keys}
        compared = {
            name: columns
            for name, columns in held_by.items()
            if columns and Kind.TEXT not in (variables[name].kind, released[columns[0]].kind)
        }
        explained = {column for columns in compared.values() for column in columns} | keys
        chosen = {name: columns for name, columns in compared.items() if weights.get(name, 1.0) > 0}
        scales = [_Scale.fit(variables[name], original[name], weights.get(name, 1.0)) for name in chosen]
        readings = [
            _Reading.fit(
                scale,
                variables[name],
                released[columns[0]],
                original[name],
                recoded[name],
            )
            for (name, columns), scale in zip(chosen.items(), scales, strict=True)
        ]
        left_out = tuple(column for column in released if column not in explained)
        return cls(tuple(chosen), left_out, tuple(chosen.values()), tuple(scales), tuple(readings))

    @property
    def dimensions(self) -> int:
        return sum(self.widths)

    @property
    def widths(self) -> tuple[int, ...]:
        """Coordinates of each of `names`."""
        return tuple(reading.centroids.shape[1] for reading in self._readings)

    def original(self, frame: pd.DataFrame) -> FloatArray:
        """Records typed like the original as points, shape (n, dimensions)."""
        return self.original_points(frame)[:]

    def released(self, frame: pd.DataFrame) -> tuple[FloatArray, int]:
        """Released records as points, shape (m, dimensions), and the number of values that could not be read."""
        points, unread = self.released_points(frame)
        return points[:], unread

    def original_points(self, frame: pd.DataFrame) -> CodedPoints:
        """As `original`, worked out when they are asked for: large files are too large to be held as points."""
        columns = [scale.column(frame[name]) for name, scale in zip(self.names, self._scales, strict=True)]
        return CodedPoints(columns, len(frame))

    def released_points(self, frame: pd.DataFrame) -> tuple[CodedPoints, int]:
        """As `released`, worked out when they are asked for."""
        coded: list[CodedColumn] = []
        unknown = 0
        for name, columns, reading in zip(self.names, self._columns, self._readings, strict=True):
            if columns == (name,):
                column, unread = reading.read(frame[name])
            else:
                labels = labels_of(name, columns)
                block, unread = reading.read_distribution(frame[list(columns)].to_numpy(np.float64), labels)
                column = Coded(block)
            coded.append(column)
            unknown += unread
        return CodedPoints(coded, len(frame)), unknown

    def unread(self, frame: pd.DataFrame) -> list[str]:
        """Variables with released values that could not be read; those of which shares are released are passed over."""
        return [
            name
            for name, columns, reading in zip(self.names, self._columns, self._readings, strict=True)
            if columns == (name,) and reading.unread(frame[name])
        ]

    def labels(self, recoded: pd.DataFrame, frame: pd.DataFrame) -> Iterator[tuple[PlainArray, PlainArray]]:
        """The values of both files variable by variable, on the released file's own categories, to be compared.

        A distribution that is certain of one label is that label; any other equals no value. Categories are codes, see
        `comparable_values`.
        """
        for name, columns in zip(self.names, self._columns, strict=True):
            if columns == (name,):
                yield comparable_values(recoded[name], frame[name])
            else:
                shares = frame[list(columns)].to_numpy(np.float64)
                labels = np.array(labels_of(name, columns), dtype=object)
                after = np.where(shares.max(axis=1) == 1, labels[shares.argmax(axis=1)], f"{name}=")
                yield plain_values(recoded[name]), after

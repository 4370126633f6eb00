"""Coded points: the records of a file as points, worked out when they are asked for.

A file of five million records in eighty coordinates takes 3.2 GB as one array; its categories take a byte each, and
where they lie is a short table. So a file is kept as its columns, and only rows that are looked at are made points.
A released label lies where the original records lie that carry it, the best guess at each of them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, cmp_to_key
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.comparable_values import codes_of, plain_values

_WIDE = 256  # coordinates of a category from which on they are looked at one by one, in little memory
_CELLS = 500_000  # coordinates that are compared at a time
_AT_ONCE = 2048  # rows of which all coordinates fit a processor's cache

Rows: TypeAlias = slice | npt.NDArray[Any]


class CodedColumn(Protocol):
    """The coordinates of one variable."""

    @property
    def width(self) -> int: ...

    def of(self, rows: Rows) -> FloatArray:
        """Of these rows, shape (r, width)."""
        ...

    def keys(self, rows: Rows) -> Iterator[npt.NDArray[Any]]:
        """Columns for these rows that are equal, and in lexicographic order, where the coordinates are."""
        ...


@dataclass(frozen=True)
class ByCategory:
    """A categorical variable: where each category lies, and in the last row a missing value."""

    table: FloatArray  # (categories + 1, width)
    codes: npt.NDArray[np.integer[Any]]  # (n,) -1 where missing

    @property
    def width(self) -> int:
        return int(self.table.shape[1])

    def of(self, rows: Rows) -> FloatArray:
        return np.asarray(self.table[self.codes[rows]])

    def keys(self, rows: Rows) -> Iterator[npt.NDArray[Any]]:
        yield self._ranks[self.codes[rows]]

    @cached_property
    def _ranks(self) -> npt.NDArray[Any]:
        """Of each category in the lexicographic order of the coordinates; equal ones have one rank."""
        if self.width < _WIDE:
            rank = np.unique(self.table, axis=0, return_inverse=True)[1].reshape(-1)
        else:  # in little memory
            order = sorted(range(len(self.table)), key=cmp_to_key(self._compared))
            new = [False, *(self._compared(one, other) != 0 for one, other in pairwise(order))]
            rank = np.empty(len(order), np.int64)
            rank[order] = np.cumsum(new)
        return rank.astype(np.min_scalar_type(len(rank)))

    def _compared(self, one: int, other: int) -> int:
        """-1, 0 or 1: which of two categories comes first by the first coordinate in which they differ."""
        mine, theirs = self.table[one], self.table[other]
        at = int((mine != theirs).argmax())
        return int(mine[at] > theirs[at]) - int(mine[at] < theirs[at])


@dataclass(frozen=True)
class ByValue:
    """Any other variable: each value is coded by itself."""

    column: "pd.Series[Any]"
    code: Callable[["pd.Series[Any]"], FloatArray]  # the coordinates of values, of each by itself
    width: int

    def of(self, rows: Rows) -> FloatArray:
        return self.code(self.column.iloc[rows])

    def keys(self, rows: Rows) -> Iterator[npt.NDArray[Any]]:
        yield from _columns(self.of(rows))


@dataclass(frozen=True)
class Coded:
    """A variable whose coordinates stand there."""

    block: FloatArray  # (n, width)

    @property
    def width(self) -> int:
        return int(self.block.shape[1])

    def of(self, rows: Rows) -> FloatArray:
        return np.asarray(self.block[rows])

    def keys(self, rows: Rows) -> Iterator[npt.NDArray[Any]]:
        yield from _columns(self.of(rows))


def _columns(block: FloatArray) -> Iterator[FloatArray]:
    return (np.ascontiguousarray(block[:, j]) for j in range(block.shape[1]))


class CodedPoints:
    """Records as points, shape (n, d), read like an array: by length and shape, `points[rows]` and `points.T`."""

    def __init__(self, columns: Sequence[CodedColumn], records: int, chosen: IntArray | None = None) -> None:
        """Of `records` records, or of those that `chosen` names by their rows, in that order."""
        self._columns, self._chosen = tuple(columns), chosen
        self.shape = (records if chosen is None else len(chosen), sum(column.width for column in self._columns))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Rows) -> FloatArray:
        """The points of these rows, the last axis their coordinates."""
        of = rows if self._chosen is None else self._chosen[rows]
        shape: tuple[int, ...]
        if isinstance(of, slice):
            flat: Rows = of
            shape = (len(range(*of.indices(len(self)))),)
        else:
            of = np.flatnonzero(of) if of.dtype == np.bool_ else of
            flat, shape = of.ravel(), of.shape
        points = np.empty((int(np.prod(shape)), self.shape[1]))
        known = [
            (column.codes[flat], column.table) if isinstance(column, ByCategory) else (column.of(flat), None)
            for column in self._columns
        ]
        for start in range(0, len(points), _AT_ONCE):
            part, at = slice(start, start + _AT_ONCE), 0
            for column, (given, table) in zip(self._columns, known, strict=True):
                points[part, at : at + column.width] = given[part] if table is None else table[given[part]]
                at += column.width
        return points.reshape(*shape, self.shape[1])

    @property
    def T(self) -> Iterator[FloatArray]:  # noqa: N802 - as an array has it
        """One coordinate of all points after the other, each of shape (n,)."""
        for column in self._columns:
            if isinstance(column, ByCategory):
                codes = column.codes[self._everybody]
                for j in range(column.width):
                    yield column.table[codes, j]
            else:
                yield from _columns(column.of(self._everybody))

    @property
    def keys(self) -> Iterator[npt.NDArray[Any]]:
        """Columns of shape (n,), fewer than `T`, that are equal, and in lexicographic order, where the points are."""
        for column in self._columns:
            yield from column.keys(self._everybody)

    @property
    def are_finite(self) -> bool:
        """Whether every coordinate is a finite number."""
        tables = [column.table for column in self._columns if isinstance(column, ByCategory)]
        if not all(np.isfinite(table).all() for table in tables):  # of a category that nobody has, or of a point
            return all(bool(np.isfinite(column).all()) for column in self.T)
        others = (column.of(self._everybody) for column in self._columns if not isinstance(column, ByCategory))
        return all(bool(np.isfinite(block).all()) for block in others)

    @property
    def _everybody(self) -> Rows:
        return slice(None) if self._chosen is None else self._chosen

    def take(self, rows: IntArray, axis: int = 0) -> "CodedPoints":
        """These rows, again worked out when they are asked for."""
        assert axis == 0
        return CodedPoints(self._columns, len(rows), rows if self._chosen is None else self._chosen[rows])

    def by_variable(self) -> "list[CodedPoints]":
        """The coordinates of each variable by themselves."""
        return [CodedPoints([column], len(self), self._chosen) for column in self._columns]

    def turned(self, centre: FloatArray | float, turn: FloatArray) -> "CodedPoints":
        """The points less a centre, times an invertible matrix of shape (d, d).

        Its `T` is that of the points before the turn: equal points stay equal, and different ones different.
        """
        return _TurnedPoints(self, centre, turn)

    @property
    def widths(self) -> tuple[int, ...]:
        """Coordinates of each variable."""
        return tuple(column.width for column in self._columns)

    def widest_category(self) -> int | None:
        """The place, among the variables, of the category of most coordinates; None where there is none."""
        places = [at for at, column in enumerate(self._columns) if isinstance(column, ByCategory)]
        return max(places, key=lambda at: self.widths[at], default=None)

    def category(self, at: int) -> tuple[FloatArray, IntArray]:
        """Where each category of this variable lies, shape (categories + 1, width), and the category of each point."""
        column = self._columns[at]
        assert isinstance(column, ByCategory)
        codes = column.codes[self._everybody].astype(np.int64)
        return column.table, np.where(codes < 0, codes + len(column.table), codes)

    def instead_of(self, at: int, places: FloatArray) -> "CodedPoints":
        """The points with one coordinate for this category, the last: where each of its codes lies, shape (codes,)."""
        column = self._columns[at]
        assert isinstance(column, ByCategory)
        columns = [*self._columns[:at], *self._columns[at + 1 :], ByCategory(places[:, None], column.codes)]
        records = len(column.codes) if self._chosen is None else len(self)
        return CodedPoints(columns, records, self._chosen)

    def standardised(self, centre: FloatArray, scale: FloatArray) -> "CodedPoints":
        """The points less a centre, over a scale, both of shape (d,)."""
        return _StandardisedPoints(self, centre, scale)


class _StandardisedPoints(CodedPoints):
    def __init__(self, points: CodedPoints, centre: FloatArray, scale: FloatArray) -> None:
        super().__init__(points._columns, len(points), points._chosen)
        self._points, self._centre, self._scale = points, centre, scale

    def __getitem__(self, rows: Rows) -> FloatArray:
        points = self._points[rows]
        points -= self._centre  # in place: whole files are asked for
        points /= self._scale
        return points

    @property
    def T(self) -> Iterator[FloatArray]:  # noqa: N802 - as an array has it
        for column, centre, scale in zip(self._points.T, self._centre, self._scale, strict=True):
            yield (column - centre) / scale

    @property
    def are_finite(self) -> bool:
        return all(bool(np.isfinite(column).all()) for column in self.T)

    def take(self, rows: IntArray, axis: int = 0) -> "CodedPoints":
        return self._points.take(rows, axis).standardised(self._centre, self._scale)

    def category(self, at: int) -> tuple[FloatArray, IntArray]:
        table, codes = self._points.category(at)
        of = self._axes_of(at)
        table = table - self._centre[of]
        table /= self._scale[of]
        return table, codes

    def instead_of(self, at: int, places: FloatArray) -> CodedPoints:
        of = self._axes_of(at)
        centre, scale = np.delete(self._centre, of), np.delete(self._scale, of)
        return self._points.instead_of(at, places).standardised(np.append(centre, 0.0), np.append(scale, 1.0))

    def _axes_of(self, at: int) -> slice:
        start = sum(self.widths[:at])
        return slice(start, start + self.widths[at])


class _TurnedPoints(CodedPoints):
    def __init__(self, points: CodedPoints, centre: FloatArray | float, turn: FloatArray) -> None:
        super().__init__(points._columns, len(points), points._chosen)
        self._points, self._centre, self._turn = points, centre, turn

    def __getitem__(self, rows: Rows) -> FloatArray:
        points = self._points[rows]
        points -= self._centre
        return np.asarray(points @ self._turn)

    def take(self, rows: IntArray, axis: int = 0) -> "CodedPoints":
        return self._points.take(rows, axis).turned(self._centre, self._turn)

    def widest_category(self) -> int | None:
        return None  # the turn mixes them


Points: TypeAlias = FloatArray | CodedPoints
"""Points of shape (n, d), as they are or to be worked out."""


def keys_of(points: Points) -> Iterable[npt.NDArray[Any]]:
    """Columns, of shape (n,) each, that are equal, and in lexicographic order, where the points are."""
    return points.keys if isinstance(points, CodedPoints) else points.T


def are_finite(points: Points) -> bool:
    """Whether every coordinate is a finite number."""
    return points.are_finite if isinstance(points, CodedPoints) else bool(np.isfinite(points).all())


def squared_apart(one: Points, other: Points, rows: IntArray) -> FloatArray:
    """Squared distance of the two points of each of these rows, shape (r,); both points in the same space."""
    apart = np.empty(len(rows))
    together = max(1, min(_AT_ONCE, _CELLS // one.shape[1]))
    for start in range(0, len(rows), together):
        some = rows[start : start + together]
        apart[start : start + together] = ((one[some] - other[some]) ** 2).sum(axis=1)
    return apart


def side_by_side(parts: Sequence[Points], at_once: int) -> Points:
    """Points of the same records, their coordinates beside each other.

    at_once : so many coordinates become an array; more, or those of hundreds of codes, are worked out when they are
              asked for
    """
    columns = [column for part in parts if isinstance(part, CodedPoints) for column in part._columns]
    wide = any(isinstance(column, ByCategory) and column.width >= _WIDE for column in columns)
    few = len(parts[0]) * sum(part.shape[1] for part in parts) <= at_once and not wide
    if few or not all(isinstance(part, CodedPoints) for part in parts):
        return np.hstack([part[:] for part in parts])
    return CodedPoints(columns, len(parts[0]))


def labels_in_order(column: "pd.Series[Any]") -> tuple[IntArray, "pd.Index[Any]"]:
    """Which of the different values each record has, -1 where it has none; and these, in the order of their coming."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = pd.factorize(plain_values(column))
        return codes, pd.Index(values)
    held = codes_of(column)
    came = pd.unique(held[held >= 0])
    place = np.full(len(column.cat.categories) + 1, -1)
    place[came] = np.arange(len(came))
    return place[held], pd.Index(np.asarray(column.cat.categories, dtype=object)[came])


def label_centroids(
    coded: CodedColumn, records: int, codes: IntArray, labels: int, ordered: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Where the records of each label lie, (labels, width); all records; and those without a label, both (width,).

    ordered : the first coordinate's middle is its median

    One coordinate at a time, as all of them would take much memory; to the bit as all of them together.
    """
    counts = None if ordered else _whole_coordinates(coded, codes, labels)
    if counts is not None:
        times, table = counts
        sums, held = times @ table, times.sum(axis=1)[:, None]
        none = sums[-1] / held[-1] if held[-1] else sums.sum(axis=0) / records
        return sums[:-1] / held[:-1], sums.sum(axis=0) / records, none
    by_label, overall, none = np.empty((labels, coded.width)), np.empty(coded.width), np.empty(coded.width)
    with_label = np.asarray(codes >= 0)
    every = bool(with_label.all())
    for j, column in enumerate(CodedPoints([coded], records).T):
        groups = pd.Series(column[with_label]).groupby(codes[with_label])
        by_label[:, j] = groups.median() if ordered and j == 0 else groups.mean()
        overall[j] = np.median(column) if ordered and j == 0 else _mean(column, coded.width)
        none[j] = overall[j] if every else _mean(column[~with_label], coded.width)
    return by_label, overall, none


def _whole_coordinates(coded: CodedColumn, codes: IntArray, labels: int) -> tuple[FloatArray, FloatArray] | None:
    """Of a category whose coordinates are whole numbers, sums of which are exact in any order, or very many: how often
    each label, and last none, has each category, (labels + 1, categories); and the coordinates. None of any other."""
    if not isinstance(coded, ByCategory):
        return None
    categories = len(coded.table)
    pairs = np.where(codes < 0, labels, codes) * categories + np.where(coded.codes < 0, categories - 1, coded.codes)
    times = np.bincount(pairs, minlength=(labels + 1) * categories).reshape(labels + 1, categories)
    table = np.where(times.sum(axis=0)[:, None] > 0, coded.table, 0.0)
    exact = coded.width >= _WIDE or (table == np.rint(table)).all()  # of so many coordinates each alone takes long
    return (times.astype(np.float64), table) if exact else None


def _mean(column: FloatArray, beside: int) -> float:
    """The mean of one of several columns, to the bit that of all together: these are added up record by record."""
    return float(column.mean() if beside == 1 else np.cumsum(column)[-1] / len(column))

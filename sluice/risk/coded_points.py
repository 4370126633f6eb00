"""Coded points: the records of a file as points, worked out when they are asked for.

A file of five million records in eighty coordinates takes 3.2 GB as one array; its categories take a byte each, and
where they lie is a short table. So a file is kept as its columns, and only rows that are looked at are made points.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray

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
        _, rank = np.unique(self.table, axis=0, return_inverse=True)
        yield rank.reshape(-1).astype(np.min_scalar_type(len(rank)))[self.codes[rows]]


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


Points: TypeAlias = FloatArray | CodedPoints
"""Points of shape (n, d), as they are or to be worked out."""


def keys_of(points: Points) -> Iterable[npt.NDArray[Any]]:
    """Columns, of shape (n,) each, that are equal, and in lexicographic order, where the points are."""
    return points.keys if isinstance(points, CodedPoints) else points.T


def are_finite(points: Points) -> bool:
    """Whether every coordinate is a finite number."""
    return points.are_finite if isinstance(points, CodedPoints) else bool(np.isfinite(points).all())


def side_by_side(parts: Sequence[Points], at_once: int) -> Points:
    """Points of the same records, their coordinates beside each other.

    at_once : so many coordinates become an array; more are worked out when they are asked for
    """
    if len(parts[0]) * sum(part.shape[1] for part in parts) <= at_once or not all(
        isinstance(part, CodedPoints) for part in parts
    ):
        return np.hstack([part[:] for part in parts])
    columns = [column for part in parts if isinstance(part, CodedPoints) for column in part._columns]
    return CodedPoints(columns, len(parts[0]))

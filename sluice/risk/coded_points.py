"""Coded points: the records of a file as points, worked out when they are asked for.

A file of five million records in eighty coordinates takes 3.2 GB as one array; its categories take a byte each, and
where they lie is a short table. So a file is kept as its columns, and only rows that are looked at are made points.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.arrays import FloatArray, IntArray

Rows: TypeAlias = slice | npt.NDArray[Any]


class CodedColumn(Protocol):
    """The coordinates of one variable."""

    @property
    def width(self) -> int: ...

    def of(self, rows: Rows) -> FloatArray:
        """Of these rows, shape (r, width)."""
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


@dataclass(frozen=True)
class ByValue:
    """Any other variable: each value is coded by itself."""

    column: "pd.Series[Any]"
    code: Callable[["pd.Series[Any]"], FloatArray]  # the coordinates of values, of each by itself
    width: int

    def of(self, rows: Rows) -> FloatArray:
        return self.code(self.column.iloc[rows])


@dataclass(frozen=True)
class Coded:
    """A variable whose coordinates stand there."""

    block: FloatArray  # (n, width)

    @property
    def width(self) -> int:
        return int(self.block.shape[1])

    def of(self, rows: Rows) -> FloatArray:
        return np.asarray(self.block[rows])


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
        points, at = np.empty((int(np.prod(shape)), self.shape[1])), 0
        for column in self._columns:
            points[:, at : at + column.width] = column.of(flat)
            at += column.width
        return points.reshape(*shape, self.shape[1])

    @property
    def T(self) -> Iterator[FloatArray]:  # noqa: N802 - as an array has it
        """One coordinate of all points after the other, each of shape (n,)."""
        everybody: Rows = slice(None) if self._chosen is None else self._chosen
        for column in self._columns:
            if isinstance(column, ByCategory):
                codes = column.codes[everybody]
                for j in range(column.width):
                    yield column.table[codes, j]
            else:
                block = column.of(everybody)
                yield from (np.ascontiguousarray(block[:, j]) for j in range(column.width))

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
        return np.asarray((self._points[rows] - self._centre) / self._scale)

    @property
    def T(self) -> Iterator[FloatArray]:  # noqa: N802 - as an array has it
        for column, centre, scale in zip(self._points.T, self._centre, self._scale, strict=True):
            yield (column - centre) / scale

    def take(self, rows: IntArray, axis: int = 0) -> "CodedPoints":
        return self._points.take(rows, axis).standardised(self._centre, self._scale)


class _TurnedPoints(CodedPoints):
    def __init__(self, points: CodedPoints, centre: FloatArray | float, turn: FloatArray) -> None:
        super().__init__(points._columns, len(points), points._chosen)
        self._points, self._centre, self._turn = points, centre, turn

    def __getitem__(self, rows: Rows) -> FloatArray:
        return (self._points[rows] - self._centre) @ self._turn

    def take(self, rows: IntArray, axis: int = 0) -> "CodedPoints":
        return self._points.take(rows, axis).turned(self._centre, self._turn)


Points: TypeAlias = FloatArray | CodedPoints
"""Points of shape (n, d), as they are or to be worked out."""


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

"""Learned curves: a released number from one known number by what is known of the people on either side.

A line, bent or not, knows one direction. Values that were mapped in pieces (teeth of a saw, bands put in another order
or turned round) follow it nowhere; but people whose values are next to each other mostly have released values next to
each other. So each released number is read off the two known people on either side, or is the mean of several on either
side, of the known number that tells it best; or of the sum, or the difference, of two known ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.risk.linkage.mapped_columns import Column

_SIDES = (1, 4, 16)  # people on either side
_MOST = 40_000_000  # known numbers times released ones times people
_GAIN = 0.1  # of the logarithm of the residuals' variance, from which a curve is worth it: many are tried
_OF_TWO, _MOST_OF_TWO = 0.5, 12  # the same of two known numbers, which are many more; of so many numbers at most


@dataclass(frozen=True)
class LearnedCurves:
    """For each released number the curve that tells it best.

    left : residuals of the people learned from, each left out, shape (l, t)
    """

    left: FloatArray = field(repr=False)
    _by: tuple[tuple[int, int], ...]  # of each released number the known one, and the people on either side
    _known: tuple[Column, ...] = field(repr=False)
    _rows: IntArray = field(repr=False)
    _y: FloatArray = field(repr=False)

    @classmethod
    def learn(cls, known: Sequence[Column], y: FloatArray, left: FloatArray, rows: IntArray) -> "LearnedCurves | None":
        """From the pairs of these people; None where none is worth it.

        y    : (l, t) the released numbers, mean 0
        left : (l, t) what another way leaves
        cost : O(l (log l + t)) for each known number, and, of at most 12, for each two
        """
        numbers = tuple(column for column in known if column.is_number)
        if not y.shape[1] or len(numbers) * y.size > _MOST:
            return None
        least = np.exp(-_GAIN) * (left**2).mean(axis=0)
        by, found, kept = [(-1, 0)] * y.shape[1], left.copy(), list(numbers)

        def look(at: int, told_by: FloatArray) -> bool:
            order = _in_order(told_by)
            better = False
            for sides in _SIDES if len(order) > 2 * _SIDES[0] else ():
                tried = y.copy()
                tried[order] = y[order] - _without(told_by[order], y[order], sides)
                error = (tried**2).mean(axis=0)
                for j in np.flatnonzero(error < least).tolist():
                    by[j], least[j], found[:, j], better = (at, sides), error[j], tried[:, j], True
            return better

        for at, column in enumerate(numbers):
            look(at, column.values[rows])
        least = np.exp(-_OF_TWO) * least
        for two in _sums_of_two(numbers, rows, y.size):
            if look(len(kept), two.of(rows)):
                kept.append(Column(two.name, two.of(slice(None)), True))
        if all(at < 0 for at, _ in by):
            return None
        return cls(found, tuple(by), tuple(kept), rows, y)

    def of(self, people: IntArray) -> FloatArray:
        """What is expected of these people, shape (q, t); 0 where no curve is worth it, or nothing is known."""
        made = np.zeros((len(people), len(self._by)))
        for at, sides in dict.fromkeys(self._by):
            if at < 0:
                continue
            which = np.array([j for j, by in enumerate(self._by) if by == (at, sides)])
            order = _in_order(self._known[at].values[self._rows])
            values, y = self._known[at].values[self._rows[order]], self._y[np.ix_(order, which)]
            asked = self._known[at].values[people]
            told = np.flatnonzero(np.isfinite(asked))
            made[np.ix_(told, which)] = _between(values, y, asked[told]) if sides == 1 else _mean(
                values, y, asked[told], sides
            )  # fmt: skip
        return made


@dataclass(frozen=True)
class _Two:
    """The sum of two numbers, each in units of its spread; or the difference."""

    one: Column
    other: Column
    units: tuple[float, float]

    @property
    def name(self) -> str:
        return f"{self.one.name} and {self.other.name}"

    def of(self, rows: IntArray | slice) -> FloatArray:
        return np.asarray(self.one.values[rows] / self.units[0] + self.other.values[rows] / self.units[1])


def _sums_of_two(numbers: Sequence[Column], rows: IntArray, size: int) -> Iterator[_Two]:
    """size : of what is told by each"""
    if len(numbers) > _MOST_OF_TWO or len(numbers) ** 2 * size > _MOST:
        return
    spread = [_spread(column.values[rows]) for column in numbers]
    for (i, one), (j, other) in combinations(enumerate(numbers), 2):
        for sign in (1.0, -1.0):
            yield _Two(one, other, (spread[i], sign * spread[j]))


def _spread(values: FloatArray) -> float:
    """The standard deviation of what is known; 1 where nothing varies, or nothing is known."""
    known = values[np.isfinite(values)]
    return float(known.std()) or 1.0 if len(known) else 1.0


def _in_order(values: FloatArray) -> IntArray:
    inside = np.flatnonzero(np.isfinite(values))
    return inside[np.argsort(values[inside], kind="stable")]


def _without(values: FloatArray, y: FloatArray, sides: int) -> FloatArray:
    """What the others tell of each of these people, who rise in what is known of them."""
    n = len(values)
    if sides == 1:
        before, after = np.maximum(np.arange(n) - 1, 0), np.minimum(np.arange(n) + 1, n - 1)
        before[0], after[-1] = 1, n - 2
        wide = values[after] - values[before]
        share = np.where(wide > 0, (values - values[before]) / np.where(wide > 0, wide, 1.0), 0.5)
        share = np.clip(share, 0.0, 1.0)[:, None]
        return (1 - share) * y[before] + share * y[after]
    total = np.vstack([np.zeros(y.shape[1]), np.cumsum(y, axis=0)])
    first, last = np.maximum(np.arange(n) - sides, 0), np.minimum(np.arange(n) + sides + 1, n)
    return np.asarray((total[last] - total[first] - y) / (last - first - 1)[:, None])


def _between(values: FloatArray, y: FloatArray, asked: FloatArray) -> FloatArray:
    knots, first, counts = np.unique(values, return_index=True, return_counts=True)
    means = np.add.reduceat(y, first, axis=0) / counts[:, None]
    return np.column_stack([np.interp(asked, knots, column) for column in means.T])


def _mean(values: FloatArray, y: FloatArray, asked: FloatArray, sides: int) -> FloatArray:
    total = np.vstack([np.zeros(y.shape[1]), np.cumsum(y, axis=0)])
    middle = (np.searchsorted(values, asked, "left") + np.searchsorted(values, asked, "right")) // 2
    first, last = np.maximum(middle - sides, 0), np.minimum(middle + sides, len(values))
    return np.asarray((total[last] - total[first]) / (last - first)[:, None])

"""Nearest neighbours by a category of hundreds of codes and by other coordinates, without a coordinate for each code.

Dummy coding lays each code on an axis of its own, so that all codes are equally far apart, or as far as the heights on
the two axes say. The squared distance of a query of code a at height x and a point of code b at height y is then that
by the other coordinates, plus x^2 + y^2 where a and b differ, and plus (x - y)^2 where they are the same. So the k
nearest of all are among the k nearest of the same code, and the k nearest by the other coordinates and one more, in
which points lie at y and queries at 0: whoever is not among these is no nearer than k others, which is exact. Codes
that lie elsewhere, such as a missing value in the middle of all, are few, and are searched one by one.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.coded_points import CodedPoints, Points

WIDE = 256  # coordinates of a category from which on it is taken apart
Int32Array = npt.NDArray[np.int32]

_MOST_ELSEWHERE = 8  # codes that lie on no axis
_AT_ONCE = 100_000  # points of several codes that are looked at together
_SCANNED = 4_096  # points of one code that are looked at one by one; more are searched

Search: TypeAlias = Callable[[FloatArray, Points, Int32Array, int, IntArray], tuple[FloatArray, IntArray]]
"""Squared distances and places of the k nearest, as `nearest_neighbours` looks for them among distinct points."""


@dataclass(frozen=True)
class _OnAxes:
    """Where the codes of a category lie: each on its axis, but for a few."""

    code: IntArray  # (n,) of each record
    axis_of: IntArray  # (codes,) -1: at the base, or elsewhere
    height_of: FloatArray  # (codes,) above the base, 0 elsewhere
    elsewhere: Mapping[int, FloatArray]  # codes, of these records, that lie on no axis, and where, less the base

    @classmethod
    def of(cls, table: FloatArray, base: FloatArray, code: IntArray) -> "_OnAxes":
        off = table != base
        count = off.sum(axis=1)
        axis = np.where(count == 1, off.argmax(axis=1), -1)
        height = np.where(count == 1, table[np.arange(len(table)), axis] - base[axis], 0.0)
        held = np.flatnonzero(np.bincount(code, minlength=len(table)) > 0)
        return cls(code, axis, height, {int(each): table[each] - base for each in held[count[held] > 1]})

    @cached_property
    def axis(self) -> IntArray:
        return self.axis_of[self.code]

    @cached_property
    def height(self) -> FloatArray:
        return self.height_of[self.code]

    @cached_property
    def is_elsewhere(self) -> BoolArray:
        """Of each record."""
        return np.asarray(np.isin(self.code, [*self.elsewhere]))

    def squared_from(self, place: FloatArray) -> FloatArray:
        """Squared distance of each code from a place, less the base, shape (codes,)."""
        there = np.where(self.axis_of >= 0, place[self.axis_of], 0.0)
        apart = np.maximum(float(place @ place) - there**2, 0.0) + (there - self.height_of) ** 2
        for code, lies in self.elsewhere.items():
            apart[code] = ((lies - place) ** 2).sum()
        return np.asarray(apart)


@dataclass(frozen=True)
class WideCategory:
    """Queries and points, parted into a wide category and the other coordinates.

    queries : the other coordinates of the queries, and a last one of 0, (n, d + 1)
    """

    asking: _OnAxes
    asked: _OnAxes
    queries: FloatArray
    points: CodedPoints
    of_points: int  # the category's place among the columns of the points

    @classmethod
    def of(cls, queries: CodedPoints, points: CodedPoints) -> "WideCategory | None":
        """None where no category is wide, or most of its codes lie on no axes."""
        at = points.widest_category()
        if at is None or len(points.widths) == 1 or points.widths[at] < WIDE or at != queries.widest_category():
            return None
        theirs, their_codes = points.category(at)
        base = _base(theirs)
        asked = _OnAxes.of(theirs, base, their_codes)
        del theirs  # before there is another: each may take much memory
        mine, my_codes = queries.category(at)
        asking = _OnAxes.of(mine, base, my_codes)
        if max(len(asking.elsewhere), len(asked.elsewhere)) > _MOST_ELSEWHERE:
            return None
        rest = queries.instead_of(at, np.zeros(len(mine)))[:]
        del mine
        return cls(asking, asked, rest, points, at)

    def nearest(self, distinct: Int32Array, k: int, skipped: IntArray, search: Search) -> tuple[FloatArray, IntArray]:
        """Squared distances and places in `distinct` of the k nearest, both (n, k), by (squared distance, place)."""
        n = len(self.queries)
        squared, found = np.full((n, k), np.inf), np.full((n, k), -1, np.int64)
        lost = self.asking.is_elsewhere
        on_axes = np.flatnonzero(~lost)
        known = ~self.asked.is_elsewhere[distinct]
        for asking, places, heights, more, same in self._looks(on_axes, lost, distinct, known):
            if not len(asking) or not len(places):
                continue
            points = self.points.instead_of(self.of_points, heights)
            inside = np.full(len(distinct) + 1, -1)
            inside[places] = np.arange(len(places))
            near, where = search(
                self.queries[asking], points, distinct[places], min(k, len(places)), inside[skipped[asking]]
            )
            where = np.where(np.isfinite(near), places[where], -1)
            near = _rounded(near + more[:, None])
            if not same:  # of the same code they are measured apart
                axis = self.asking.axis[asking][:, None]
                near[(axis >= 0) & (self.asked.axis[distinct[where]] == axis)] = np.inf
            _keep_nearest(squared, found, asking, near, where)
        self._same_code(on_axes, distinct, np.flatnonzero(known), skipped, squared, found, search)
        return squared, found

    def _looks(
        self, on_axes: IntArray, lost: BoolArray, distinct: Int32Array,
        known: BoolArray,
    ) -> Iterator[tuple[IntArray, IntArray, FloatArray, FloatArray, bool]]:  # fmt: skip
        """Queries, places of points, height of each code of the points, what is added for each query, and whether the
        points of a query's own code are measured rightly, too."""
        x = self.asking.height[on_axes] ** 2
        yield on_axes, np.flatnonzero(known), np.abs(self.asked.height_of), x, False
        flat = np.zeros(len(self.asked.axis_of))
        for code, lies in self.asked.elsewhere.items():  # as far from all queries of one code
            more = self.asking.squared_from(lies)[self.asking.code[on_axes]]
            yield on_axes, np.flatnonzero(self.asked.code[distinct] == code), flat, more, True
        for code, lies in self.asking.elsewhere.items():
            asking = np.flatnonzero(lost & (self.asking.code == code))
            apart = np.sqrt(self.asked.squared_from(lies))
            yield asking, np.arange(len(distinct)), apart, np.zeros(len(asking)), True

    def _same_code(
        self, asking: IntArray, distinct: Int32Array, places: IntArray, skipped: IntArray, squared: FloatArray,
        found: IntArray, search: Search,
    ) -> None:  # fmt: skip
        """Look among the points of each query's own code."""
        from sluice.risk.distances.neighbour_kernel import nearest_of_groups

        points = self.points.instead_of(self.of_points, np.zeros(len(self.asked.axis_of)))
        axis = self.asked.axis[distinct[places]]
        in_order = np.argsort(axis, kind="stable")
        ordered, axis = places[in_order], axis[in_order]
        asking = asking[self.asking.axis[asking] >= 0]
        asking = asking[np.argsort(self.asking.axis[asking], kind="stable")]
        of = self.asking.axis[asking]
        starts, stops = (np.searchsorted(axis, of, side) for side in ("left", "right"))
        many = stops - starts > _SCANNED
        k = squared.shape[1]
        for own in np.unique(of[many]):
            mine, theirs = asking[of == own], ordered[axis == own]
            inside = np.full(len(distinct) + 1, -1)
            inside[theirs] = np.arange(len(theirs))
            near, where = search(
                self.queries[mine], points, distinct[theirs], min(k, len(theirs)), inside[skipped[mine]]
            )
            self._keep(squared, found, mine, near, np.where(np.isfinite(near), theirs[where], -1), distinct)
        few = np.flatnonzero(~many & (stops > starts))
        while len(few):
            first = starts[few[0]]
            some = few[stops[few] <= max(first + _AT_ONCE, stops[few[0]])]
            mine, last = asking[some], stops[some[-1]]
            near, where = np.full((len(mine), k), np.inf), np.full((len(mine), k), -1)
            nearest_of_groups(
                self.queries[mine], points[distinct[ordered[first:last]]], ordered[first:last], starts[some] - first,
                stops[some] - first, skipped[mine], near, where,
            )  # fmt: skip
            self._keep(squared, found, mine, near, where, distinct)
            few = few[len(some) :]

    def _keep(
        self, squared: FloatArray, found: IntArray, rows: IntArray, near: FloatArray, where: IntArray,
        distinct: Int32Array,
    ) -> None:  # fmt: skip
        """Keep what was found of the same code, measured by the other coordinates."""
        more = (self.asking.height[rows][:, None] - self.asked.height[distinct[where]]) ** 2
        _keep_nearest(squared, found, rows, _rounded(near + more), where)


def variance_within(points: Points, groups: IntArray) -> FloatArray | None:
    """The mean over the coordinates of the variance (n - 1) within each group of points, shape (n,); None where no
    category is wide, so that all coordinates are easily looked at.

    groups : rows of the points, shape (n, k)

    The variances of all coordinates add up to the mean squared distance of two points of the group, halved.
    """
    at = points.widest_category() if isinstance(points, CodedPoints) else None
    if at is None or not isinstance(points, CodedPoints) or points.widths[at] < WIDE:
        return None
    table, codes = points.category(at)
    of = _OnAxes.of(table, _base(table), codes)
    if len(of.elsewhere) > _MOST_ELSEWHERE:
        return None
    others = points.instead_of(at, np.zeros(len(of.axis_of)))[groups]
    others = others - others[:, :1]  # copies of one record then vary by 0 exactly
    k = groups.shape[1]
    total = others.var(axis=1, ddof=1).sum(axis=1)
    far = {code: of.squared_from(lies) for code, lies in of.elsewhere.items()}
    for i, j in combinations(range(k), 2):
        one, other = groups[:, i], groups[:, j]
        x, y = of.height[one], of.height[other]
        alike = (of.axis[one] == of.axis[other]) & (of.axis[one] >= 0)
        apart = np.where(alike, (x - y) ** 2, x**2 + y**2)
        for code, distances in far.items():
            apart = np.where(of.code[one] == code, distances[of.code[other]], apart)
            apart = np.where(of.code[other] == code, distances[of.code[one]], apart)
        total += apart / (k * (k - 1))
    return np.asarray(total / points.shape[1])


def _base(table: FloatArray) -> FloatArray:
    """Where all codes lie but on their own axis: what two of three codes agree on."""
    one, two, three = table[0], table[1], table[2]
    return np.asarray(np.where((one == two) | (one == three), one, two))


def _rounded(squared: FloatArray) -> FloatArray:
    """To 41 bits, as the search rounds: equal distances tie, however they were summed."""
    with np.errstate(invalid="ignore"):
        scaled = 4097.0 * squared
        return np.asarray(np.where(np.isfinite(squared), scaled - (scaled - squared), np.inf))


def _keep_nearest(squared: FloatArray, found: IntArray, rows: IntArray, near: FloatArray, where: IntArray) -> None:
    """Keep the k nearest by (squared distance, place) of what was found before and of these."""
    k = squared.shape[1]
    all_squared, all_found = np.hstack([squared[rows], near]), np.hstack([found[rows], where])
    order = np.lexsort((all_found, all_squared), axis=1)[:, :k]
    squared[rows] = np.take_along_axis(all_squared, order, axis=1)
    found[rows] = np.take_along_axis(all_found, order, axis=1)

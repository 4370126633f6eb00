"""Nearest neighbours: the k points of a file that lie nearest to each query, exactly.

Single precision only screens: whatever its proven rounding slack cannot rule out is measured again in double precision,
by differences, on the rows themselves. An exact copy therefore lies at distance 0 exactly. Points that stand several
times (thousands of times, in categorical data) are searched once and counted as often as they stand.

Source: Lasko and Vinterbo (2010), section II.A, needs them. The search is the project's own; see `neighbour_kernel`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.parallel_jobs import each_in_threads
from sluice.ground.progress import counted
from sluice.risk.coded_points import CodedPoints, Points, are_finite, keys_of
from sluice.risk.distances.wide_category import WideCategory
from sluice.risk.row_groups import row_groups

Float32Array = npt.NDArray[np.float32]
Int32Array = npt.NDArray[np.int32]

_SINGLE = 2.0**-24  # unit roundoff of float32
_GOLDEN = (5**0.5 - 1) / 2  # its multiples fall evenly between 0 and 1
_PART = 2048  # rows are rotated in parts of so many, which fit a processor's cache
_AXES_FROM = 16_384  # points from which the main axes are found
_MAIN_AXES = (6, 12, 24)  # how many may be looked at first, besides all of them
_BATCH = 32  # groups of queries that are searched together
_TRIED = 2  # batches that tell how many main axes are best, of 16 times as many at least
_EDGES = 8  # main axes along which points are divided that are not searched at once
_FEW = 32_768  # points that tell how far away the nearest of all are at most
_COORDINATES = 4_000_000  # of points that are searched at a time: 32 MB, and as much again for the search
_MANY = 5_000  # queries from which on it pays to lay out points by where they are
_LARGEST = 1e37  # of a squared length in single precision; whatever is longer is measured in full


_Places: TypeAlias = tuple[IntArray, Float32Array, Float32Array]


@dataclass(frozen=True)
class Neighbours:
    """The nearest points of each query, nearest first."""

    distance: FloatArray  # (n, k), Euclidean, right to 12 digits; 0 for an exact copy
    index: IntArray  # (n, k), rows of `points`; a point that stands several times is named by one of its rows


def nearest_neighbours(queries: Points, points: Points, k: int, own_row: IntArray | None = None) -> Neighbours:
    """The k nearest of `points` to each of `queries`.

    queries : shape (n, d), finite; as coded points, a category of hundreds of codes takes no coordinate for each
    points  : shape (m, d), finite, in any order: ties are broken by value, so the order of the rows does not show
    own_row : shape (n,), the row of `points` that is left out for each query (leave-one-out); -1 for none. It is left
              out by its position: another point of equal values stays
    raises  : ValueError on shapes that do not match, values that are not finite, or fewer than k points
    cost    : O(n m d) time at worst, far less where a few main axes hold most of the variance; about 20 d bytes for
              each query and each of the 12,000,000 / d points that are searched at a time, and 50 bytes for each
              point, in addition to the arguments and the result
    """
    parted = None
    if isinstance(queries, CodedPoints):
        parted = WideCategory.of(queries, points) if isinstance(points, CodedPoints) else None
        queries = queries if parted else queries[:]
    if not isinstance(queries, CodedPoints):
        queries = np.ascontiguousarray(queries, np.float64)
    if not isinstance(points, CodedPoints):
        points = np.ascontiguousarray(points, np.float64)
    available = len(points) - (own_row is not None and bool((own_row >= 0).any()))
    if len(queries.shape) != 2 or len(points.shape) != 2 or queries.shape[1] != points.shape[1] or points.shape[1] == 0:
        raise ValueError(f"queries and points must be of shape (., d), d >= 1; got {queries.shape}, {points.shape}")
    if not 1 <= k <= available:
        raise ValueError(f"k must be from 1 to the number of points that may be found, {available}; got {k}")
    if not (are_finite(queries) and are_finite(points)):
        raise ValueError("queries and points must be finite. Was a missing value left uncoded?")
    first, times, own_group = _distinct(points, len(queries), own_row)
    # A point that stands once and is the query's own is skipped; one that stands more often loses one of its copies.
    skipped = np.where((own_group >= 0) & (times[own_group] == 1), own_group, -1)
    most = min(k, len(first))
    if parted:
        squared, found = parted.nearest(first, most, skipped, _nearest_distinct)
    else:
        squared, found = _nearest_distinct(queries[:], points, first, most, skipped)
    copies = np.where(np.isfinite(squared), times[found] - (found == own_group[:, None]), 0)
    place = places_by_copies(copies, k)
    return Neighbours(
        distance=np.sqrt(np.take_along_axis(squared, place, axis=1)),
        index=first[np.take_along_axis(found, place, axis=1)].astype(np.int64),
    )


def places_by_copies(copies: IntArray, k: int) -> IntArray:
    """Which of the points, nearest first, fills each of k places, shape (n, k), where a point stands several times.

    copies : how often each stands, shape (n, w): the r-th place is of the first whose copies, added up, reach past r
    cost   : O(n w k) time; 9 bytes for each of `copies` and 8 for each place
    """
    reach, places = np.cumsum(copies, axis=1), np.empty((len(copies), k), np.int64)
    for at in range(k):
        places[:, at] = np.count_nonzero(reach <= at, axis=1)
    return places


def _distinct(points: Points, queries: int, own_row: IntArray | None) -> tuple[Int32Array, Int32Array, IntArray]:
    """Rows of the different points, and how often each stands, both (g,); and which of them is each query's own, (n,).

    Of several points at one distance the first is found: numbered as here, these are evenly spread over all values.
    """
    groups = row_groups(keys_of(points))
    order = np.argsort(np.arange(len(groups.size)) * _GOLDEN % 1.0, kind="stable")
    own_group = np.full(queries, -1, np.int64)
    if own_row is not None:
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order))
        own_group = np.where(own_row >= 0, place[groups.of[own_row]], own_group)
    first, times = (each.astype(np.int32)[order] for each in (groups.first, groups.size))
    return first, times, own_group


def _nearest_distinct(
    queries: FloatArray, points: Points, distinct: Int32Array, k: int, skipped: IntArray
) -> tuple[FloatArray, IntArray]:
    """Squared distances and places in `distinct` of the k nearest, both (n, k), by (squared distance, place).

    distinct : shape (g,), rows of `points`; they are searched part by part, and in whatever parts, the same is found

    Slack: with u = 2^-24 the sum of at most d + 3 rounded products is off by about (d + 5) u (2 |q||p| + |p|^2), and
    coordinates rounded to float32 by u of themselves. Only a point with |p| <= |q| + R can lie within R of the query,
    which bounds |p|; the edges of a box, where it matters, are coordinates of such points.
    """
    n = len(queries)
    if n == 0:
        return np.empty((0, k)), np.empty((0, k), np.int64)
    some = points[distinct[:: max(1, len(distinct) // _AXES_FROM)]]
    centre = some.mean(axis=0)
    axes = _main_axes(some - centre)
    search = _Search.of(queries, centre, axes, k, skipped)
    laid_out = n >= _MANY
    parts = _parts(points, distinct, centre, axes, laid_out)
    if len(parts) > 1:
        few = np.arange(min(_FEW, len(distinct)))  # evenly spread: who is near those is near enough
        search.bound(_Part.of(points, distinct, few, centre, axes, laid_out))
    best: int | None = None
    for places, low, high in parts:
        batches = search.batches_near(low, high)
        if not batches:
            continue
        part = _Part.of(points, distinct, places, centre, axes, laid_out)
        best = best or search.main_axes(part)
        search.look(part, best, batches)
        del part  # before there is another: each takes much memory
    return search.answers(n)


def _parts(points: Points, distinct: Int32Array, centre: FloatArray, axes: FloatArray, laid_out: bool) -> list[_Places]:
    """Places in `distinct` that are searched together, and their edges on the first main axes.

    laid_out : more than fit are divided so that each part's points are near each other: most queries then need few of
               the parts. Otherwise as they come, and nothing is known of where they are
    """
    from sluice.risk.distances.neighbour_blocks import beside_each_other

    d = axes.shape[0]
    together = max(1, _COORDINATES // d)
    if len(distinct) <= together or not laid_out:
        everywhere = np.full(min(_EDGES, d), np.inf, np.float32)
        runs = ((start, min(start + together, len(distinct))) for start in range(0, len(distinct), together))
        return [(np.arange(*run), -everywhere, everywhere) for run in runs]
    turned = _turned(lambda part: points[distinct[part]], len(distinct), centre, axes[:, :_EDGES])
    places = np.split(beside_each_other(turned, together), range(together, len(distinct), together))
    return [(each, turned[each].min(axis=0), turned[each].max(axis=0)) for each in places]


@dataclass(frozen=True)
class _Part:
    """Points that are searched together, as the kernel takes them."""

    points: FloatArray
    blocks: Float32Array
    members: IntArray
    places: IntArray  # in `distinct`

    @classmethod
    def of(
        cls, points: Points, distinct: Int32Array, places: IntArray, centre: FloatArray, axes: FloatArray,
        laid_out: bool,
    ) -> Self:  # fmt: skip
        from sluice.risk.distances.neighbour_kernel import LANES, POINTS

        rows = points[distinct[places]]
        return cls(rows, *_in_blocks(rows, centre, axes, LANES, POINTS, laid_out), places)


@dataclass(frozen=True)
class _Search:
    """The queries as the kernel takes them, and the nearest that were found so far."""

    blocks: Float32Array
    order: IntArray  # the query in each place; the last group is filled up with one that is not read
    rows: FloatArray
    lengths: FloatArray
    never: IntArray
    bounds: FloatArray  # the k-th is not farther, as is known of some of the points
    squared: FloatArray
    found: IntArray

    @classmethod
    def of(cls, queries: FloatArray, centre: FloatArray, axes: FloatArray, k: int, skipped: IntArray) -> Self:
        from sluice.risk.distances.neighbour_kernel import AXES, QUERIES

        blocks, order = _in_blocks(queries, centre, axes, QUERIES, QUERIES, laid_out=True)
        lengths = blocks[:, 1].reshape(-1).astype(np.float64)
        blocks[:, 1], blocks[:, AXES:] = 1.0, -2.0 * blocks[:, AXES:]
        order = np.where(order < 0, order[0], order)
        bounds, squared = np.full(len(order), np.inf), np.full((len(order), k), np.inf)
        found = np.full((len(order), k), -1, np.int64)
        return cls(blocks, order, queries[order], lengths, skipped[order], bounds, squared, found)

    @property
    def batches(self) -> range:
        """The first group of each batch."""
        return range(0, len(self.blocks), _BATCH)

    def batches_near(self, low: Float32Array, high: Float32Array) -> list[int]:
        """Batches with a query whose k nearest may lie between these edges on the first main axes."""
        from sluice.risk.distances.neighbour_kernel import AXES, QUERIES

        places = self.blocks[:, AXES : AXES + len(low)].transpose(0, 2, 1).reshape(-1, len(low)) * np.float32(-0.5)
        with np.errstate(invalid="ignore", over="ignore"):
            gaps = np.fmax(np.fmax(low - places, places - high), 0).astype(np.float64)
            worst = np.minimum(self.bounds, self.squared[:, -1])
            length = np.sqrt(self.lengths)
            farthest = length + np.sqrt(worst)  # as `_reach` in the kernel
            reach = worst + self._slack * (2 * length + farthest) * farthest + self.rows.shape[1] * 2.0**-120
            near = ~((gaps**2).sum(axis=1) > reach)
        together = _BATCH * QUERIES
        return [first for first in self.batches if near[first * QUERIES : first * QUERIES + together].any()]

    @property
    def _slack(self) -> float:
        return float(self.rows.shape[1] + 32) * _SINGLE

    def batch(self, part: _Part, main: int) -> Callable[[int], tuple[int, int]]:
        """How to look for a batch of groups among these points, with so many main axes first."""
        from sluice.risk.distances.neighbour_kernel import AXES, PARTS, search

        part.blocks[:, 0] = _length_from(part.blocks, AXES + main)
        self.blocks[:, 0] = -_length_from(self.blocks, AXES + main)
        low, high = _edges(part.blocks[:, : AXES + main], PARTS)
        in_parts = part.blocks.reshape(-1, PARTS, *part.blocks.shape[1:])

        def look(first: int) -> tuple[int, int]:
            counts: tuple[int, int] = search(
                in_parts, part.members, low, high, self.blocks, self.rows, part.points, self.lengths, self.never,
                self._slack, self.bounds, self.squared, self.found, part.places, first,
                min(first + _BATCH, len(self.blocks)),
            )  # fmt: skip
            return counts

        return look

    def look(self, part: _Part, main: int, batches: Sequence[int]) -> None:
        """Look for these batches among the points of a part."""
        for _ in counted(each_in_threads(self.batch(part, main), batches), "nearest records", len(batches)):
            pass

    def bound(self, part: _Part) -> None:
        """Look among some of the points, for how far away the k nearest are at most."""
        [*each_in_threads(self.batch(part, self._usual_axes), self.batches)]
        self.bounds[:] = self.squared[:, -1]
        self._forget()

    def main_axes(self, part: _Part) -> int:
        """How many main axes to look at first; where there are many batches, some tell. What they find is forgotten."""
        if len(self.batches) < 16 * _TRIED:
            return self._usual_axes
        some = self.batches[:: len(self.batches) // _TRIED]
        costs = {}
        for main in self._axes:
            costs[main] = _cost(main, self.rows.shape[1], map(self.batch(part, main), some))
            self._forget()
        return min(costs, key=lambda main: costs[main])

    @property
    def _axes(self) -> list[int]:
        d = self.rows.shape[1]
        return [main for main in _MAIN_AXES if main < d] + [d]

    @property
    def _usual_axes(self) -> int:
        return self._axes[(len(self._axes) - 1) // 2]

    def _forget(self) -> None:
        self.squared[:], self.found[:] = np.inf, -1

    def answers(self, n: int) -> tuple[FloatArray, IntArray]:
        """What was found for the n queries, in their order."""
        squared, found = np.empty((n, self.squared.shape[1])), np.empty((n, self.squared.shape[1]), np.int64)
        squared[self.order[:n]], found[self.order[:n]] = self.squared[:n], self.found[:n]
        return squared, found


def _cost(main: int, d: int, counts: Iterable[tuple[int, int]]) -> float:
    """Of looking at so many axes first, in cycles: sixteen a row for a block, two a row for a vector."""
    return sum(16 * screened * (main + 2) + looked_at * (2 * d + 24) for screened, looked_at in counts)


def _main_axes(some: FloatArray) -> FloatArray:
    """Orthonormal axes, shape (d, d), those that hold most of the spread of some points first.

    Any axes give the right answer; these leave few points for the second look. A few thousand points tell them.
    """
    scale = np.abs(some).max(initial=0.0) or 1.0
    _, axes = np.linalg.eigh((some / scale).T @ (some / scale))
    return np.ascontiguousarray(axes[:, ::-1])


def _in_blocks(
    rows: FloatArray, centre: FloatArray, axes: FloatArray, lanes: int, together: int, laid_out: bool
) -> tuple[Float32Array, IntArray]:
    """Rows as the kernel takes them, shape (b, 2 + d, lanes), and the row in each lane, (b lanes,), -1 for none; those
    that are near each other `together`, where they are to be laid out.

    Of each block's rows the first is left open, the second holds the squared lengths: infinite where there is none, and
    no number where single precision may not hold the products.
    """
    from sluice.risk.distances.neighbour_blocks import beside_each_other, fill_blocks

    n, d = rows.shape
    turned = _turned(lambda part: rows[part], n, centre, axes)
    near = beside_each_other(turned[:, : max(_MAIN_AXES)], together) if laid_out else np.arange(n)
    order = np.append(near, np.full(-n % together, -1))
    blocks = np.zeros((len(order) // lanes, 1 + -(-(1 + d) // 4) * 4, lanes), np.float32)
    fill_blocks(turned, order, blocks, _LARGEST)
    return blocks, order


def _turned(rows: Callable[[slice], FloatArray], n: int, centre: FloatArray, axes: FloatArray) -> Float32Array:
    """Places of n rows along the axes, shape (n, axes)."""
    turned = np.empty((n, axes.shape[1]), np.float32)
    with np.errstate(over="ignore"):
        for start in range(0, n, _PART):
            turned[start : start + _PART] = (rows(slice(start, start + _PART)) - centre) @ axes
    return turned


def _length_from(blocks: Float32Array, row: int) -> FloatArray:
    """Length along the axes from this row of the blocks on, shape (b, lanes)."""
    rest = blocks[:, row:]
    return np.asarray(np.sqrt(np.einsum("brl,brl->bl", rest, rest, dtype=np.float64)))


def _edges(blocks: Float32Array, parts: int) -> tuple[Float32Array, Float32Array]:
    """The edges of each block of so many parts, both of shape (rows, blocks)."""
    low, high = (each.reshape(-1, parts, each.shape[1]) for each in (blocks.min(axis=2), blocks.max(axis=2)))
    return np.ascontiguousarray(low.min(axis=1).T), np.ascontiguousarray(high.max(axis=1).T)

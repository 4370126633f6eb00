"""Nearest neighbours: the k points of a file that lie nearest to each query, exactly.

Two roads lead to the same answer. In few dimensions a k-d tree; in many a blocked matrix product in single precision,
which only screens: whatever its proven rounding slack cannot rule out is measured again in double precision, by
differences, on the rows themselves. An exact copy therefore lies at distance 0 exactly. Points that stand several times
(thousands of times, in categorical data) are searched once and counted as often as they stand.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.spatial import cKDTree
from threadpoolctl import threadpool_limits

from sluice.risk.row_groups import row_groups

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_TREE_DIMENSIONS = 10  # up to here a k-d tree prunes well
_TREE_SPARE = 6  # further candidates that show whether a tie reaches past the k-th
_QUERY_BLOCK, _POINT_BLOCK = 256, 2048  # a tile of 2 MB stays in the cache
_SINGLE = 2.0**-24  # unit roundoff of float32
_GOLDEN = (5**0.5 - 1) / 2  # its multiples fall evenly between 0 and 1
_SPREAD_SEEN = 0.98  # of the points' variance; more takes longer to multiply, less leaves more to measure
_AXES_FROM = 16_384  # points from which the main axes are found


@dataclass(frozen=True)
class Neighbours:
    """The nearest points of each query, nearest first."""

    distance: FloatArray  # (n, k), Euclidean, right to 12 digits; 0 for an exact copy
    index: IntArray  # (n, k), rows of `points`; a point that stands several times is named by one of its rows


def nearest_neighbours(queries: FloatArray, points: FloatArray, k: int, own_row: IntArray | None = None) -> Neighbours:
    """The k nearest of `points` to each of `queries`.

    queries : shape (n, d), finite
    points  : shape (m, d), finite, in any order: ties are settled by value, so the order of the rows does not show
    own_row : shape (n,), the row of `points` that is left out for each query (leave-one-out); -1 for none. It is left
              out by its position: another point of equal values stays
    raises  : ValueError on shapes that do not match, values that are not finite, or fewer than k points
    cost    : O(n m d) time at worst, in blocks of 2 MB beside the arrays
    """
    queries, points = np.ascontiguousarray(queries, np.float64), np.ascontiguousarray(points, np.float64)
    available = len(points) - (own_row is not None and bool((own_row >= 0).any()))
    if queries.ndim != 2 or points.ndim != 2 or queries.shape[1] != points.shape[1] or points.shape[1] == 0:
        raise ValueError(f"queries and points must be of shape (., d), d >= 1; got {queries.shape}, {points.shape}")
    if not 1 <= k <= available:
        raise ValueError(f"k must be from 1 to the number of points that may be found, {available}; got {k}")
    if not (np.isfinite(queries).all() and np.isfinite(points).all()):
        raise ValueError("queries and points must be finite. Was a missing value left uncoded?")
    groups = row_groups(points.T)
    # Far-apart points side by side: any block then holds one that is rather near, and few later ones are nearer still.
    order = np.argsort(np.arange(len(groups.size)) * _GOLDEN % 1.0, kind="stable")
    first, times = groups.first[order], groups.size[order]
    distinct, now_at = points[first], np.argsort(order)
    # A point that stands once and is the query's own is skipped; one that stands more often loses one of its copies.
    own_row = np.full(len(queries), -1, np.int64) if own_row is None else own_row
    own_group = np.where(own_row >= 0, now_at[groups.of[own_row]], np.int64(-1))
    skipped = np.where((own_group >= 0) & (times[own_group] == 1), own_group, -1)
    wanted = min(k, len(distinct))
    if points.shape[1] <= _TREE_DIMENSIONS:
        squared, found = _by_tree(queries, distinct, wanted, skipped)
    else:
        squared, found = _by_matrix_product(queries, distinct, wanted, skipped)
    copies = np.where(np.isfinite(squared), times[found] - (found == own_group[:, None]), 0)
    # Fill the k places: the r-th place belongs to the first group whose copies, added up, reach past r.
    reach = np.cumsum(copies, axis=1)
    place = (reach[:, :, None] <= np.arange(k)).sum(axis=1)
    return Neighbours(
        distance=np.sqrt(np.take_along_axis(squared, place, axis=1)),
        index=first[np.take_along_axis(found, place, axis=1)],
    )


def _by_tree(queries: FloatArray, points: FloatArray, k: int, skipped: IntArray) -> tuple[FloatArray, IntArray]:
    """Candidates from a k-d tree, ordered by (distance, row); where a tie may reach past them, the other road."""
    asked = min(k + 1 + _TREE_SPARE, len(points))
    _, nearest = cKDTree(points).query(queries, k=list(range(1, asked + 1)))
    found = np.asarray(nearest, np.int64)
    squared = np.empty(found.shape)
    for column in range(asked):
        squared[:, column] = ((queries - points[found[:, column]]) ** 2).sum(axis=1)
    rounded = _without_last_bits(squared)
    rounded[found == skipped[:, None]] = np.inf
    order = np.lexsort((found, rounded), axis=1)[:, :k]
    kth = np.take_along_axis(rounded, order[:, -1:], axis=1)[:, 0]
    reached = np.where(np.isfinite(rounded), rounded, -np.inf).max(axis=1)
    unsure = np.flatnonzero((reached <= kth) & (asked < len(points)))
    squared, found = np.take_along_axis(rounded, order, axis=1), np.take_along_axis(found, order, axis=1)
    if len(unsure):
        squared[unsure], found[unsure] = _by_matrix_product(queries[unsure], points, k, skipped[unsure])
    return squared, found


def _by_matrix_product(
    queries: FloatArray, points: FloatArray, k: int, skipped: IntArray
) -> tuple[FloatArray, IntArray]:
    """|p|^2 - 2 q.p of whole blocks in float32 as a screen, survivors in float64.

    The screen looks along the points' main axes, and at the length of what lies off them as one axis more: by Cauchy
    and Schwarz no distance is longer there, and the product is shorter by as many axes as are left out.

    Slack: with u = 2^-24 the product of at most d + 2 rounded terms is off by about (d + 4) u (2 |q||p| + |p|^2), and a
    length off the axes, a difference in float64, by less than 6 u |p|. Only a point with |p| <= |q| + R can lie within
    R of the query, which bounds |p|.
    """
    n, d = queries.shape
    centre = points.mean(axis=0)
    axes = _main_axes(points, centre)
    screen = np.empty((len(points), axes.shape[1] + 2), np.float32)
    for start in range(0, len(points), _POINT_BLOCK):
        block = slice(start, start + _POINT_BLOCK)
        along, norms = _seen(points[block], centre, axes)
        with np.errstate(over="ignore"):  # a coordinate too large for float32 becomes infinite and is measured in full
            screen[block, :-1], screen[block, -1] = -2.0 * along, norms
    slack = (d + 32) * _SINGLE
    squared, found = np.full((n, k), np.inf), np.full((n, k), -1)

    def search(start: int) -> None:
        block = slice(start, min(start + _QUERY_BLOCK, n))
        along, norms = _seen(queries[block], centre, axes)
        tile = np.empty((len(along), _POINT_BLOCK), np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            left = np.append(along, np.ones((len(along), 1)), axis=1).astype(np.float32)
            for at in range(0, len(points), _POINT_BLOCK):
                right = screen[at : at + _POINT_BLOCK]
                product = tile[:, : len(right)]
                np.matmul(left, right.T, out=product)
                _keep_nearest(
                    product, at, queries[block], points, norms, slack, skipped[block], squared[block], found[block]
                )

    # A thread a block: the products are too small to be shared out, and BLAS's own threads would mostly wait.
    limits = threadpool_limits(1, "blas")  # type: ignore[no-untyped-call]
    with limits, ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        list(threads.map(search, range(0, n, _QUERY_BLOCK)))
    return squared, found


def _main_axes(points: FloatArray, centre: FloatArray) -> FloatArray:
    """Orthonormal axes, shape (d, r), that hold nearly all of the points' spread; those that hold most come first.

    Any axes give the right answer; these leave few points for the second look. A few thousand points tell them.
    """
    some = points[:: max(1, len(points) // _AXES_FROM)] - centre
    scale = np.abs(some).max(initial=0.0) or 1.0
    spread, axes = np.linalg.eigh((some / scale).T @ (some / scale))
    held = np.cumsum(spread[::-1])
    return np.ascontiguousarray(axes[:, ::-1][:, : 1 + int(np.searchsorted(held, _SPREAD_SEEN * held[-1]))])


def _seen(points: FloatArray, centre: FloatArray, axes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coordinates along the axes and, last, the length off them, shape (n, r + 1); and the squared lengths, (n,)."""
    centred = points - centre
    along = centred @ axes
    norms = (centred**2).sum(axis=1)
    return np.column_stack([along, np.sqrt(np.maximum(0.0, norms - (along**2).sum(axis=1)))]), norms


def _without_last_bits(squared: FloatArray) -> FloatArray:
    """Rounded to 41 bits (Dekker's splitting), so that sums of the same terms in another order are equal."""
    scaled = 4097.0 * squared
    return scaled - (scaled - squared)


@njit(cache=True)
def _survivors(row: npt.NDArray[np.float32], bound: float) -> int:
    """How many entries are not above the bound. A loop of this form compiles to vector comparisons, 16 times faster."""
    count = 0
    for j in range(len(row)):
        if not row[j] > bound:  # so written that a NaN survives
            count += 1
    return count


@njit(cache=True, nogil=True)
def _keep_nearest(
    tile: npt.NDArray[np.float32],
    first: int,
    queries: FloatArray,
    points: FloatArray,
    norms: FloatArray,
    slack: float,
    skipped: IntArray,
    squared: FloatArray,
    found: IntArray,
) -> None:
    """Work one tile of the screen into the sorted lists `squared`, `found`; points come in rising order."""
    n, m = tile.shape
    k, d = squared.shape[1], points.shape[1]
    for i in range(n):
        norm = np.sqrt(norms[i])
        worst = squared[i, k - 1]
        reach = norm + np.sqrt(worst)
        bound = np.float32(worst - norms[i] + slack * (2.0 * norm + reach) * reach)
        for start in range(0, m, 64):
            if _survivors(tile[i, start : start + 64], bound) == 0:  # almost always
                continue
            for j in range(start, min(start + 64, m)):
                point = first + j
                if tile[i, j] > bound or point == skipped[i]:
                    continue
                exact = 0.0
                for c in range(d):
                    difference = queries[i, c] - points[point, c]
                    exact += difference * difference
                scaled = 4097.0 * exact
                rounded = scaled - (scaled - exact)
                if rounded < worst:
                    place = k - 1
                    while place > 0 and squared[i, place - 1] > rounded:
                        squared[i, place] = squared[i, place - 1]
                        found[i, place] = found[i, place - 1]
                        place -= 1
                    squared[i, place] = rounded
                    found[i, place] = point
                    worst = squared[i, k - 1]
                    reach = norm + np.sqrt(worst)
                    bound = np.float32(worst - norms[i] + slack * (2.0 * norm + reach) * reach)

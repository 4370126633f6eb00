"""Nearest neighbours: the k points of a file that lie nearest to each query, exactly.

Two roads lead to the same answer. In few dimensions a k-d tree; in many a blocked matrix product in single precision,
which only screens: whatever its proven rounding slack cannot rule out is measured again in double precision, by
differences, on the rows themselves. An exact copy therefore lies at distance 0 exactly. Points that stand several times
(thousands of times, in categorical data) are searched once and counted as often as they stand.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.spatial import cKDTree

from sluice.risk.row_groups import row_groups

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_TREE_DIMENSIONS = 10  # up to here a k-d tree prunes well
_TREE_SPARE = 6  # further candidates that show whether a tie reaches past the k-th
_QUERY_BLOCK, _POINT_BLOCK = 256, 2048  # a tile of 2 MB stays in the cache
_SINGLE = 2.0**-24  # unit roundoff of float32


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
    distinct, times = points[groups.first], groups.size
    # A point that stands once and is the query's own is skipped; one that stands more often loses one of its copies.
    own_row = np.full(len(queries), -1, np.int64) if own_row is None else own_row
    own_group = np.where(own_row >= 0, groups.of[own_row], np.int64(-1))
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
        index=groups.first[np.take_along_axis(found, place, axis=1)],
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

    Slack: with u = 2^-24 the product of d + 1 rounded terms is off by at most about (d + 4) u (2 |q||p| + |p|^2). Only
    a point with |p| <= |q| + R can lie within R of the query, which bounds |p|.
    """
    n, d = queries.shape
    centre = points.mean(axis=0)
    with np.errstate(over="ignore"):  # a coordinate too large for float32 becomes infinite and is measured in float64
        screen = np.empty((len(points), d + 1), np.float32)
        screen[:, :d] = -2.0 * (points - centre)
        screen[:, d] = ((points - centre) ** 2).sum(axis=1)
    slack = (d + 16) * _SINGLE
    squared, found = np.full((n, k), np.inf), np.full((n, k), -1)
    tile = np.empty((_QUERY_BLOCK, _POINT_BLOCK), np.float32)
    for start in range(0, n, _QUERY_BLOCK):
        block = slice(start, min(start + _QUERY_BLOCK, n))
        centred = queries[block] - centre
        norms = (centred**2).sum(axis=1)
        with np.errstate(over="ignore"):
            left = np.append(centred, np.ones((len(centred), 1)), axis=1).astype(np.float32)
        for at in range(0, len(points), _POINT_BLOCK):
            right = screen[at : at + _POINT_BLOCK]
            product = tile[: len(left), : len(right)]
            with np.errstate(over="ignore", invalid="ignore"):
                np.matmul(left, right.T, out=product)
            _keep_nearest(
                product, at, queries[block], points, norms, slack, skipped[block], squared[block], found[block]
            )
    return squared, found


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


@njit(cache=True)
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
    """Work one tile of the screen into the sorted lists `squared`, `found`; points come in rising order of row."""
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

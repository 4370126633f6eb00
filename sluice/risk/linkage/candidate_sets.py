"""Candidate sets: the released records that can come from a known one, when the masking method sets bounds.

Source: Torra (2013), "Rank swapping: Specific record linkage for rank swapping": the masked record lies in
the intersection of the sets B(x_ij) of all variables j; where several records are left, "we apply standard record
linkage". Here that is the nearest of them, each file standardised by itself.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.ground.machine import threads
from sluice.ground.progress import counted
from sluice.risk.linkage.record_linkage import Links, comparison_space

Bounds = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]

_RECORDS = 256  # attacked records that a thread takes at a time


@dataclass(frozen=True)
class CandidateSets:
    """What the bounds leave of the released file for each of q attacked records."""

    size: IntArray  # (q,) candidates; one alone is a link that the intruder knows to be right
    links: Links  # to the nearest candidate; never right where the own record is no candidate


def candidate_sets(
    original: FloatArray, released: FloatArray, bounds: Bounds, rows: IntArray | None = None
) -> CandidateSets:
    """Intersect the sets of all variables, and link to the nearest candidate.

    original, released : shape (n, d), NaN where missing, row i of both being the same record. A missing value can only
                         have come from a missing one
    bounds             : what the method sets: from known values and all released values of a variable, the latter in
                         rising order and neither missing, the lowest and highest that each known value can have become
    rows               : the original records that are attacked, shape (q,); all of them when not given
    raises             : DataError when the shapes differ or the files are empty
    cost               : O(n d log n + q s d) time for s records within the bounds of one variable, that
                         with the narrowest on average; O(n d) memory
    """
    from sluice.risk.linkage.candidate_sets_kernel import candidate_sets as intersect

    if original.shape != released.shape or 0 in original.shape:
        raise DataError(f"candidate sets need files of one shape; got {original.shape} and {released.shape}.")
    rows = np.arange(len(original)) if rows is None else rows
    # Minus infinity stands for missing: bounds of minus infinity hold missing values and nothing else.
    values = np.where(np.isnan(released), -np.inf, released)
    lower, upper = np.full((len(rows), values.shape[1]), -np.inf), np.full((len(rows), values.shape[1]), -np.inf)
    start, stop = np.empty(lower.shape, np.int64), np.empty(lower.shape, np.int64)
    for j in range(values.shape[1]):
        known, ranked = original[rows, j], np.sort(values[:, j])
        given, present = ranked[np.isfinite(ranked)], ~np.isnan(known)
        if len(given):
            lower[present, j], upper[present, j] = bounds(known[present], given)
        start[:, j] = np.searchsorted(ranked, lower[:, j], "left")
        stop[:, j] = np.searchsorted(ranked, upper[:, j], "right")
    mean = np.array([column[~np.isnan(column)].mean() if not np.isnan(column).all() else 0.0 for column in original.T])
    # A missing value meets missing values only, so where it is put changes no comparison.
    a, b = (np.where(np.isnan(side), mean, side) for side in (original, released))
    a, b = (points[:] for points in comparison_space(a, b, "each_standardised"))
    narrowest = int((stop - start).sum(axis=0).argmin())  # the variable along whose order the candidates are sought
    order = np.argsort(values[:, narrowest], kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    values, b, points, own = values[order], b[order], a[rows], place[rows]
    start, stop = np.ascontiguousarray(start[:, narrowest]), np.ascontiguousarray(stop[:, narrowest])
    size, as_near, lowest = (np.empty(len(rows), np.int64) for _ in range(3))

    def find(at: int) -> None:
        block = slice(at, at + _RECORDS)
        intersect(
            lower[block], upper[block], values, order, start[block], stop[block], points[block], b, own[block],
            size[block], as_near[block], lowest[block],
        )  # fmt: skip

    with ThreadPoolExecutor(threads()) as pool:
        starts = range(0, len(rows), _RECORDS)
        list(counted(pool.map(find, starts), "candidates of each record", len(starts)))
    return CandidateSets(size, Links(as_near, is_first=(as_near > 0) & (lowest == rows)))

"""Candidate sets: the released records that can come from a known one, when the masking method sets bounds.

Source: Torra (2013), "Rank swapping: Specific record linkage for rank swapping": the masked record lies in
the intersection of the sets B(x_ij) of all variables j; where several records are left, "we apply standard record
linkage". Here that is the nearest of them, each file standardised by itself.

Microaggregation: the intruder knows that each variable was microaggregated by itself. Source: Torra (2013), "Rank
swapping record linkage (RS-RL)", Discussion: "microaggregation with individual ranking (univariate) can also be
attacked effectively"; the slides do not spell it out. Here: the groups of one variable follow each other in the order
of the values and each mean lies within its group, so a value belongs to a group with one of the two nearest means, the
one below and the one above; equal values may have been parted, so a mean that equals the value counts with both. The
released record lies in the intersection over the variables. Where the groups were formed within strata, or the variance
was restored afterwards, these bounds do not hold, and the figure is too small.

Rank swapping record linkage (RS-RL): the intruder knows that, and how far, ranks were swapped. Source: Torra (2013),
"Rank swapping: Specific record linkage for rank swapping", Examples III to VI. An original value can only have become
one of the masked values within p ranks; the masked record lies in the intersection of these sets over the variables.
Torra (2013) speaks of 2p values; its examples hold 2p + 1, the value itself included, and so do the sets here.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.ground.parallel_jobs import each_in_threads
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

    starts = range(0, len(rows), _RECORDS)
    list(counted(each_in_threads(find, starts), "candidates of each record", len(starts)))
    return CandidateSets(size, Links(as_near, is_first=(as_near > 0) & (lowest == rows)))


def microaggregation_linkage(original: FloatArray, released: FloatArray, rows: IntArray | None = None) -> CandidateSets:
    """Link each attacked record within its candidate set.

    original, released : shape (n, d), NaN where missing, row i of both being the same record; the means or any other
                         values within their groups (medians, rounded means)
    rows               : the original records that are attacked, shape (q,); all of them when not given
    missing            : a missing value can only be a missing one
    raises             : DataError when the shapes differ
    cost               : O(n d log n + q g d) time for g records in a variable's two or three groups; O(n d) memory
    """
    return candidate_sets(original, released, _nearest_means, rows)


def _nearest_means(known: FloatArray, ranked: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The next lower and the next higher mean of each value, where there is one."""
    below = np.searchsorted(ranked, known, "left") - 1
    above = np.searchsorted(ranked, known, "right")
    return ranked[np.clip(below, 0, len(ranked) - 1)], ranked[np.clip(above, 0, len(ranked) - 1)]


def rank_swapping_linkage(
    original: FloatArray, released: FloatArray, window: float, rows: IntArray | None = None
) -> CandidateSets:
    """Link each attacked record within its candidate set.

    original, released : shape (n, d), NaN where missing, row i of both being the same record
    window             : how far a value may have moved in rank: share of the records in (0, 1], as in rank swapping
    rows               : the original records that are attacked, shape (q,); all of them when not given
    missing            : rank swapping leaves a missing value where it is, so it can only be a missing one
    ties               : equal values were ranked at random, so the window begins at the lowest and ends at the highest
                         rank of the value, and holds every record of the values at its ends
    raises             : DataError when the window is not in (0, 1] or the shapes differ
    cost               : O(n d log n + q n window d) time, O(n d) memory
    """
    if not 0 < window <= 1:
        hint = f" Is it a percentage? Use {window / 100:g}." if 1 < window <= 100 else ""
        raise DataError(f"window of rank_swapping_linkage must be in (0, 1]; got {window:g}.{hint}")

    def within_reach(known: FloatArray, ranked: FloatArray) -> tuple[FloatArray, FloatArray]:
        reach = int(window * len(ranked) * (1 + 1e-12))  # 0.29 * 100 is 28.999...
        lowest = np.searchsorted(ranked, known, "left") - reach
        highest = np.searchsorted(ranked, known, "right") - 1 + reach
        return ranked[np.clip(lowest, 0, len(ranked) - 1)], ranked[np.clip(highest, 0, len(ranked) - 1)]

    return candidate_sets(original, released, within_reach, rows)

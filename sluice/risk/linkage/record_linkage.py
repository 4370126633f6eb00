"""Distance-based record linkage: how many original records lie nearest to their own released record.

Source: Torra (2013), "Rank swapping: Example II" (the scenarios of one to all variables) and "Experiments
for IPSO-A,B,C" (the distances DBRL1, DBRL2, DBRLM-COV0, DBRLM-COV and KDBRL). Torra (2013) names the distances and does
not define them; those here give its fifteen counts for IPSO-A. The two Mahalanobis distances bear the labels of its
table, which are the reverse of what they say: COV0 is the one that knows the covariance between the two files.

An intruder who knows original values links each person to the nearest released record. How often that is the person's
own tells the risk; the true pairs are known here because row i of both files is the same record.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray, narrow
from sluice.ground.comparable_values import codes_of, comparable_values, is_missing, plain_values
from sluice.ground.errors import DataError
from sluice.ground.parallel_jobs import each_in_threads
from sluice.ground.progress import counted
from sluice.ground.variables import Kind
from sluice.risk.coded_points import (
    ByCategory,
    Coded,
    CodedColumn,
    CodedPoints,
    Points,
    are_finite,
    side_by_side,
    squared_apart,
)
from sluice.risk.distances.neighbours import nearest_neighbours
from sluice.risk.spread import spread

Distance = Literal[
    "robust",  # each file by its own medians and spreads, which a few wild values do not move
    "each_standardised",  # DBRL1: each file by its own means and standard deviations
    "jointly_standardised",  # DBRL2: differences divided by sqrt(Var A + Var B)
    "mahalanobis_of_pairs",  # DBRLM-COV0: by Var(A - B), which takes the true pairs to know
    "mahalanobis",  # DBRLM-COV: by Var A + Var B
    "kernel",  # KDBRL: in the feature space of (1 + <x, y>)^2 on standardised records
    "euclidean",  # of the numbers as they are
    "manhattan",  # sum of absolute differences of the numbers as they are
]
Ties = Literal["shared", "first", "hit"]

_TREE_DIMENSIONS = 10  # up to here a k-d tree prunes well, whatever the masking
_QUERIES = 8_192  # records that a thread takes at a time
AT_ONCE = 24_000_000  # coordinates that are held as an array, 200 MB; those of larger files are worked out
_IN_A_TREE = 12_000_000  # coordinates that are searched at a time
_DISTINCT = 1 << 17  # numbers of more different values are kept as they are
_ROUNDING = 1e-10  # as in the kernel, for squared distances
_SINGULAR = 1e-12  # part of the variance below which a direction counts as constant
_FEATURES = 4_000  # most coordinates of the feature space of the kernel


@dataclass(frozen=True)
class Links:
    """What linkage makes of each attacked record."""

    as_near: IntArray  # (q,) released records as near as the own, itself included; 0 where another one is nearer
    is_first: BoolArray  # (q,) the own is the lowest row of these; False where another one is nearer

    def correct(self, ties: Ties = "shared") -> FloatArray:
        """Success of each attacked record, shape (q,), 0 to 1.

        ties : shared: the intruder picks one of t records as near, 1 / t; first: takes the one of the lowest row;
               hit: each tie counts in full, the most that can be said
        """
        if ties == "first":
            return self.is_first.astype(np.float64)
        if ties == "hit":
            return (self.as_near > 0).astype(np.float64)
        return np.divide(1.0, self.as_near, out=np.zeros(len(self.as_near)), where=self.as_near > 0)


def record_linkage(
    original: Points, released: Points, distance: Distance = "robust", rows: IntArray | None = None
) -> Links:
    """Link original records to the nearest released one.

    original, released : shape (n, d), finite, row i of both being the same record
    rows               : the original records that are attacked, shape (q,); all of them when not given. Every released
                         record is a candidate, and all records set the scales
    raises             : DataError when the shapes differ or a number is not finite
    cost               : O(n log n) time for few dimensions, O(q n d) for more than 10; O(n d) memory, O(n)
                         of coded points with the distance 'robust'. 1 million x 4 in 4 s. More than 10 dimensions
                         with manhattan: O(q n d) without the fast matrix product
    """
    if original.shape != released.shape or len(original.shape) != 2 or 0 in original.shape:
        raise DataError(
            f"linkage compares records of one shape, at least 1 x 1; got {original.shape} and {released.shape}."
        )
    if not (are_finite(original) and are_finite(released)):
        raise DataError("linkage needs finite numbers. Was a missing value left uncoded?")
    a, b = comparison_space(original, released, distance)
    rows = np.arange(len(a)) if rows is None else rows
    squared = distance != "manhattan"
    if squared and a.shape[1] > _TREE_DIMENSIONS:
        return _link_by_neighbours(a, b, rows)
    return _link_by_tree(a, b, rows, squared)


def comparison_space(original: Points, released: Points, distance: Distance) -> tuple[Points, Points]:
    """Both files as points whose Euclidean distance (Manhattan: city-block distance) is the one asked for.

    A column without any spread is left as it is. Directions in which Mahalanobis' matrix is singular count as very
    nearly constant, not as absent: what masking did not change there tells most.
    """
    if distance in ("euclidean", "manhattan"):
        return original, released
    if distance == "robust":
        return _by_spread(original), _by_spread(released)
    original, released = original[:], released[:]
    if distance in ("each_standardised", "kernel"):
        a, b = _standardised(original), _standardised(released)
        return (a, b) if distance == "each_standardised" else (_kernel_features(a), _kernel_features(b))
    scale = np.sqrt(original.var(axis=0) + released.var(axis=0))
    scale[scale == 0] = 1.0
    centre = original.mean(axis=0)  # one for both: no distance changes, and the digits are kept
    a, b = (original - centre) / scale, (released - centre) / scale
    if distance == "jointly_standardised":
        return a, b
    covariance = _covariance(a - b) if distance == "mahalanobis_of_pairs" else _covariance(a) + _covariance(b)
    spread, axes = np.linalg.eigh(covariance)
    turn = axes / np.sqrt(np.maximum(spread, _SINGULAR))
    return a @ turn, b @ turn


def _standardised(values: FloatArray) -> FloatArray:
    scale = values.std(axis=0)
    return np.asarray((values - values.mean(axis=0)) / np.where(scale > 0, scale, 1.0))


def _by_spread(values: Points) -> Points:
    middles, scales = np.array([(np.median(column), _scale(column)) for column in values.T]).T
    if isinstance(values, CodedPoints):
        return values.standardised(middles, scales)
    return np.asarray((values - middles) / scales)


def _scale(column: FloatArray) -> float:
    # Of 0 and 1 nothing is wild: there the standard deviation says how much a rare category tells.
    two_at_most = bool(((column == column.min()) | (column == column.max())).all())
    return (float(column.std()) if two_at_most else spread(column)) or 1.0


def _covariance(values: FloatArray) -> FloatArray:
    centred = values - values.mean(axis=0)
    return np.asarray(centred.T @ centred / len(values))


def _kernel_features(x: FloatArray) -> FloatArray:
    """Coordinates whose inner product is (1 + <x, y>)^2 but for the constant 1, which no distance sees."""
    d = x.shape[1]
    if d * (d + 3) // 2 > _FEATURES:
        raise DataError(f"the distance 'kernel' is for at most 87 coordinates; got {d}. Name fewer variables.")
    left, right = np.triu_indices(d, 1)
    root = np.sqrt(2.0)
    return np.hstack([root * x, x**2, root * x[:, left] * x[:, right]])


def _link_by_tree(a: Points, b: Points, rows: IntArray, squared: bool) -> Links:
    """A tree for each part of the released records: what is as near in any of them adds up."""
    from sluice.risk.linkage.record_linkage_kernel import NO_ROW, as_near_as_own, k_d_tree

    together = max(1, _IN_A_TREE // b.shape[1])
    as_near, lowest = np.zeros(len(rows), np.int64), np.full(len(rows), NO_ROW)
    for start in range(0, len(b), together):
        part = np.ascontiguousarray(b[start : start + together])
        order, boxes, corners = k_d_tree(part)
        place = np.empty(len(part), np.int64)
        place[order] = np.arange(len(part))
        asking = np.flatnonzero(as_near >= 0)  # for the others a nearer one was found
        # Neighbours one after the other: what they need is in the cache.
        asking = asking[np.argsort(place[np.clip(rows[asking] - start, 0, len(part) - 1)], kind="stable")]
        queries, own, ordered = a[rows[asking]], b[rows[asking]], part[order]
        del part, place
        found, first = np.empty(len(asking), np.int64), np.empty(len(asking), np.int64)

        def link(
            at: int, queries: FloatArray = queries, own: FloatArray = own, tree: Any = (ordered, order, boxes, corners),
            found: IntArray = found, first: IntArray = first,
        ) -> None:  # fmt: skip
            block = slice(at, at + _QUERIES)
            as_near_as_own(queries[block], own[block], *tree, squared, found[block], first[block])

        starts = range(0, len(asking), _QUERIES)
        list(counted(each_in_threads(link, starts), "linkage of records", len(starts)))
        as_near[asking] = np.where(found < 0, -1, as_near[asking] + found)
        lowest[asking] = np.minimum(lowest[asking], np.where(first < NO_ROW, first + start, NO_ROW))
    as_near = np.maximum(as_near, 0)
    return Links(as_near=as_near, is_first=(as_near > 0) & (lowest == rows))


def _link_by_neighbours(a: Points, b: Points, rows: IntArray) -> Links:
    """In many dimensions by the blocked matrix product; ties, which are rare there, by the tree."""
    near = nearest_neighbours(a.take(rows, axis=0), b, min(2, len(b))).distance ** 2
    own = squared_apart(a, b, rows)
    linked = near[:, 0] >= own * (1.0 - _ROUNDING)
    as_near, is_first = linked.astype(np.int64), linked.copy()
    tied = np.flatnonzero(linked & (near[:, -1] <= own * (1.0 + _ROUNDING))) if len(b) > 1 else np.zeros(0, np.int64)
    if len(tied):
        found = _link_by_tree(a, b, rows[tied], squared=True)
        as_near[tied], is_first[tied] = found.as_near, found.is_first
    return Links(as_near, is_first)


def linkage_scenarios(
    variables: Sequence[tuple[Points, Points]],
    distance: Distance = "robust",
    rows: IntArray | None = None,
) -> list[Links]:
    """Linkage by the first variable, by the first two, and so on to all: what intruders of growing knowledge reach.

    variables : for each in order of what is most easily known, its coordinates in both files, shapes (n, w)
    cost      : that of record_linkage for each scenario
    """
    return [
        record_linkage(
            side_by_side([pair[0] for pair in variables[:known]], AT_ONCE),
            side_by_side([pair[1] for pair in variables[:known]], AT_ONCE),
            distance,
            rows,
        )
        for known in range(1, len(variables) + 1)
    ]


def linkage_coordinates(
    original: "pd.Series[Any]", released: "pd.Series[Any]", kind: Kind
) -> tuple[CodedPoints, CodedPoints]:
    """One variable of two files as coordinates, shapes (n, w): what linkage compares.

    original, released : columns of typed frames of one kind; released after all masking, original after the published
                         recodings alone
    kind               : numbers stay as they are (dates in days); an ordinal category is its position; a nominal one
                         is 0 or 1 for each category, divided by sqrt 2, so that two categories are 1 apart
    missing            : a missing number lies at the original's median, and where the original has missing values one
                         more coordinate (0 present, 1 missing) tells them apart; a missing category is a category.
                         Where more is missing in the release, values were suppressed: a released missing value then
                         lies between 'missing' and the middle of all, in the proportion in which it stands for either
    raises             : DataError for texts, sets of items, and for a column without any value
    """
    missing, gone = original.isna().to_numpy(), released.isna().to_numpy()
    if kind in (Kind.TEXT, Kind.ITEMS) or missing.all():
        raise DataError(f"linkage cannot compare '{original.name}': it is {kind} or has no value at all.")
    if kind in (Kind.NOMINAL, Kind.BINARY):
        return _dummies(original, released)
    a, b = (_numbers(column, kind) for column in (original, released))
    middle = float(np.median(a[~missing]))
    width = 1 + bool(missing.any())
    at_missing, overall = np.array([middle, 1.0])[:width], np.array([middle, missing.mean()])[:width]
    read = _read_as(missing, gone, at_missing if width > 1 else overall, overall) if gone.any() else overall
    return CodedPoints([_coded_numbers(a, at_missing)], len(a)), CodedPoints([_coded_numbers(b, read)], len(b))


def _coded_numbers(numbers: FloatArray, at_missing: FloatArray) -> CodedColumn:
    """Numbers as the first coordinate, at 0 by any other, and missing ones at a point of their own."""
    codes, values = pd.factorize(numbers)
    table = np.zeros((len(values) + 1, len(at_missing)))
    table[:-1, 0], table[-1] = values, at_missing
    if len(values) > _DISTINCT:
        return Coded(table[codes])
    return ByCategory(table, narrow(np.arange(len(table)), len(table))[codes])


def _dummies(original: "pd.Series[Any]", released: "pd.Series[Any]") -> tuple[CodedPoints, CodedPoints]:
    before, after = comparable_values(original, released)
    missing, gone = is_missing(before), is_missing(after)
    labels = np.unique(np.concatenate([np.unique(before[~missing]), np.unique(after[~gone])]))
    codes = [
        np.searchsorted(labels, np.where(gap, labels[:1], each)) for each, gap in ((before, missing), (after, gone))
    ]
    kind = np.min_scalar_type(len(labels))
    mine, theirs = (
        np.where(gap, len(labels), code).astype(kind) for code, gap in zip(codes, (missing, gone), strict=True)
    )
    table = np.eye(len(labels) + 1)
    table /= np.sqrt(2.0)
    held = np.bincount(mine, minlength=len(labels) + 1)
    # Record by record, as the mean over all of them adds up.
    overall = np.array([np.cumsum(np.full(max(times, 1), table[0, 0]))[-1] if times else 0.0 for times in held])
    overall /= len(mine)
    if not missing.any():
        table, overall = table[:, :-1], overall[:-1]
    read = table  # nobody writes to it
    if gone.any():
        read = table.copy()
        read[-1] = _read_as(missing, gone, table[-1] if missing.any() else overall, overall)
    return CodedPoints([ByCategory(table, mine)], len(mine)), CodedPoints([ByCategory(read, theirs)], len(theirs))


def _read_as(missing: BoolArray, gone: BoolArray, at_missing: FloatArray, overall: FloatArray) -> FloatArray:
    """Where a missing released value lies, in the proportion in which it stands for either."""
    natural = min(1.0, float(missing.mean()) / float(gone.mean()))
    return natural * at_missing + (1 - natural) * overall


def _numbers(column: "pd.Series[Any]", kind: Kind) -> FloatArray:
    if kind is Kind.ORDINAL:
        codes = codes_of(column).astype(np.float64)
        return np.where(codes < 0, np.nan, codes)
    return plain_values(column).astype(np.float64)

"""Declared subgroups: the categories that may be named and whose own figures are those of enough records."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray
from sluice.utility.common_bins import CommonBins
from sluice.utility.record_weights import UNWEIGHTED, Weights, relative_weight


def declared_subgroups(
    bins: Sequence[CommonBins],
    declared: Mapping[str, Collection[str]],
    least: int,
    weights: Weights = UNWEIGHTED,
) -> dict[int, BoolArray]:
    """By place in `bins`, for a variable with declared categories: which of its bins form a subgroup. Of the last one,
    of missing values, nothing is said.

    declared : by variable, the categories that may be named; nobody else's are looked at
    least    : original records of a subgroup at least, by their effective number (Kish 1965) where they have weights
    weights  : of the records of both files; only the original's are looked at
    raises   : DataError for weights that do not fit
    cost     : O(n) a variable
    """
    found = {}
    for place, each in enumerate(bins):
        if each.name not in declared:
            continue
        weight = relative_weight(weights[0], len(each.original))
        if weight is None:
            records = np.bincount(each.original, minlength=each.bins).astype(np.float64)
        else:
            sums, squares = (np.bincount(each.original, power, each.bins) for power in (weight, weight**2))
            records = np.divide(sums**2, squares, out=np.zeros_like(sums), where=squares > 0)
        named = np.array([label in declared[each.name] for label in each.labels[:-1]], dtype=np.bool_)
        found[place] = named & (records[:-1] >= max(least, 1) * (1 - 1e-12))
    return found


def heaviest_record(by: CommonBins, weights: Weights = UNWEIGHTED) -> FloatArray:
    """Shape (bins,): of the records of either file in a bin the largest weight, 1 for files without weights.

    It is told in the original's unit: a masked record weighs the share that it has of its bin. Of a change that weighs
    x, at least x by this records took part: one heavy record cannot look like many.

    weights : of the records of both files
    raises  : DataError for weights that do not fit
    """
    if weights[0] is None and weights[1] is None:
        return np.ones(by.bins)
    before, after = _weights_of(weights[0], len(by.original)), _weights_of(weights[1], len(by.masked))
    largest, of_code = np.zeros(by.bins), np.zeros(by.codes)
    np.maximum.at(largest, by.original, before)
    np.maximum.at(of_code, by.masked, after)
    total = np.bincount(by.original, before, by.bins)
    masked_total = np.bincount(by.masked, after, by.codes) @ by.spread
    unit = np.divide(total, masked_total, out=np.zeros_like(total), where=masked_total > 0)
    of_masked = (of_code[:, np.newaxis] * by.spread).max(axis=0, initial=0.0)
    return np.asarray(np.maximum(largest, of_masked * unit))


def weight_in_heaviest(by: CommonBins, weights: Weights = UNWEIGHTED) -> FloatArray:
    """Shape (bins,): how many of its heaviest records weigh as much as a bin's originals; without weights how many
    these are. 0 where nothing weighs anything."""
    total = np.bincount(by.original, relative_weight(weights[0], len(by.original)), by.bins).astype(np.float64)
    heaviest = heaviest_record(by, weights)
    return np.divide(total, heaviest, out=np.zeros_like(total), where=heaviest > 0)


def _weights_of(weight: FloatArray | None, records: int) -> FloatArray:
    relative = relative_weight(weight, records)
    return np.ones(records) if relative is None else relative

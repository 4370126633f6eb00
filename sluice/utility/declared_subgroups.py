"""Declared subgroups: the categories that may be named and whose own figures are those of enough records."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from sluice.arrays import BoolArray
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

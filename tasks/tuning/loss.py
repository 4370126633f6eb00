"""The loss of a plan, as the user weighs it: how far the masked file's pairs of variables lie from the original's.

Every pair of the original's variables is counted on common bins of the original as it was, so that recoding,
suppression and dropped variables count. A variable of which one value was released tells no more than one that was left
out, and counts as such: else a recoding of everything to one group would seem better than to leave the variable out.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import nan

import numpy as np

from policies.original_and_masked import OriginalAndMasked
from sluice.arrays import FloatArray, IntArray
from sluice.utility.common_bins import CommonBins, common_bins
from sluice.verdict import Finding
from tasks.tuning.space import LossWeights


def mean_pair_distance(files: OriginalAndMasked, weights: Mapping[str, float] | None = None) -> float:
    """Mean total variation distance over all pairs of variables, 0 (kept) to 1 (lost); NaN without a variable.

    weights : variable: how much it counts; a pair counts by the product of both. 1, when not given
    Of a single variable it is the distance of that variable alone. Cost: O(n) a pair, and a table of bins by bins.
    """
    bins = common_bins(files.original, files.recoded, files.masked, files.variables, files.released)
    told = [_as_told(each) for each in bins]
    given = weights or {}
    total = weight = 0.0
    for one, other in combinations(told, 2) if len(told) > 1 else ((each, each) for each in told):
        of = given.get(one.name, 1.0) * given.get(other.name, 1.0)
        if of:
            total += of * _distance(one, other)
            weight += of
    return total / weight if weight else nan


def loss_of(pair_distance: float, weights: LossWeights, utility: Sequence[Finding] = ()) -> float:
    """The weighted loss, without what dropped variables cost; NaN where a part could not be measured.

    utility : findings of the policy's measures of utility, for `measures`
    """
    loss = weights.marginals * pair_distance if weights.marginals else 0.0
    for name, weight in weights.measures.items():
        observed = next((each.observed for each in utility if each.rule == name), None)
        loss += weight * (nan if observed is None else observed)
    return float(loss)


def _as_told(variable: CommonBins) -> CommonBins:
    """The same; where one value was released, as if none was."""
    if len(variable.masked) and np.all(variable.masked == variable.masked[0]):
        spread: FloatArray = np.zeros((1, variable.bins))
        spread[0, -1] = 1
        return CommonBins(variable.name, variable.original, np.zeros_like(variable.masked), spread, variable.labels)
    return variable


def _distance(one: CommonBins, other: CommonBins) -> float:
    before = _table(one.original, other.original, one.bins, other.bins)
    after = one.spread.T @ _table(one.masked, other.masked, one.codes, other.codes) @ other.spread
    return float(np.abs(before - after).sum() / 2)


def _table(one: IntArray, other: IntArray, rows: int, columns: int) -> FloatArray:
    if not len(one):
        return np.zeros((rows, columns))
    counts = np.bincount(one * columns + other, minlength=rows * columns)
    return np.asarray(counts.reshape(rows, columns) / len(one))

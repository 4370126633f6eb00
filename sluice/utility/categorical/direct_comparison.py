"""Direct comparison of categories: how far a released category lies from the original one.

Source: Torra (2013), "Information Loss Measures: Categorical Data", direct comparison. Differs from it: the ordinal
distance of a category from itself is 0, as in Xiong (CS573 slides) and in any distance; the slide counts the categories
from one to the other with both ends, which gives 1 / |D|. Here it is the number of steps from one to the other, of
those from the lowest to the highest. Added to it: a released group lies at its mean distance from the original
category, over all categories that it may stand for, each as likely as another; and what is missing in one file alone
lies at distance 1.
"""

from collections.abc import Sequence

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError
from sluice.utility.common_bins import CommonBins


def category_distances(labels: Sequence[str], order: Sequence[str] | None = None) -> FloatArray:
    """Shape (bins, bins): the distance of each category from each other one, 0 to 1.

    labels : the categories, the last of them for a missing value
    order  : of an ordinal variable its categories in rising order; None for a nominal one
    raises : DataError if a label is none of the ordered categories

    Nominal: 1 unless they are the same. Ordinal: steps between them, of those from end to end. Missing lies at 1.
    """
    distance = 1.0 - np.eye(len(labels))
    if order is None or len(order) < 2:
        return distance
    rank = {label: place for place, label in enumerate(order)}
    if any(label not in rank for label in labels[:-1]):
        raise DataError("a category of an ordinal variable is not in its order.")
    places = np.array([rank[label] for label in labels[:-1]], dtype=np.float64)
    distance[:-1, :-1] = np.abs(np.subtract.outer(places, places)) / (len(order) - 1)
    return distance


def direct_comparison(bins: CommonBins, distances: FloatArray, weight: FloatArray | None = None) -> float:
    """The mean distance of the released category from the original one: 0 for none, at most 1; higher is worse.

    bins      : one variable of two files whose rows are the same records
    distances : (bins, bins), `category_distances` of its labels
    weight    : (n,), not negative; None: every record weighs 1
    returns   : NaN without a record, or without one that weighs anything
    raises    : DataError if the files differ in length, or the distances are of other bins
    cost      : O(n + codes x bins^2)
    """
    if len(bins.original) != len(bins.masked):
        raise DataError(
            f"'{bins.name}' is compared record by record; got {len(bins.original):,} and {len(bins.masked):,} records."
        )
    if distances.shape != (bins.bins, bins.bins):
        raise DataError(f"'{bins.name}' has {bins.bins} bins; got distances of shape {distances.shape}.")
    total = float(len(bins.original) if weight is None else weight.sum())
    if not total:
        return float("nan")
    of_record = (bins.spread @ distances.T)[bins.masked, bins.original]
    return min(1.0, float(of_record.sum() if weight is None else of_record @ weight) / total)

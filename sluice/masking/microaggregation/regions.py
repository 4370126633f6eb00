"""Regions: the bounds between which the numbers of a cluster lie, where cuts of the file made it.

Source: LeFevre, DeWitt and Ramakrishnan (2006), the regions of a strict partition, which cover every record that there
could be and do not overlap. That a cut is published as a round number is ours: the median is somebody's value.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.generalization.interval_labels import interval_label
from sluice.ground.arrays import FloatArray, IntArray

EVERYTHING = "*"


class Regions(NamedTuple):
    """Clusters and the cuts that bound them; a cut is one number, whatever clusters lie on its sides."""

    groups: IntArray  # shape (n,), the cluster of each record, numbered from 0 without a gap
    low: IntArray  # shape (clusters, p), the cut below each in each column of numbers; -1: none
    high: IntArray  # shape (clusters, p), the cut above
    below: IntArray  # shape (cuts,), the record with the largest value below each cut
    above: IntArray  # shape (cuts,), the record with the smallest value above it, which is in


def region_names(regions: Regions, column: int, values: FloatArray, like: pd.Series) -> npt.NDArray[np.object_]:
    """'under 20', '20 to 34' (of fractions '20 to under 35'), '35 and over', or '*' without a cut, shape (n,).

    column : which column of numbers it is
    values : shape (n,), of the records; ordinal categories by their position
    like   : the column as it was, which tells fractions, whole numbers and the names of categories apart
    """
    pairs, pair = np.unique(
        np.column_stack([regions.low[:, column], regions.high[:, column]]), axis=0, return_inverse=True
    )
    low, high = pairs.T  # many regions lie between the same cuts
    if isinstance(like.dtype, pd.CategoricalDtype):
        names = list(like.cat.categories)
        cuts = np.append(values[regions.above], np.nan)
        first = np.where(low < 0, 0, cuts[low]).astype(np.int64)
        last = np.where(high < 0, len(names), cuts[high]).astype(np.int64) - 1
        texts = [names[a] if a == b else f"{names[a]} to {names[b]}" for a, b in zip(first, last, strict=True)]
    else:
        whole = pd.api.types.is_integer_dtype(like.dtype)
        cuts = np.append(roundest(values[regions.below], values[regions.above]), np.nan)
        bounds = zip(np.where(low < 0, -np.inf, cuts[low]), np.where(high < 0, np.inf, cuts[high]), strict=True)
        texts = [
            EVERYTHING if least == -np.inf and most == np.inf else interval_label(least, most, whole)
            for least, most in bounds
        ]
    return np.array(texts, dtype=object)[pair.ravel()][regions.groups]


def roundest(below: FloatArray, above: FloatArray) -> FloatArray:
    """A number more than `below` and at most `above` with few digits; whole numbers between whole numbers.

    below, above : shape (n,), finite, below < above
    """
    with np.errstate(all="ignore"):
        exponents = np.floor(np.log10(above - below))
        found = above.copy()
        for exponent in (exponents, exponents + 1):  # a multiple of the first lies in the gap, one of the next may
            digits = np.where(exponent < 0, 10.0**-exponent, 1.0)
            steps = np.where(exponent < 0, 1.0, 10.0**exponent)
            multiple = np.floor(above * digits / steps) * steps / digits
            found = np.where((multiple > below) & (multiple <= above), multiple, found)
    return found

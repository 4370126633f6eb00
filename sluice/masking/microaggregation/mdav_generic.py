"""MDAV-generic: MDAV for records that mix numbers, ordinal and nominal variables.

Source: Xiong (CS573 slides), "MDAV-generic" and "MDAV-generic for categorical attributes" (distances), with the
aggregates of "Microaggregation/Clustering" (median) and of Torra (2013), "Discussion and summary (I)"
(plurality rule) for the average record. Two equal ordinal values have distance 0, as in Xiong (CS573 slides).
"""

from collections.abc import Sequence

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import PlanError
from sluice.masking.microaggregation.scale import Scale


def generic_groups(records: FloatArray, scales: Sequence[Scale], k: int) -> IntArray:
    """The group of each record, formed as by `mdav.mdav_groups`, which it equals on numbers alone.

    The squared distance of two records is the sum over the columns of (a - b)^2 for numbers, of the squared share of
    the categories that lie between them for ordinal columns, of 0 or 1 for nominal ones. The average record has the
    mean of numbers, the lower median of ordinal columns, the mode (the first of equals) of nominal ones. Equal
    distances: the record that comes first.

    records : shape (n, d), finite, d >= 1; numbers on comparable scales, categories as positions 0, 1, ...
    scales  : one for each column
    returns : shape (n,), numbered from 0 in the order of formation; k to 2k - 1 records each
    raises  : PlanError if n < k
    cost    : O(n^2 d / k) time whatever the data, O(n d) memory: less than a second for 10,000 records, half a minute
              or more for 100,000; use blocks for more
    """
    from sluice.masking.microaggregation.mdav_generic_kernel import group_records

    if len(records) < k:
        raise PlanError(f"microaggregation needs at least k = {k} records; there are {len(records)}.")
    categories = np.array([scale.categories for scale in scales])
    ordinal = np.array([scale.kind == "ordinal" for scale in scales])
    groups: IntArray = group_records(np.require(records.T, requirements=["C", "W"]), categories, ordinal, k)
    return groups

"""MDAV for numbers: groups around the records farthest from the average, exactly those of the definition.

Source: as `microaggregation`, the method that uses it; records that hold categories, too, go through `mdav_generic`.
"""

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import PlanError


def mdav_groups(records: FloatArray, k: int) -> IntArray:
    """The group of each record, numbered from 0 in the order of formation. Groups have k to 2k - 1 records.

    While 3k records are left: x_r is the one farthest from their centroid, its group are it and the k - 1 nearest to
    it; x_s is the one of the others farthest from x_r, its group likewise. Of 2k to 3k - 1 left, one group around x_r
    and one of the rest; of fewer, one group. Equal distances: the record that comes first.

    records : shape (n, d), finite, d >= 1; on scales that may be compared
    returns : shape (n,), exactly the groups of the definition in float64, with a correctly rounded centroid
    raises  : PlanError if n < k
    cost    : at worst O(n^2 d / k), far less where boxes around blocks of records tell them apart; O(n d) memory.
              The benchmarks give the seconds
    """
    from sluice.masking.microaggregation.mdav_kernel import group_records

    n, d = records.shape
    if n < k:
        raise PlanError(f"microaggregation needs at least k = {k} records; there are {n}.")
    centred = records - records.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    rotated = np.ascontiguousarray(centred @ axes)
    del centred  # a large copy, and the groups take the longest
    largest = np.sqrt(np.einsum("ij,ij->i", rotated, rotated).max())
    # A rotated row is off by at most d^1.5 eps |row|, and so a distance by twice that; the rest is margin.
    slack = 64.0 * d**1.5 * np.finfo(np.float64).eps * largest
    groups: IntArray = group_records(np.require(records, requirements=["C", "W"]), rotated, k, slack)
    return groups

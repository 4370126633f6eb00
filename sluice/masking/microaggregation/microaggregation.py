"""Microaggregation by MDAV: groups of at least k similar records, formed around the records farthest from the average.

Sources: Xiong (CS573 slides), "MDAV-generic" (its step "closest to x-bar" is read as closest to x_r, and its bounds
2k and 3k - 1 in the right order), with its distances and aggregates for ordinal and nominal attributes;
Torra (2013), "MDAV microaggregation" (whose last group may be smaller than k: not here). As there, the
second group of a round is formed around the record that is farthest from x_r among those that the first group leaves.
With `improve`: Thaeter and Reischuk (2021), ONA*, from these groups on.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import PlanError
from sluice.ground.variables import Variable, Variables
from sluice.masking.column_numbers import numbers
from sluice.masking.microaggregation.blocks import blocks_of, first_principal_component, partition_by_blocks
from sluice.masking.microaggregation.microaggregation_step import MicroaggregationStep, refuse_small_blocks
from sluice.masking.microaggregation.representatives import Scale

_NEIGHBOURS = 8  # nearest centroids that a record may go to
_LEAST = 3e-3  # of the errors: the search for new neighbours ends when less is gained


class Microaggregation(MicroaggregationStep):
    """Microaggregate by MDAV: groups around the records farthest from the average, of any kinds of columns."""

    method: Literal["microaggregation"] = "microaggregation"
    block_size: int | None = Field(
        default=None,
        description=(
            "treat the file in blocks of at least this many records (k or more), along its first principal "
            "component. Faster on large files, at some loss; needed on more than 10,000 or so records with "
            "categories. Absent: exact MDAV"
        ),
    )

    improve: bool = Field(
        default=False,
        description="then let records change groups while that lowers the sum of squared errors; numbers only. With k "
        "= 5 a tenth less is lost, half where a few lie far out; it takes 20 to 100 times as long",
    )

    example: ClassVar[str] = "{method: microaggregation, columns: [income, rent, region], k: 5}"
    use_when: ClassVar[str] = (
        "At least k records must have equal numbers: all quasi-identifiers together, k from 5 (10 if the "
        "risk is high). One in k is found by chance."
    )
    preserves: ClassVar[str] = (
        "Means exactly; variances shrink unless `restore_variance`; correlations nearly if the columns are "
        "strongly related. All columns together: k-anonymity on them."
    )
    known_attack: ClassVar[str] = (
        "Only columns masked together are k-anonymous; otherwise their groups can be intersected (Torra "
        "2013, individual ranking). Equal sensitive values within a group are disclosed."
    )
    attack_measured: ClassVar[str] = (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On 12 "
        "variables of Census (k: 5): 16 % found; 0 % surely found."
    )

    @model_validator(mode="after")
    def _block_holds_a_group(self) -> "Microaggregation":
        refuse_small_blocks(self.method, self.columns, self.k, self.block_size)
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """As every microaggregation; refuses categories for `improve`."""
        released = super().released(variables)
        for name in self.columns:
            if self.improve and variables[name].kind.is_categorical:
                raise PlanError(
                    f"improve of {self.method} takes numbers; '{name}' is {variables[name].kind}. Leave it out, or use "
                    "k_member_clustering for mixed kinds."
                )
        return released

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """As every microaggregation. With `improve` in the order of the values: of equal gains the first is taken, and
        which records are first must not change what others become."""
        if not self.improve:
            return super().mask(frame, variables, rng)
        order = np.lexsort([numbers(frame, [name])[:, 0] for name in reversed(self.columns)])
        return super().mask(frame.iloc[order], variables, rng).iloc[np.argsort(order)]

    def partition(self, records: FloatArray, scales: Sequence[Scale], rng: Generator) -> IntArray:
        def groups(of: FloatArray) -> IntArray:
            return (
                generic_groups(of, scales, self.k)
                if any(scale.categories for scale in scales)
                else mdav_groups(of, self.k)
            )

        if self.block_size is None or len(records) < 2 * self.block_size:
            found = groups(records)
        else:
            blocks = blocks_of(first_principal_component(records, scales), self.block_size)
            found = partition_by_blocks(len(records), blocks, lambda rows: groups(records[rows]))
        return exchanged_groups(records, found, self.k) if self.improve else found


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


def generic_groups(records: FloatArray, scales: Sequence[Scale], k: int) -> IntArray:
    """The group of each record, formed as by `mdav_groups`, which it equals on numbers alone.

    Source: Xiong (CS573 slides), "MDAV-generic" and "MDAV-generic for categorical attributes" (distances), with the
    aggregates of "Microaggregation/Clustering" (median) and of Torra (2013), "Discussion and summary (I)" (plurality
    rule) for the average record. Two equal ordinal values have distance 0, as in Xiong (CS573 slides).

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
    from sluice.masking.microaggregation.mdav_generic_kernel import group_mixed_records

    if len(records) < k:
        raise PlanError(f"microaggregation needs at least k = {k} records; there are {len(records)}.")
    categories = np.array([scale.categories for scale in scales])
    ordinal = np.array([scale.kind == "ordinal" for scale in scales])
    groups: IntArray = group_mixed_records(np.require(records.T, requirements=["C", "W"]), categories, ordinal, k)
    return groups


def exchanged_groups(records: FloatArray, groups: IntArray, k: int) -> IntArray:
    """Groups of k to 2k - 1 records, numbered from 0 without a gap, whose sum of squared errors is at most as large.

    Source: Thaeter and Reischuk (2021), algorithm ONA*, which moves records to nearer groups, dissolves groups that
    others take up at less cost, and parts those of 2k. Differs from it: it starts from MDAV's groups instead of random
    ones, and two records of neighbouring groups may also be swapped, which is all that groups of k allow.

    A record goes to one of the eight groups whose centroids are nearest to it, in place of one of its records or beside
    them, where the sum of squared errors falls most; a group is dissolved where its records cost less in theirs; a
    group of 2k is parted. That ends when nothing lowers the sum, with neighbours anew while that gains 0.3 %.

    records : shape (n, d), finite, on scales that may be compared
    groups  : shape (n,), numbered from 0 without a gap, k to 2k - 1 records each
    returns : shape (n,); the same records give the same groups
    cost    : O(n d log n) in few dimensions to find neighbours, a few times, and O(n k d) for each of some ten passes;
              O(n d) memory. The benchmarks give the seconds
    """
    from scipy.spatial import KDTree

    from sluice.masking.microaggregation.group_exchange_kernel import exchange

    found = groups.copy()
    before = errors = squared_errors(records, groups)
    while errors > 0:
        sizes = np.bincount(found)
        centroids = np.column_stack([np.bincount(found, weights=column) / sizes for column in records.T])
        number = min(_NEIGHBOURS + 1, len(sizes))
        nearest = KDTree(centroids).query(records, number, workers=-1)[1].reshape(len(records), number)
        found = _without_gaps(exchange(np.ascontiguousarray(records), found, nearest, k, errors * 1e-12))
        left = squared_errors(records, found)
        if left > (1 - _LEAST) * errors:
            errors = min(errors, left)
            break
        errors = left
    return found if squared_errors(records, found) < before else groups


def squared_errors(records: FloatArray, groups: IntArray) -> float:
    """The sum of the squared distances of all records from the mean of their group. Shapes (n, d) and (n,)."""
    sizes = np.bincount(groups)
    means = np.column_stack([np.bincount(groups, weights=column) / sizes for column in records.T])
    return float(((records - means[groups]) ** 2).sum())


def _without_gaps(groups: IntArray) -> IntArray:
    return np.unique(groups, return_inverse=True)[1]

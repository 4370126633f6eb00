"""Microaggregation of records in an order: of one variable, or of several on one projection, cut into the best groups.

Source: Torra (2013), "Optimal Univariate Microaggregation" (shortest path over the sorted values), and
"Multivariate" (one variable at a time, individual ranking). Differs from it: the path is found in the order of the
values instead of by Dijkstra's algorithm, and ordinal variables are taken by their positions.

Source: Torra (2013), "Projected Microaggregation": each set of variables is projected on one vector, and the shortest
path over the records sorted by it has the sum of squared errors in all variables of the set as its length. Differs from
it: errors are of standardised variables, unless `standardise: false`.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field, field_validator

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.variables import Kind
from sluice.masking.microaggregation.blocks import first_principal_component
from sluice.masking.microaggregation.microaggregation_step import MicroaggregationStep, VariableGroups
from sluice.masking.microaggregation.representatives import Scale, standardised

Projection = Literal["first_principal_component", "sum_of_z_scores"]


class UnivariateMicroaggregation(MicroaggregationStep):
    """Microaggregate each variable by itself: groups of neighbours among its sorted values."""

    method: Literal["univariate_microaggregation"] = "univariate_microaggregation"
    algorithm: Literal["optimal", "individual_ranking"] = Field(
        default="optimal",
        description="optimal: the groups of k to 2k - 1 with the least sum of squared errors; individual_ranking: k "
        "consecutive values each",
    )
    variable_groups: VariableGroups = Field(default="one_at_a_time", description="only one_at_a_time: leave it out")
    standardise: bool = Field(default=True, description="without effect")

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.CONTINUOUS, Kind.INTEGER, Kind.ORDINAL)
    example: ClassVar[str] = "{method: univariate_microaggregation, columns: [rent], k: 5}"
    use_when: ClassVar[str] = (
        "Single values identify, and must stay very near. No protection against an intruder who knows "
        "several variables."
    )
    preserves: ClassVar[str] = "Means exactly, each distribution and the correlations very nearly."
    known_attack: ClassVar[str] = (
        "An intruder who knows several variables intersects their groups, and often one record is left, for"
        " any k (Torra 2013)."
    )
    in_an_analysis: ClassVar[str] = (
        "Each distribution and the correlations are nearly right, variances a little too small. Single values are means"
        " of groups of neighbours."
    )
    attack_measured: ClassVar[str] = (
        "Intersect the two or three groups of each variable that a value can be in. On 12 variables of Census (k: 5): "
        "100 % found; 100 % surely found."
    )

    @field_validator("variable_groups", mode="before")
    @classmethod
    def _one_at_a_time(cls, groups: Any) -> Any:
        if groups != "one_at_a_time":
            raise ValueError(
                "variable_groups of univariate_microaggregation can only be one_at_a_time; got other groups. For "
                "variables together use microaggregation or projected_microaggregation."
            )
        return groups

    def partition(self, records: FloatArray, scales: Sequence[Scale], rng: Generator) -> IntArray:
        by_algorithm = {"optimal": optimal_groups, "individual_ranking": individual_ranking_groups}
        return by_algorithm[self.algorithm](records[:, 0], self.k)


def optimal_groups(values: FloatArray, k: int) -> IntArray:
    """The groups of at least k values with the least sum of squared errors, numbered from 0 in rising order of values.

    values  : shape (n,), finite, n >= k; equal values may be in different groups, the record that comes first in the
              lower one
    cost    : O(n log n + n k) time, O(n) memory
    """
    from sluice.masking.microaggregation.shortest_path_kernel import shortest_path_groups

    order = np.argsort(values, kind="stable")
    groups = np.empty(len(values), dtype=np.int64)
    groups[order] = shortest_path_groups(values[order, None], k)
    return groups


def individual_ranking_groups(values: FloatArray, k: int) -> IntArray:
    """Groups of k consecutive values, the last with up to 2k - 1, numbered from 0 in rising order of values.

    values  : shape (n,), finite, n >= k; of equal values the record that comes first
    cost    : O(n log n)
    """
    n = len(values)
    groups = np.empty(n, dtype=np.int64)
    groups[np.argsort(values, kind="stable")] = np.minimum(np.arange(n) // k, n // k - 1)
    return groups


class ProjectedMicroaggregation(MicroaggregationStep):
    """Microaggregate several numbers along one projection: fast on any number of records."""

    method: Literal["projected_microaggregation"] = "projected_microaggregation"
    projection: Projection = Field(
        default="first_principal_component",
        description="what records are sorted by: first_principal_component, the direction of largest variance; or "
        "sum_of_z_scores, for variables that rise together",
    )

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.CONTINUOUS, Kind.INTEGER)
    example: ClassVar[str] = "{method: projected_microaggregation, columns: [income, rent], k: 5}"
    use_when: ClassVar[str] = (
        "Strongly related numbers (one factor) of very many records; else `microaggregation` loses much less."
    )
    preserves: ClassVar[str] = (
        "Means exactly, and the direction of the projection; what is orthogonal to it is averaged out. All "
        "columns together: k-anonymity on them."
    )
    known_attack: ClassVar[str] = (
        "Only columns masked together are k-anonymous; otherwise their groups can be intersected (Torra "
        "2013, individual ranking). Equal sensitive values within a group are disclosed."
    )
    attack_measured: ClassVar[str] = (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On 12 "
        "variables of Census (k: 5): 11 % found; 0 % surely found."
    )

    def partition(self, records: FloatArray, scales: Sequence[Scale], rng: Generator) -> IntArray:
        return projected_groups(records, self.k, self.projection)


def projected_groups(records: FloatArray, k: int, projection: Projection) -> IntArray:
    """The group of each record, numbered from 0 in rising order of the projection. Groups have k to 2k - 1 records.

    Of all partitions into neighbours on the projection the one with the least sum of squared errors in all columns.

    records : shape (n, d), finite, n >= k; of equal projections the record that comes first
    cost    : O(n log n + n k d + n d^2) time, O(n d) memory
    """
    from sluice.masking.microaggregation.shortest_path_kernel import shortest_path_groups

    if projection == "first_principal_component":
        scores = first_principal_component(records)
    else:
        scores = standardised(records).sum(axis=1)
    order = np.argsort(scores, kind="stable")
    groups = np.empty(len(records), dtype=np.int64)
    groups[order] = shortest_path_groups(records[order], k)
    return groups

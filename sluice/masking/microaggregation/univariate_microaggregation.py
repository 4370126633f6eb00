"""Univariate microaggregation: each variable by itself, its sorted values cut into groups of neighbours.

Source: Torra (2013), "Optimal Univariate Microaggregation" (shortest path over the sorted values), and
"Multivariate" (one variable at a time, individual ranking). Differs from it: the path is found in the order of the
values instead of by Dijkstra's algorithm, and ordinal variables are taken by their positions.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field, field_validator

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.variables import Kind
from sluice.masking.microaggregation.microaggregation_step import MicroaggregationStep, VariableGroups
from sluice.masking.microaggregation.representatives import Scale


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
        "Single values identify, such as a large turnover, and every variable must stay very near its "
        "original. It does not protect against an intruder who knows several variables."
    )
    preserves: ClassVar[str] = "Means exactly, each distribution and the correlations very nearly."
    known_attack: ClassVar[str] = (
        "An intruder who knows several variables intersects their groups, and often one record is left, "
        "for any k (Torra 2013: individual ranking can be attacked effectively)."
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

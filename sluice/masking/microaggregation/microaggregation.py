"""Microaggregation by MDAV: groups of at least k similar records, formed around the records farthest from the average.

Sources: Xiong (CS573 slides), "MDAV-generic" (its step "closest to x-bar" is read as closest to x_r, and its bounds
2k and 3k - 1 in the right order), with its distances and aggregates for ordinal and nominal attributes;
Torra (2013), "MDAV microaggregation" (whose last group may be smaller than k: not here). As there, the
second group of a round is formed around the record that is farthest from x_r among those that the first group leaves.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.arrays import FloatArray, IntArray
from sluice.masking.microaggregation.blocks import blocks_of, first_principal_component, partition_by_blocks
from sluice.masking.microaggregation.mdav import mdav_groups
from sluice.masking.microaggregation.mdav_generic import generic_groups
from sluice.masking.microaggregation.microaggregation_step import MicroaggregationStep
from sluice.masking.microaggregation.scale import Scale


class Microaggregation(MicroaggregationStep):
    """Microaggregate by MDAV: groups around the records farthest from the average, of any kinds of columns."""

    method: Literal["microaggregation"] = "microaggregation"
    block_size: int | None = Field(
        default=None,
        description="at least k: cut the file by its first principal component into blocks of at least this many "
        "records and treat each by itself. Faster on large files, at some loss; needed on more than 10,000 or so "
        "records with categories. Absent: exact MDAV",
    )

    example: ClassVar[str] = "{method: microaggregation, columns: [income, rent, region], k: 5}"
    use_when: ClassVar[str] = (
        "Numbers of people or firms are released as numbers and at least k records must look alike: all "
        "quasi-identifiers together, k from 5 (10 and more where the risk is high): one in k is found by luck."
    )
    preserves: ClassVar[str] = (
        "Means exactly; variances shrink unless `restore_variance`; correlations nearly, the more so the better the "
        "columns hang together. All columns together: k-anonymity on them."
    )
    known_attack: ClassVar[str] = (
        "Only what is masked together is k-anonymous: columns masked one at a time or in sets are linked again by "
        "intersecting their groups (Torra 2013, individual ranking). Equal sensitive values within a group are "
        "disclosed."
    )

    @model_validator(mode="after")
    def _block_holds_a_group(self) -> "Microaggregation":
        if self.block_size is not None and self.block_size < self.k:
            raise ValueError(
                f"block_size of {self.method} on {', '.join(map(repr, self.columns))} must be at least k = {self.k}; "
                f"got {self.block_size}. Some thousands keep most of the information."
            )
        return self

    def partition(self, records: FloatArray, scales: Sequence[Scale], rng: Generator) -> IntArray:
        def groups(of: FloatArray) -> IntArray:
            return (
                generic_groups(of, scales, self.k)
                if any(scale.categories for scale in scales)
                else mdav_groups(of, self.k)
            )

        if self.block_size is None or len(records) < 2 * self.block_size:
            return groups(records)
        blocks = blocks_of(first_principal_component(records, scales), self.block_size)
        return partition_by_blocks(len(records), blocks, lambda rows: groups(records[rows]))

"""Clustering: records of any kinds in clusters of at least k, formed where least information is lost.

The four methods differ in how clusters are formed: their loops, with their definitions, are in `clustering_kernel`, and
each names its source. Differs from all of them: a large file can be cut into blocks, and equal costs are decided by a
random order of the records.
"""

from typing import ClassVar, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.ground.arrays import IntArray
from sluice.ground.errors import PlanError
from sluice.masking.microaggregation.blocks import blocks_of, first_principal_component, partition_by_blocks
from sluice.masking.microaggregation.clustering_step import ClusteringStep
from sluice.masking.microaggregation.clusters import Domain
from sluice.masking.microaggregation.microaggregation_step import refuse_small_blocks

Algorithm = Literal["k_member", "k_nearest", "one_pass", "bottom_up"]


class Clustering(ClusteringStep):
    """A method of clustering: it is its algorithm. Time grows with the square of the records, unless it has blocks."""

    algorithm: ClassVar[Algorithm]
    block_size: int | None = Field(
        default=None,
        description=(
            "treat the file in blocks of at least this many similar records (k or more). Time grows with the "
            "records times the block size; absent: with the square of the records"
        ),
    )

    @model_validator(mode="after")
    def _block_holds_a_cluster(self) -> "Clustering":
        refuse_small_blocks(self.method, self.columns, self.k, self.block_size)
        return self

    def clusters(self, records: Domain, frame: object, rows: IntArray, rng: Generator) -> IntArray:
        if self.block_size is None:
            return clusters_by(self.algorithm, records, self.k, rng)
        levels = records.nodes / np.maximum(records.nodes.max(axis=0, initial=0), 1) * records.weights
        blocks = blocks_of(first_principal_component(np.hstack([records.numbers, levels])), self.block_size)
        return partition_by_blocks(
            len(records.numbers), blocks, lambda rows: clusters_by(self.algorithm, records.of(rows), self.k, rng)
        )


class KMemberClustering(Clustering):
    """Put similar records of any kinds into clusters of at least k, and release one record for each."""

    method: Literal["k_member_clustering"] = "k_member_clustering"
    algorithm: ClassVar[Algorithm] = "k_member"
    source: ClassVar[str] = (
        'Source: Xiong (CS573 slides), "k-Member Clustering Problem" and "Greedy Algorithm". Differs from it: a large '
        "file can be cut into blocks. Equal costs are decided by a random order of the records."
    )

    example: ClassVar[str] = (
        "{method: k_member_clustering, columns: [age, sex, region], k: 5, representative: generalised}"
    )
    use_when: ClassVar[str] = (
        "Quasi-identifiers of mixed kinds must be k-anonymous together. For numbers alone MDAV is faster "
        "and loses no more."
    )
    attack_measured: ClassVar[str] = (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On 12 "
        "variables of Census (k: 5): 14 % found; 0 % surely found."
    )


class KNearestClustering(Clustering):
    """Cluster a random record with the k - 1 nearest to it, again and again; one record represents each."""

    method: Literal["k_nearest_clustering"] = "k_nearest_clustering"
    algorithm: ClassVar[Algorithm] = "k_nearest"
    source: ClassVar[str] = (
        'Source: Xiong (CS573 slides), "Experimental Results", where it is what k-member clustering is compared with. '
        "The slides do not say what becomes of the last records: here each joins the cluster to whose loss it adds "
        "least, as in k-member clustering."
    )

    example: ClassVar[str] = (
        "{method: k_nearest_clustering, columns: [age, sex, region], k: 5, representative: generalised}"
    )
    use_when: ClassVar[str] = (
        "k_member_clustering takes too long: with k = 50 this takes a twentieth of the time, and loses a "
        "sixth (k = 10) to half (k = 300) more."
    )
    attack_measured: ClassVar[str] = (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On 12 "
        "variables of Census (k: 5): 13 % found; 0 % surely found."
    )


class OnePassKMeans(Clustering):
    """Send each record to the nearest of n / k clusters, then fill up the small ones; one record represents each."""

    method: Literal["one_pass_k_means"] = "one_pass_k_means"
    algorithm: ClassVar[Algorithm] = "one_pass"
    source: ClassVar[str] = (
        "Source: Lin and Wei (2008), the one-pass k-means algorithm (OKA): its clustering stage and its adjustment "
        "stage. Differs from it: records come in random order instead of sorted, of which the first n / k are the "
        "seeds."
    )

    example: ClassVar[str] = (
        "{method: one_pass_k_means, columns: [age, sex, region], k: 5, representative: generalised}"
    )
    use_when: ClassVar[str] = "For comparison with published results: as fast as k_nearest_clustering, and loses more."
    attack_measured: ClassVar[str] = (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On 12 "
        "variables of Census (k: 5): 13 % found; 0 % surely found."
    )


class BottomUpLocalRecoding(Clustering):
    """Merge clusters of fewer than k with the one that costs least information, from single records upwards."""

    method: Literal["bottom_up_local_recoding"] = "bottom_up_local_recoding"
    algorithm: ClassVar[Algorithm] = "bottom_up"
    source: ClassVar[str] = (
        "Source: Xu, Wang, Pei, Wang, Shi and Fu (2006), the bottom-up algorithm and its normalized certainty penalty, "
        "which with equal weights is the information loss of the other methods of clustering. Differs from it: "
        "clusters of 2k and more are parted as soon as they arise, by k-member clustering."
    )

    example: ClassVar[str] = (
        "{method: bottom_up_local_recoding, columns: [age, sex, region], k: 5, representative: generalised}"
    )
    use_when: ClassVar[str] = (
        "As k_member_clustering, with hierarchies and a k of at least 10, where it loses a seventh less. "
        "Clusters have up to 2k - 1 records."
    )
    attack_measured: ClassVar[str] = (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On 12 "
        "variables of Census (k: 5): 10 % found; 0 % surely found."
    )


def clusters_by(algorithm: Algorithm, records: Domain, k: int, rng: Generator) -> IntArray:
    """The cluster of each record, numbered from 0, at least k records each, of those in random order; shape (n,).

    records : n records
    raises  : PlanError if n < k
    cost    : O(n^2 d) time for k_member and bottom_up, O(n^2 d / k) for k_nearest and one_pass; O(n d) memory. k_member
              takes half a second for 10,000 x 10 numbers, a minute for 100,000 x 10, or two seconds in blocks of 5,000
    """
    from sluice.masking.microaggregation import clustering_kernel

    count = len(records.numbers)
    if count < k:
        raise PlanError(f"{algorithm} needs at least k = {k} records; there are {count}.")
    order = rng.permutation(count)
    shuffled = records.of(order)
    groups = np.empty(count, dtype=np.int64)
    groups[order] = getattr(clustering_kernel, algorithm)(
        np.ascontiguousarray(shuffled.numbers.T), np.ascontiguousarray(shuffled.nodes.T), records.weights, k
    )
    return groups

"""One-pass k-means: n / k seeds, each record goes to the nearest cluster, and small clusters are then filled up.

Source: Lin and Wei (2008), the one-pass k-means algorithm (OKA): its clustering stage and its adjustment stage. Differs
from it: records come in random order instead of sorted, of which the first n / k are the seeds.
"""

from typing import ClassVar, Literal

from numpy.random import Generator

from sluice.ground.arrays import IntArray
from sluice.masking.microaggregation.cluster_loss import Domain
from sluice.masking.microaggregation.clustering_step import ClusteringByBlocks, in_random_order


class OnePassKMeans(ClusteringByBlocks):
    """Send each record to the nearest of n / k clusters, then fill up the small ones; one record stands for each."""

    method: Literal["one_pass_k_means"] = "one_pass_k_means"

    example: ClassVar[str] = (
        "{method: one_pass_k_means, columns: [age, sex, region], k: 5, representative: generalised}"
    )
    use_when: ClassVar[str] = (
        "To compare with what others published. It is as fast as k_nearest_clustering and loses more: seeds at random "
        "do not find rare people, who are then put wherever a cluster lacks some."
    )
    attack_measured: ClassVar[str] = (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On 12 "
        "variables of Census (k: 5): 13 % found; 0 % surely found."
    )

    def clusters_of_block(self, records: Domain, rng: Generator) -> IntArray:
        return one_pass_groups(records, self.k, rng)


def one_pass_groups(records: Domain, k: int, rng: Generator) -> IntArray:
    """The cluster of each record, numbered from 0; at least k records each.

    n // k records at random are the first of as many clusters. Each other record joins the cluster nearest to it: the
    distance is from the mean of its numbers and to the lowest node that holds its categories, both of those that have
    joined so far. Clusters of more than k then give up those farthest from that centre; each of these goes to the
    nearest cluster of fewer than k, and when there is none to the nearest of all.

    records : n records
    returns : shape (n,)
    raises  : PlanError if n < k
    cost    : O(n^2 d / k) time, O(n d) memory
    """
    from sluice.masking.microaggregation.clustering_kernel import one_pass

    return in_random_order(one_pass, "one_pass_k_means", records, k, rng)

"""The methods of clustering beside their definitions. The published distances and losses are in
tests/published/test_xiong_k_member.py; Mondrian, which cuts and does not gather, is in test_mondrian.py.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given

from sluice.masking.microaggregation.clustering import clusters_by
from sluice.masking.microaggregation.clusters import Domain, domain_of, information_loss
from tests.masking.microaggregation.naive_clusters import (
    as_sets,
    bottom_up,
    cases,
    k_member,
    k_nearest,
    mixed_records,
    one_pass,
    order_of,
)


class Clustering(NamedTuple):
    groups: Callable[[Domain, int, np.random.Generator], np.ndarray]
    by_definition: Callable[[Domain, int, list[int]], list[set[int]]]
    parts: int = 64  # of numbers, so that equal losses are equal however they are added up


CLUSTERINGS = {
    "bottom_up_local_recoding": Clustering(partial(clusters_by, "bottom_up"), bottom_up),
    "k_member_clustering": Clustering(partial(clusters_by, "k_member"), k_member),
    "k_nearest_clustering": Clustering(partial(clusters_by, "k_nearest"), k_nearest),
    "one_pass_k_means": Clustering(partial(clusters_by, "one_pass"), one_pass, parts=10**9),
}
HEAPS = domain_of(np.array([[0.0], [1], [2], [10], [11], [12]]), [None], [12.0])

every_clustering = pytest.mark.parametrize("method", CLUSTERINGS)


@every_clustering
@given(cases)
def test_clusters_are_those_of_the_definition(method: str, case: tuple[int, int, int, int]) -> None:
    n, k, p, seed = max(case[:2]), *case[1:]
    clustering = CLUSTERINGS[method]
    records = mixed_records(n, p, seed, clustering.parts)
    groups = clustering.groups(records, k, np.random.default_rng(seed))
    assert as_sets(groups) == clustering.by_definition(records, k, order_of(n, seed))
    sizes = np.bincount(groups)
    assert sizes.min() >= k
    assert method != "bottom_up_local_recoding" or sizes.max() < 2 * k


@every_clustering
@pytest.mark.parametrize("seed", range(10))
def test_two_heaps_are_two_clusters(method: str, seed: int) -> None:
    """One pass finds both where its seeds, the first two records of its order, lie in both."""
    groups = CLUSTERINGS[method].groups(HEAPS, 3, np.random.default_rng(seed))
    seeds = order_of(6, seed)[:2]
    apart = method != "one_pass_k_means" or min(seeds) < 3 <= max(seeds)
    assert not apart or sorted(map(sorted, as_sets(groups))) == [[0, 1, 2], [3, 4, 5]]
    assert np.bincount(groups).tolist() == [3, 3]


def test_who_is_left_joins_where_it_costs_least() -> None:
    heaps = np.array([[0.0], [1], [2], [4], [11], [12], [13]])
    found = set()
    for seed in range(20):
        groups = clusters_by("k_nearest", domain_of(heaps, [None], [13.0]), 3, np.random.default_rng(seed))
        found.add(tuple(sorted(map(tuple, map(sorted, as_sets(groups))))))
    assert ((0, 1, 2, 3), (4, 5, 6)) in found
    assert all(len(clusters) == 2 for clusters in found)


@every_clustering
@pytest.mark.parametrize("n", [2, 7])
def test_k_of_all_records_is_one_cluster_and_equal_records_share_theirs(method: str, n: int) -> None:
    rng = np.random.default_rng(0)
    groups_of = CLUSTERINGS[method].groups
    assert groups_of(mixed_records(n, 2, 0), n, rng).tolist() == [0] * n
    alike = mixed_records(n, 2, 0).of(np.zeros(3 * n, dtype=np.int64))
    groups = groups_of(alike, n, rng)
    assert np.bincount(groups).min() >= n
    assert information_loss(alike, groups).sum() == 0

"""k-nearest-neighbour clustering; its loss beside the other methods' is in tests/published/test_xiong_k_member.py."""

import numpy as np
import pytest
from hypothesis import given

from sluice.errors import PlanError
from sluice.masking.microaggregation.cluster_loss import domain_of, information_loss
from sluice.masking.microaggregation.k_nearest_clustering import k_nearest_groups
from tests.masking.microaggregation.naive_clusters import as_sets, cases, k_nearest, mixed_records, order_of


@given(cases)
def test_clusters_are_those_of_the_definition(case: tuple[int, int, int, int]) -> None:
    n, k, p, seed = max(case[:2]), *case[1:]
    records = mixed_records(n, p, seed)
    groups = k_nearest_groups(records, k, np.random.default_rng(seed))
    assert as_sets(groups) == k_nearest(records, k, order_of(n, seed))


@pytest.mark.parametrize("seed", range(5))
def test_two_heaps_are_two_clusters(seed: int) -> None:
    heaps = np.array([[0.0], [1], [2], [10], [11], [12]])
    groups = k_nearest_groups(domain_of(heaps, [None], [12.0]), 3, np.random.default_rng(seed))
    assert sorted(map(sorted, as_sets(groups))) == [[0, 1, 2], [3, 4, 5]]


def test_who_is_left_joins_where_it_costs_least() -> None:
    heaps = np.array([[0.0], [1], [2], [4], [11], [12], [13]])
    found = set()
    for seed in range(20):
        groups = k_nearest_groups(domain_of(heaps, [None], [13.0]), 3, np.random.default_rng(seed))
        found.add(tuple(sorted(map(tuple, map(sorted, as_sets(groups))))))
    assert ((0, 1, 2, 3), (4, 5, 6)) in found
    assert all(len(clusters) == 2 for clusters in found)


@pytest.mark.parametrize("n", [2, 7])
def test_k_of_all_records_is_one_cluster_and_equal_records_share_theirs(n: int) -> None:
    rng = np.random.default_rng(0)
    assert k_nearest_groups(mixed_records(n, 2, 0), n, rng).tolist() == [0] * n
    alike = mixed_records(n, 2, 0).of(np.zeros(3 * n, dtype=np.int64))
    groups = k_nearest_groups(alike, n, rng)
    assert np.bincount(groups).min() >= n
    assert information_loss(alike, groups).sum() == 0


def test_fewer_than_k_records_are_refused() -> None:
    for n in (0, 3):
        with pytest.raises(PlanError, match=f"k_nearest_clustering needs at least k = 4 records; there are {n}"):
            k_nearest_groups(mixed_records(n, 1, 0), 4, np.random.default_rng(0))

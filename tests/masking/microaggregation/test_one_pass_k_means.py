"""One-pass k-means."""

import numpy as np
import pytest
from hypothesis import given

from sluice.errors import PlanError
from sluice.masking.microaggregation.cluster_loss import domain_of, information_loss
from sluice.masking.microaggregation.one_pass_k_means import one_pass_groups
from tests.masking.microaggregation.naive_clusters import as_sets, cases, mixed_records, one_pass, order_of


@given(cases)
def test_clusters_are_those_of_the_definition(case: tuple[int, int, int, int]) -> None:
    n, k, p, seed = max(case[:2]), *case[1:]
    records = mixed_records(n, p, seed, parts=10**9)
    groups = one_pass_groups(records, k, np.random.default_rng(seed))
    assert as_sets(groups) == one_pass(records, k, order_of(n, seed))


def test_seeds_of_two_heaps_find_both_and_seeds_of_one_do_not() -> None:
    heaps = np.array([[0.0], [1], [2], [10], [11], [12]])
    for seed in range(10):
        rng = np.random.default_rng(seed)
        groups = one_pass_groups(domain_of(heaps, [None], [12.0]), 3, rng)
        seeds = order_of(6, seed)[:2]
        apart = (min(seeds) < 3) and (max(seeds) >= 3)
        assert (sorted(map(sorted, as_sets(groups))) == [[0, 1, 2], [3, 4, 5]]) or not apart
        assert np.bincount(groups).tolist() == [3, 3]


@pytest.mark.parametrize("n", [2, 7])
def test_k_of_all_records_is_one_cluster_and_equal_records_share_theirs(n: int) -> None:
    rng = np.random.default_rng(0)
    assert one_pass_groups(mixed_records(n, 2, 0), n, rng).tolist() == [0] * n
    alike = mixed_records(n, 2, 0).of(np.zeros(3 * n, dtype=np.int64))
    groups = one_pass_groups(alike, n, rng)
    assert np.bincount(groups).min() >= n
    assert information_loss(alike, groups).sum() == 0


def test_fewer_than_k_records_are_refused() -> None:
    for n in (0, 3):
        with pytest.raises(PlanError, match=f"one_pass_k_means needs at least k = 4 records; there are {n}"):
            one_pass_groups(mixed_records(n, 1, 0), 4, np.random.default_rng(0))

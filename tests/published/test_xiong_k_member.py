"""Xiong (CS573 slides): taxonomy distances, information loss IL(e), k-member clustering on Adult.

The trees are drawn in the slides, but not in their text: ours have the slides' leaves, the heights that they divide by,
and groups as in Byun et al. The order of the methods on Adult is theirs (Figure 9); its seconds and its other two
metrics are not checked here.
"""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.clustering_adult import adult
from sluice.generalization.hierarchy import Hierarchy
from sluice.generalization.taxonomy import taxonomy_of
from sluice.masking.microaggregation.cluster_loss import domain_of, information_loss
from sluice.masking.microaggregation.k_member_clustering import k_member_groups
from sluice.masking.microaggregation.k_nearest_clustering import k_nearest_groups
from sluice.masking.microaggregation.mondrian import mondrian_regions

COUNTRIES = Hierarchy(
    rows={
        "USA": ("North", "America"),
        "Canada": ("North", "America"),
        "Brazil": ("South", "America"),
        "Mexico": ("South", "America"),
        "Iran": ("West", "Asia"),
        "Egypt": ("West", "Asia"),
        "India": ("East", "Asia"),
        "Japan": ("East", "Asia"),
    }
)
COUNTRY = taxonomy_of(list(COUNTRIES.rows), COUNTRIES)
OCCUPATION = taxonomy_of(["Armed-Forces", "Teacher", "Doctor", "Salesman", "Tech-Support"], None)


def position(country: str) -> int:
    return list(COUNTRIES.rows).index(country)


def test_distances_of_countries() -> None:
    assert COUNTRY.distance(position("India"), position("USA")) == 3 / 3
    assert COUNTRY.distance(position("India"), position("Iran")) == pytest.approx(2 / 3)


def test_information_loss_of_two_clusters() -> None:
    # Age runs from 24 to 57. Cluster e1: r1, r3, r5; e2: r1, r2, r5.
    table = np.array(
        [
            [41, position("USA"), 0],
            [40, position("Canada"), 1],
            [24, position("Brazil"), 2],
            [41, position("USA"), 0],
            [57, position("India"), 4],
            [24, position("Brazil"), 2],
        ],
        dtype=np.float64,
    )
    records = domain_of(table, [None, COUNTRY, OCCUPATION], [57 - 24, 1, 1])
    assert information_loss(records, np.array([0, 0, 0, 1, 1, 1])) == pytest.approx([6.5454545, 9], abs=1e-6)


@pytest.mark.parametrize("k", [5, 10])
def test_order_of_the_methods_on_adult(reference_data: Path, k: int) -> None:
    # Figure 9: k-member < k-nearest neighbour < median partitioning.
    rng = np.random.default_rng(k)
    records = adult(reference_data, 3000).records
    partitions = (
        k_member_groups(records, k, rng),
        k_nearest_groups(records, k, rng),
        mondrian_regions(records, k, False, rng).groups,
    )
    losses = [information_loss(records, groups).sum() for groups in partitions]
    assert losses == sorted(losses)
    assert losses[0] < 0.95 * losses[1]
    assert losses[1] < 0.95 * losses[2]

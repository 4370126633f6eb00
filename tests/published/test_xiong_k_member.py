"""Xiong (CS573 slides): taxonomy distances, information loss IL(e), k-member clustering on Adult.

The trees are drawn in the slides, but not in their text: ours have the slides' leaves, the heights that they divide by,
and groups as in Byun et al. Figures 9 to 11 on Adult: on all 30,162 records and over k = 5 to 500 they are in
benchmarks/README.md; here the same holds on 3,000. Figure 12, seconds, is not checked.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks.clustering_adult import Figures, adult, measured
from sluice.ground.hierarchy import Hierarchy, taxonomy_of
from sluice.masking.microaggregation.clusters import domain_of, information_loss

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


@pytest.fixture(scope="module")
def figures(reference_data: Path) -> Callable[[str, int], Figures]:
    data = adult(reference_data, 3000)
    return cache(lambda method, k: measured(data, method, k))


@pytest.mark.parametrize("k", [5, 10])
def test_order_of_the_methods_on_adult(figures: Callable[[str, int], Figures], k: int) -> None:
    # Figure 9: k-member < k-nearest neighbour < median partitioning, whether or not it knows the hierarchies.
    losses = [figures(method, k).loss for method in ("k-member", "k-nearest", "Mondrian", "median, in order")]
    assert losses == sorted(losses)
    assert losses[0] < 0.95 * losses[1]
    assert losses[1] < 0.95 * losses[2]


def test_median_partitioning_loses_less_than_nearest_neighbours_where_k_is_large(
    figures: Callable[[str, int], Figures],
) -> None:
    # Figure 9 does not hold here: the last clusters of k-nearest neighbours are too far apart.
    assert figures("k-member", 200).loss < 0.9 * figures("Mondrian", 200).loss < 0.9 * figures("k-nearest", 200).loss


@pytest.mark.parametrize("k", [10, 200])
def test_discernibility_on_adult(figures: Callable[[str, int], Figures], k: int) -> None:
    # Figure 10: clusters of k cost n k, regions of k to 2k - 1 records and more a fifth more at least.
    assert figures("k-member", k).discernibility == pytest.approx(3000 * k, rel=0.01)
    assert figures("k-nearest", k).discernibility == pytest.approx(3000 * k, rel=0.01)
    assert figures("Mondrian", k).discernibility > 1.2 * 3000 * k


def test_classification_on_adult(figures: Callable[[str, int], Figures]) -> None:
    # Figure 11, from which the slides conclude that k-member is best: here it is so with a small k alone.
    assert figures("k-member", 5).classification < figures("k-nearest", 5).classification
    assert figures("k-member", 5).classification < figures("Mondrian", 5).classification
    assert figures("k-member", 200).classification > figures("Mondrian", 200).classification


def test_bottom_up_local_recoding_loses_less_than_k_member_where_k_is_large(
    figures: Callable[[str, int], Figures],
) -> None:
    # This program's own comparison (consistency).
    assert figures("bottom-up", 5).loss > figures("k-member", 5).loss
    assert figures("bottom-up", 50).loss < figures("k-member", 50).loss

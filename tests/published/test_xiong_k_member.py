"""Xiong (CS573 slides): taxonomy distances, information loss IL(e), k-member clustering on Adult.

The trees are drawn in the slides, but not in their text: ours have the slides' leaves, the heights that they divide by,
and groups as in Byun et al. The order of the methods on Adult is theirs (Figure 9); its seconds and its other two
metrics are not checked here.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sluice.generalization.hierarchy import Hierarchy
from sluice.generalization.taxonomy import taxonomy_of
from sluice.masking.microaggregation.k_member_clustering import Domain, domain, k_member_groups

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


def information_losses(records: Domain, groups: np.ndarray) -> np.ndarray:
    """IL(e) = |e| D(e) of each cluster: the width of its numbers, the weight of nodes not shared."""
    numbers, nodes = (pd.DataFrame(part).groupby(groups) for part in (records.numbers, records.nodes))
    widths = (numbers.max() - numbers.min()).sum(axis=1)
    return np.bincount(groups) * (widths + (nodes.max() > nodes.min()).to_numpy() @ records.weights).to_numpy()


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
    records = domain(table, [None, COUNTRY, OCCUPATION], [57 - 24, 1, 1])
    assert information_losses(records, np.array([0, 0, 0, 1, 1, 1])) == pytest.approx([6.5454545, 9], abs=1e-6)


KEYS = ["workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]


def adult(path: Path, count: int) -> tuple[Domain, np.ndarray]:
    """Age and seven categories with ARX's hierarchies; and the same as positions in the trees, for Mondrian."""
    frame = pd.read_csv(path / "adult" / "arx" / "adult.csv.gz", sep=";").sample(count, random_state=0)
    columns, trees = [frame["age"].to_numpy()], [None]
    for key in KEYS:
        lines = (path / "adult" / "hierarchies_arx" / f"adult_hierarchy_{key}.csv").read_text().splitlines()
        rows = {line.split(";")[0]: tuple(line.split(";")[1:]) for line in lines}
        categories = sorted(frame[key].unique())
        trees.append(taxonomy_of(categories, Hierarchy(rows=rows)))
        columns.append(np.array([categories.index(value) for value in frame[key]]))
    records = domain(
        np.column_stack(columns).astype(np.float64), trees, [float(np.ptp(columns[0]))] + [1.0] * len(KEYS)
    )
    leaves = [tree.nodes[column, 0] for tree, column in zip(trees[1:], columns[1:], strict=True) if tree is not None]
    return records, np.column_stack([columns[0], *leaves]).astype(np.float64)


def nearest_neighbours(records: Domain, k: int, rng: np.random.Generator) -> np.ndarray:
    """A record at random and its k - 1 nearest, as long as there are k; the last ones join the last cluster."""
    groups, left, number = np.zeros(len(records.numbers), dtype=np.int64), np.arange(len(records.numbers)), 0
    while len(left) >= k:
        here, at = records.of(left), rng.integers(len(left))
        distance = np.abs(here.numbers - here.numbers[at]).sum(axis=1) + (here.nodes != here.nodes[at]) @ here.weights
        nearest = np.argsort(distance, kind="stable")[:k]
        groups[left[nearest]] = number
        left, number = np.delete(left, nearest), number + 1
    groups[left] = number - 1
    return groups


def mondrian(values: np.ndarray, k: int) -> np.ndarray:
    """Halve at the median of the widest column while both halves hold k records."""
    groups, open_, number = np.zeros(len(values), dtype=np.int64), [np.arange(len(values))], 0
    spans = np.ptp(values, axis=0)
    while open_:
        rows = open_.pop()
        for column in np.argsort(-np.ptp(values[rows], axis=0) / spans, kind="stable"):
            below = values[rows, column] <= np.median(values[rows, column])
            if min(below.sum(), (~below).sum()) >= k:
                open_ += [rows[below], rows[~below]]
                break
        else:
            groups[rows] = number
            number += 1
    return groups


@pytest.mark.parametrize("k", [5, 10])
def test_order_of_the_methods_on_adult(reference_data: Path, k: int) -> None:
    # Figure 9: k-member < k-nearest neighbour < median partitioning, at every k.
    rng = np.random.default_rng(k)
    records, positions = adult(reference_data, 3000)
    losses = [
        information_losses(records, groups).sum()
        for groups in (k_member_groups(records, k, rng), nearest_neighbours(records, k, rng), mondrian(positions, k))
    ]
    assert losses == sorted(losses)
    assert losses[0] < 0.95 * losses[1]
    assert losses[1] < 0.95 * losses[2]

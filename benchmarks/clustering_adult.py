"""The methods of clustering on Adult over k = 5 to 500: information loss, discernibility, classification, seconds.

    python -m benchmarks clustering_adult
    python -m benchmarks.clustering_adult panels.png    # as four panels, too

Figures 9 to 12 of Xiong (CS573 slides) compare greedy k-member clustering with k-nearest neighbours and median
partitioning (Mondrian). The slides do not name their columns and trees: here they are age and seven categories of the
30,162 complete records, with the hierarchies of ARX, and the class is the salary. `median, in order` is Mondrian
without hierarchies, whose categories are cut in the order of their trees' leaves.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
import pandas as pd

from deployments.data import REFERENCE_DATA
from sluice.ground.arrays import IntArray
from sluice.ground.hierarchy import Hierarchy, Taxonomy, taxonomy_of
from sluice.masking.microaggregation.clustering import clusters_by
from sluice.masking.microaggregation.clusters import Domain, domain_of, information_loss
from sluice.masking.microaggregation.mondrian import mondrian_regions

KEYS = ["workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
SIZES = (5, 10, 25, 50, 100, 200, 300, 400, 500)
PANELS = ("information loss", "discernibility", "classification", "seconds")


class Adult(NamedTuple):
    records: Domain
    in_order: Domain  # categories by their place among the leaves, like numbers
    classes: IntArray


class Figures(NamedTuple):
    """What a partition costs, in the order of the panels."""

    loss: float  # the sum of IL(e)
    discernibility: float  # the sum of the squared sizes
    classification: float  # share of the records outside the majority of their cluster
    seconds: float  # of the processor


def adult(path: Path, count: int | None = None) -> Adult:
    """The records of ARX's file, or `count` of them at random."""
    frame = pd.read_csv(path / "adult" / "arx" / "adult.csv.gz", sep=";")
    if count is not None:
        frame = frame.sample(count, random_state=0)
    columns = [frame["age"].to_numpy(np.float64)]
    trees: list[Taxonomy | None] = [None]
    for key in KEYS:
        lines = (path / "adult" / "hierarchies_arx" / f"adult_hierarchy_{key}.csv").read_text().splitlines()
        rows = {line.split(";")[0]: tuple(line.split(";")[1:]) for line in lines}
        categories = sorted(frame[key].unique())
        trees.append(taxonomy_of(categories, Hierarchy(rows=rows)))
        columns.append(np.array([categories.index(value) for value in frame[key]], dtype=np.float64))
    table = np.column_stack(columns)
    leaves = [
        tree.nodes[column.astype(int), 0] for column, tree in zip(columns, trees, strict=True) if tree is not None
    ]
    places = np.column_stack([columns[0], *leaves])
    spans = [float(np.ptp(column)) for column in places.T]
    return Adult(
        records=domain_of(table, trees, spans),
        in_order=domain_of(places, [None] * len(spans), spans),
        classes=pd.factorize(frame["salary-class"], sort=True)[0],
    )


METHODS: dict[str, Callable[[Adult, int, np.random.Generator], IntArray]] = {
    "k-member": lambda data, k, rng: clusters_by("k_member", data.records, k, rng),
    "k-nearest": lambda data, k, rng: clusters_by("k_nearest", data.records, k, rng),
    "Mondrian": lambda data, k, rng: mondrian_regions(data.records, k, False, rng).groups,
    "median, in order": lambda data, k, rng: mondrian_regions(data.in_order, k, False, rng).groups,
    "bottom-up": lambda data, k, rng: clusters_by("bottom_up", data.records, k, rng),
    "one-pass k-means": lambda data, k, rng: clusters_by("one_pass", data.records, k, rng),
}


def measured(data: Adult, method: str, k: int) -> Figures:
    begun = process_time()
    groups = METHODS[method](data, k, np.random.default_rng(k))
    taken = process_time() - begun
    of_class = np.column_stack([np.bincount(groups, data.classes == each) for each in np.unique(data.classes)])
    sizes = np.bincount(groups)
    return Figures(
        loss=float(information_loss(data.records, groups).sum()),
        discernibility=float((sizes**2).sum()),
        classification=float(1 - of_class.max(axis=1).sum() / len(groups)),
        seconds=taken,
    )


def main(quick: bool = False, picture: str | None = None) -> None:
    data = adult(REFERENCE_DATA, 3000 if quick else None)
    small = adult(REFERENCE_DATA, 100)
    found: dict[str, list[Figures]] = {method: [] for method in METHODS}
    sizes = SIZES[:4] if quick else SIZES
    print(f"{'k':>4} {'method':<18} {'loss':>9} {'discernibility':>15} {'classification':>15} {'seconds':>8}")
    for method in METHODS:
        measured(small, method, 5)  # compiles
    for k in sizes:
        for method in METHODS:
            figures = measured(data, method, k)
            found[method].append(figures)
            print(
                f"{k:>4} {method:<18} {figures.loss:>9,.0f} {figures.discernibility:>15,.0f} "
                f"{figures.classification:>15.4f} {figures.seconds:>8.2f}",
                flush=True,
            )
    if picture is not None:
        draw(sizes, found, picture)


def draw(sizes: tuple[int, ...], found: dict[str, list[Figures]], path: str) -> None:
    """The four panels as a PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 8), layout="constrained")
    for at, (axes, title) in enumerate(zip(figure.subplots(2, 2).ravel(), PANELS, strict=True)):
        for method, line in found.items():
            axes.plot(sizes, [figures[at] for figures in line], marker="o", markersize=3, label=method)
        axes.set(title=title, xlabel="k", xscale="log")
        if title == "discernibility":
            axes.set(yscale="log")
        else:
            axes.set(ylim=(0, None))
        axes.grid(alpha=0.3)
    figure.axes[0].legend()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(picture=sys.argv[1] if len(sys.argv) > 1 else None)

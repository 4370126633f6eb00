"""Records as their information loss sees them: numbers by the size of their domain, categories in their taxonomy trees.

Source: Xiong (CS573 slides), "Distance between two categorical values" and "Cost Function - Information loss (IL)":
IL(e) = |e| D(e). Differs from it: ordinal variables without a hierarchy are measured by position, like numbers.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.taxonomy import Taxonomy


class Domain(NamedTuple):
    numbers: FloatArray  # shape (n, p), each column divided by the size of its domain
    nodes: IntArray  # shape (n, q), for each level of each taxonomy tree the node that holds the record
    heights: IntArray  # shape (trees,), the number of levels of each tree, q in all

    @property
    def weights(self) -> FloatArray:
        """What a level loses where a cluster does not share its node, one part in the tree's height, shape (q,)."""
        return np.repeat(1 / self.heights, self.heights)

    def of(self, rows: IntArray) -> "Domain":
        return self._replace(numbers=self.numbers[rows], nodes=self.nodes[rows])


def domain_of(records: FloatArray, trees: Sequence[Taxonomy | None], ranges: Sequence[float]) -> Domain:
    """Numbers divided by the size of their domain, and the nodes of the taxonomy trees.

    records : shape (n, d), finite; a category by its position
    trees   : d trees, None for a number
    ranges  : d sizes of domains, more than 0; that of a tree is not used
    """
    columns = list(zip(records.T, trees, ranges, strict=True))
    empty = np.empty((len(records), 0))
    held = [tree.nodes[values.astype(np.int64)] for values, tree, _ in columns if tree is not None]
    return Domain(
        numbers=np.column_stack([empty, *(values / size for values, tree, size in columns if tree is None)]),
        nodes=np.hstack([empty.astype(np.int64), *held]),
        heights=np.array([tree.height for tree in trees if tree is not None], dtype=np.int64),
    )


def information_loss(records: Domain, groups: IntArray) -> FloatArray:
    """IL(e) = |e| D(e) of each cluster: its size, times the widths of its numbers and the heights of its categories.

    groups  : shape (n,), numbered from 0 without a gap
    returns : shape (clusters,), each at least 0 and at most the cluster's size times the number of columns
    cost    : O(n (p + q)) and a sort
    """
    low, high = ends(records.numbers, groups)
    first, last = ends(records.nodes, groups)
    lost: FloatArray = (high - low).sum(axis=1) + (first != last) @ records.weights
    return np.bincount(groups) * lost


def ends(values: npt.NDArray[Any], groups: IntArray) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Smallest and largest value of each group, by column.

    values : shape (n,) or (n, d)
    groups : shape (n,), numbered from 0 without a gap
    """
    order = np.argsort(groups, kind="stable")
    counts = np.bincount(groups)
    starts = np.cumsum(counts) - counts
    return np.minimum.reduceat(values[order], starts), np.maximum.reduceat(values[order], starts)

"""A cluster of records: what it loses by being released as one, and the text that then stands for its values.

Source: Xiong (CS573 slides), "Distance between two categorical values" and "Cost Function - Information loss (IL)":
IL(e) = |e| D(e), and the records of a cluster share one value that represents every value in it. Differs from it:
ordinal variables without a hierarchy are measured by position, like numbers. Regions: LeFevre, DeWitt and Ramakrishnan
(2006), a strict partition, whose regions cover every record that there could be and do not overlap. That a cut is
published as a round number is ours: the median is somebody's value.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.generalization.builders.number_groups import interval_label
from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.hierarchy import Taxonomy
from sluice.ground.variables import as_label

EVERYTHING = "*"


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


def generalised_values(
    values: FloatArray, groups: IntArray, column: pd.Series, tree: Taxonomy | None
) -> npt.NDArray[np.object_]:
    """'20 to 29', of categories with a tree the lowest node that holds all of the cluster, shape (n,).

    values : shape (n,), finite; a category by its position
    groups : shape (n,), numbered from 0 without a gap
    column : where the categories have their names
    tree   : None for numbers, and for ordinal categories that are measured like numbers
    cost   : O(n log n)
    """
    lows, highs = ends(values, groups)
    if tree is not None:
        leaves = lows.astype(np.int64)
        first, last = ends(tree.nodes[values.astype(np.int64)], groups)
        levels = (first != last).sum(axis=1)
        texts = [tree.names[level][leaf] for level, leaf in zip(levels, leaves, strict=True)]
    else:
        names = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else None
        low, high = ([as_label(end) if names is None else names[int(end)] for end in each] for each in (lows, highs))
        texts = [one if one == other else f"{one} to {other}" for one, other in zip(low, high, strict=True)]
    return np.array(texts, dtype=object)[groups]


class Regions(NamedTuple):
    """Clusters and the cuts that bound them; a cut is one number, whatever clusters lie on its sides."""

    groups: IntArray  # shape (n,), the cluster of each record, numbered from 0 without a gap
    low: IntArray  # shape (clusters, p), the cut below each in each column of numbers; -1: none
    high: IntArray  # shape (clusters, p), the cut above
    below: IntArray  # shape (cuts,), the record with the largest value below each cut
    above: IntArray  # shape (cuts,), the record with the smallest value above it, which is in


def region_names(regions: Regions, column: int, values: FloatArray, like: pd.Series) -> npt.NDArray[np.object_]:
    """'under 20', '20 to 34' (of fractions '20 to under 35'), '35 and over', or '*' without a cut, shape (n,).

    column : which column of numbers it is
    values : shape (n,), of the records; ordinal categories by their position
    like   : the column as it was, which tells fractions, whole numbers and the names of categories apart
    """
    pairs, pair = np.unique(
        np.column_stack([regions.low[:, column], regions.high[:, column]]), axis=0, return_inverse=True
    )
    low, high = pairs.T  # many regions lie between the same cuts
    if isinstance(like.dtype, pd.CategoricalDtype):
        names = list(like.cat.categories)
        cuts = np.append(values[regions.above], np.nan)
        first = np.where(low < 0, 0, cuts[low]).astype(np.int64)
        last = np.where(high < 0, len(names), cuts[high]).astype(np.int64) - 1
        texts = [names[a] if a == b else f"{names[a]} to {names[b]}" for a, b in zip(first, last, strict=True)]
    else:
        whole = pd.api.types.is_integer_dtype(like.dtype)
        cuts = np.append(roundest(values[regions.below], values[regions.above]), np.nan)
        bounds = zip(np.where(low < 0, -np.inf, cuts[low]), np.where(high < 0, np.inf, cuts[high]), strict=True)
        texts = [
            EVERYTHING if least == -np.inf and most == np.inf else interval_label(least, most, whole)
            for least, most in bounds
        ]
    return np.array(texts, dtype=object)[pair.ravel()][regions.groups]


def roundest(below: FloatArray, above: FloatArray) -> FloatArray:
    """A number more than `below` and at most `above` with few digits; whole numbers between whole numbers.

    below, above : shape (n,), finite, below < above
    """
    with np.errstate(all="ignore"):
        exponents = np.floor(np.log10(above - below))
        found = above.copy()
        for exponent in (exponents, exponents + 1):  # a multiple of the first lies in the gap, one of the next may
            digits = np.where(exponent < 0, 10.0**-exponent, 1.0)
            steps = np.where(exponent < 0, 1.0, 10.0**exponent)
            multiple = np.floor(above * digits / steps) * steps / digits
            found = np.where((multiple > below) & (multiple <= above), multiple, found)
    return found

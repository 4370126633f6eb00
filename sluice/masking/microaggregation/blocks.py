"""Blocks: a large file cut into parts of similar records, so that a method whose time grows with n^2 sees only parts.

Source: Xiong (CS573 slides), "Microaggregation/Clustering" (the partition may be any that keeps similar records
together). The cut by a projection is ours: records in the order of their first principal component, cut at equal
counts. A record on an edge cannot be grouped with its nearest neighbour beyond it, which costs some information; the
benchmarks state how much.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.masking.microaggregation.representatives import NUMBER, Scale


def first_principal_component(records: FloatArray, scales: Sequence[Scale] | None = None) -> FloatArray:
    """Each record's score on the direction of largest variance, its sign fixed by the largest loading.

    Categories get the coordinates whose Euclidean distance is that of MDAV-generic: an ordinal position as a share of
    the categories, a nominal column as one indicator of 0 or 1 / sqrt(2) for each category.

    records : shape (n, d), finite
    scales  : one for each column. None: all are numbers
    returns : shape (n,), up to a constant
    cost    : O(n d^2 + c^3) with c categories of nominal columns in all, O(n d) memory
    """
    scales = scales or [NUMBER] * records.shape[1]
    nominal = np.array([scale.kind == "nominal" for scale in scales])
    coordinates: Any = records / [scale.categories if scale.kind == "ordinal" else 1 for scale in scales]
    coordinates -= coordinates.mean(axis=0)
    if nominal.any():
        from scipy.sparse import csr_array

        n, d = records.shape
        widths = np.array([scale.categories if scale.kind == "nominal" else 1 for scale in scales])
        coordinates[:, nominal] = np.sqrt(0.5)
        places = (np.where(nominal, records, 0) + (np.cumsum(widths) - widths)).astype(np.int32)
        begins = np.arange(0, n * d + 1, d)  # each record has d entries, whatever the number of categories
        coordinates = csr_array((coordinates.ravel(), places.ravel(), begins), shape=(n, widths.sum()))
        means = coordinates.mean(axis=0)
        scatter = (coordinates.T @ coordinates).toarray() - n * np.outer(means, means)
    else:
        scatter = coordinates.T @ coordinates
    _, axes = np.linalg.eigh(scatter)
    axis = axes[:, -1]
    scores: FloatArray = coordinates @ (axis * np.sign(axis[np.argmax(np.abs(axis))]))
    return scores


def blocks_of(projection: FloatArray, size: int) -> list[IntArray]:
    """The records in rising order of `projection`, cut into blocks of at least `size`, less than twice that.

    projection : shape (n,), finite; of equal values the record that comes first
    returns    : arrays of record numbers, each in rising order; one block if n < 2 size
    """
    order = np.argsort(projection, kind="stable")
    return [np.sort(part) for part in np.array_split(order, max(1, len(order) // size))]


def partition_by_blocks(count: int, blocks: Sequence[IntArray], partition: Callable[[IntArray], IntArray]) -> IntArray:
    """One partition of all records from those of the blocks. Shape (count,), groups numbered from 0 without a gap.

    partition : record numbers of a block -> their groups, numbered from 0 without a gap
    """
    groups, begin = np.empty(count, dtype=np.int64), 0
    for block in blocks:
        found = partition(block)
        groups[block] = found + begin
        begin += int(found.max()) + 1
    return groups

"""The loops of greedy k-member clustering: who is farthest, and who costs a cluster least.

A record is p numbers, each divided by its range, and q nodes of taxonomy trees, each with the weight of a level (one
part in the height of its tree). A cluster is then the box around its numbers and the nodes that all of it share: it
loses the widths of the box and the weights of the nodes that are not shared. Columns are looked at one after the other
for a run of records at a time, which the compiler turns into vector instructions: five times as fast as record by
record.
"""

import numba
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_RUN = 256  # records whose costs stay in the processor's nearest memory
_NOT_SHARED = -1  # in the place of a node


@numba.njit(cache=True)
def cluster(numbers: FloatArray, nodes: IntArray, weights: FloatArray, k: int) -> IntArray:
    """Cluster of each record, numbered from 0; see `k_member_clustering.k_member_groups`.

    numbers : shape (p, n), n >= k; a column of the file is a row here
    nodes   : shape (q, n), at least 0
    weights : shape (q,)
    """
    p, q, n = len(numbers), len(nodes), numbers.shape[1]
    labels = np.full(n, -1, dtype=np.int64)
    numbers, nodes = numbers.copy(), nodes.copy()  # the records left stand first
    left, who = n, np.arange(n)
    clusters = n // k
    low, high = np.empty((clusters, p)), np.empty((clusters, p))
    shared = np.empty((clusters, q), dtype=np.int64)
    losses, sizes = np.zeros(clusters), np.full(clusters, k)
    costs = np.empty(_RUN)
    numbers_before, nodes_before = numbers[:, 0].copy(), nodes[:, 0].copy()
    for c in range(clusters):
        row = _farthest(numbers_before, nodes_before, numbers, nodes, weights, left, costs)
        numbers_before[:], nodes_before[:] = numbers[:, row], nodes[:, row]
        low[c], high[c], shared[c] = numbers_before, numbers_before, nodes_before
        for size in range(k):
            if size > 0:
                row, cost = _cheapest(low[c], high[c], shared[c], numbers, nodes, weights, left, costs)
                losses[c] += cost
                _extend(low[c], high[c], shared[c], numbers[:, row], nodes[:, row])
            labels[who[row]] = c
            left -= 1
            numbers[:, row], nodes[:, row], who[row] = numbers[:, left], nodes[:, left], who[left]
    for row in range(left):
        best, least, wider = 0, np.inf, 0.0
        for c in range(clusters):
            _costs(low[c], high[c], shared[c], numbers, nodes, weights, row, 1, costs)
            increase = losses[c] + (sizes[c] + 1) * costs[0]
            if increase < least:
                best, least, wider = c, increase, costs[0]
        losses[best] += wider
        sizes[best] += 1
        _extend(low[best], high[best], shared[best], numbers[:, row], nodes[:, row])
        labels[who[row]] = best
    return labels


@numba.njit(cache=True)
def _farthest(
    its_numbers: FloatArray,
    its_nodes: IntArray,
    numbers: FloatArray,
    nodes: IntArray,
    weights: FloatArray,
    left: int,
    costs: FloatArray,
) -> int:
    """The record left that is farthest from one record."""
    found, largest = 0, -1.0
    for start in range(0, left, _RUN):
        count = min(_RUN, left - start)
        _costs(its_numbers, its_numbers, its_nodes, numbers, nodes, weights, start, count, costs)
        for i in range(count):
            if costs[i] > largest:
                found, largest = start + i, costs[i]
    return found


@numba.njit(cache=True)
def _cheapest(
    low: FloatArray,
    high: FloatArray,
    shared: IntArray,
    numbers: FloatArray,
    nodes: IntArray,
    weights: FloatArray,
    left: int,
    costs: FloatArray,
) -> tuple[int, float]:
    """The record left that costs the cluster least, and how much."""
    found, least = 0, np.inf
    for start in range(0, left, _RUN):
        count = min(_RUN, left - start)
        _costs(low, high, shared, numbers, nodes, weights, start, count, costs)
        for i in range(count):
            if costs[i] < least:
                found, least = start + i, costs[i]
        if least == 0.0:
            break
    return found, least


@numba.njit(cache=True)
def _costs(
    low: FloatArray,
    high: FloatArray,
    shared: IntArray,
    numbers: FloatArray,
    nodes: IntArray,
    weights: FloatArray,
    start: int,
    count: int,
    costs: FloatArray,
) -> None:
    """What each of the records start .. start + count - 1 would add to the cluster's loss per record."""
    costs[:count] = 0.0
    for j in range(len(low)):
        lowest, highest, column = low[j], high[j], numbers[j]
        for i in range(count):
            below, above = lowest - column[start + i], column[start + i] - highest
            outside = below if below > above else above
            costs[i] += outside if outside > 0.0 else 0.0
    for j in range(len(shared)):
        if shared[j] != _NOT_SHARED:
            node, weight, level = shared[j], weights[j], nodes[j]
            for i in range(count):
                costs[i] += weight if level[start + i] != node else 0.0


@numba.njit(cache=True)
def _extend(low: FloatArray, high: FloatArray, shared: IntArray, numbers: FloatArray, nodes: IntArray) -> None:
    """Take a record into a cluster."""
    for j in range(len(low)):
        low[j], high[j] = min(low[j], numbers[j]), max(high[j], numbers[j])
    for j in range(len(shared)):
        if shared[j] != nodes[j]:
            shared[j] = _NOT_SHARED

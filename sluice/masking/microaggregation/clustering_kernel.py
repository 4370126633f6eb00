"""The loops of clustering: records into clusters, one by one or cluster by cluster, each where it costs least.

A record is p numbers, each divided by its range, and q nodes of taxonomy trees, each with the weight of a level (one
part in the height of its tree). A cluster is then the box around its numbers and the nodes that all of it share: it
loses the widths of the box and the weights of the nodes that are not shared. Columns are looked at one after the other
for a run of records at a time, which the compiler turns into vector instructions: five times as fast as record by
record.

Records and clusters are columns of arrays with p and q rows, and are named by their column. All methods are in one
file: Numba's cache of a function does not notice that one it calls changed in another.
"""

import numba
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_RUN = 256  # records whose costs stay in the processor's nearest memory
_NOT_SHARED = -1  # in the place of a node


@numba.njit(cache=True)
def k_member(numbers: FloatArray, nodes: IntArray, weights: FloatArray, k: int) -> IntArray:
    """Cluster of each record, numbered from 0; k to 2k - 1 records each.

    While k records are left, the one farthest from the first of the last cluster (at first: from the first record)
    begins a cluster, and k - 1 times the record joins that adds least to its loss. Each record then left, in order,
    joins the cluster to whose loss it adds least.

    numbers : shape (p, n), n >= k; a column of the file is a row here
    nodes   : shape (q, n), at least 0
    weights : shape (q,)
    """
    p, q, n = len(numbers), len(nodes), numbers.shape[1]
    labels = np.full(n, -1)
    free_numbers, free_nodes = numbers.copy(), nodes.copy()  # the records left stand first
    left, who = n, np.arange(n)
    clusters = n // k
    low, high, shared = np.empty((p, clusters)), np.empty((p, clusters)), np.empty((q, clusters), dtype=np.int64)
    losses, costs = np.zeros(clusters), np.empty(_RUN)
    seed = 0
    for c in range(clusters):
        row = _farthest(numbers, nodes, seed, free_numbers, free_nodes, weights, left, costs)
        seed = who[row]
        losses[c] = _grow(low, high, shared, c, row, free_numbers, free_nodes, weights, who, left, k, costs)
        left -= k
        for at in range(left, left + k):
            labels[who[at]] = c
    _join_the_rest(labels, low, high, shared, losses, numbers, nodes, weights, who, left, k)
    return labels


@numba.njit(cache=True)
def k_nearest(numbers: FloatArray, nodes: IntArray, weights: FloatArray, k: int) -> IntArray:
    """Cluster of each record, numbered from 0; k to 2k - 1 records each. Arguments as `k_member`.

    While k records are left, the first of them and the k - 1 nearest to it are a cluster. Each record then left, in
    order, joins the cluster to whose loss it adds least.
    """
    p, q, n = len(numbers), len(nodes), numbers.shape[1]
    labels = np.full(n, -1)
    free_numbers, free_nodes = numbers.copy(), nodes.copy()
    left, who = n, np.arange(n)
    clusters = n // k
    low, high, shared = np.empty((p, clusters)), np.empty((p, clusters)), np.empty((q, clusters), dtype=np.int64)
    losses, costs = np.zeros(clusters), np.empty(_RUN)
    nearest, reached = np.empty(k, dtype=np.int64), np.empty(k)
    for c in range(clusters):
        seed, found = who[0], 0
        _set(low, high, shared, c, numbers, nodes, seed)
        for start in range(0, left, _RUN):
            count = min(_RUN, left - start)
            _costs(numbers, numbers, nodes, seed, free_numbers, free_nodes, weights, start, count, costs)
            for i in range(count):
                if found == k and costs[i] >= reached[k - 1]:
                    continue
                found = min(found + 1, k)
                place = found - 1
                while place > 0 and costs[i] < reached[place - 1]:
                    reached[place], nearest[place] = reached[place - 1], nearest[place - 1]
                    place -= 1
                reached[place], nearest[place] = costs[i], start + i
        nearest.sort()
        for at in range(k - 1, -1, -1):
            row = nearest[at]
            labels[who[row]] = c
            _extend(low, high, shared, c, free_numbers, free_nodes, row)
            left -= 1
            _take(free_numbers, free_nodes, who, row, left)
        losses[c] = _loss(low, high, shared, c, weights)
    _join_the_rest(labels, low, high, shared, losses, numbers, nodes, weights, who, left, k)
    return labels


@numba.njit(cache=True)
def one_pass(numbers: FloatArray, nodes: IntArray, weights: FloatArray, k: int) -> IntArray:
    """Cluster of each record, numbered from 0; at least k records each. Arguments as `k_member`.

    The first n // k records begin as many clusters. Each other record joins the cluster nearest to it: the distance is
    from the mean of its numbers and to the lowest node that holds its categories, both of those that have joined so
    far. Clusters of more than k then give up those farthest from that centre; each of these goes to the nearest cluster
    of fewer than k, and when there is none to the nearest of all.
    """
    n = numbers.shape[1]
    clusters = n // k
    labels = np.full(n, -1)
    sizes, costs = np.zeros(clusters, dtype=np.int64), np.empty(_RUN)
    centres, shared = np.zeros((len(numbers), clusters)), np.empty((len(nodes), clusters), dtype=np.int64)
    for row in range(n):
        best = row
        if row >= clusters:
            best, _ = _cheapest(numbers, numbers, nodes, row, centres, shared, weights, clusters, costs)
        _move_centre(centres, shared, sizes, best, numbers, nodes, row)
        labels[row] = best
    apart = np.empty(n)  # how far each record is from the centre of its cluster
    for row in range(n):
        _costs(numbers, numbers, nodes, row, centres, shared, weights, labels[row], 1, costs)
        apart[row] = -costs[0]
    for row in np.argsort(apart, kind="mergesort"):
        if sizes[labels[row]] > k:
            sizes[labels[row]] -= 1
            labels[row] = -1
    sizes[:] = 0
    for row in range(n):
        if labels[row] >= 0:
            _move_centre(centres, shared, sizes, labels[row], numbers, nodes, row)
    small, lacking = np.arange(clusters), clusters
    small_centres, small_shared = centres.copy(), shared.copy()
    for c in range(clusters - 1, -1, -1):
        if sizes[c] == k:
            lacking -= 1
            _take(small_centres, small_shared, small, c, lacking)
    for row in range(n):
        if labels[row] >= 0:
            continue
        if lacking > 0:
            at, _ = _cheapest(numbers, numbers, nodes, row, small_centres, small_shared, weights, lacking, costs)
            best = small[at]
            sizes[best] += 1
            if sizes[best] == k:
                lacking -= 1
                _take(small_centres, small_shared, small, at, lacking)
        else:
            best, _ = _cheapest(numbers, numbers, nodes, row, centres, shared, weights, clusters, costs)
        labels[row] = best
    return labels


@numba.njit(cache=True)
def bottom_up(numbers: FloatArray, nodes: IntArray, weights: FloatArray, k: int) -> IntArray:
    """Cluster of each record, numbered from 0; k to 2k - 1 records each. Arguments as `k_member`.

    Each record begins as a cluster. In rounds, each cluster of fewer than k records is merged with the other one by
    which least information is lost; where that makes 2k records or more, the one farthest from another and k - 1 more,
    each of which adds least to the loss, become a cluster again, and the rest another.
    """
    n = numbers.shape[1]
    low, high, shared = numbers.copy(), numbers.copy(), nodes.copy()
    sizes, losses, costs = np.ones(n, dtype=np.int64), np.zeros(n), np.empty(n)
    first, last, after = np.arange(n), np.arange(n), np.full(n, -1)  # the members of each cluster, as a list
    count, small = n, n
    while small > 0:
        i = 0
        while i < count:
            if sizes[i] >= k:
                i += 1
                continue
            j = _best_partner(i, low, high, shared, sizes, losses, weights, count, costs)
            keep, gone = min(i, j), max(i, j)
            after[last[keep]], last[keep] = first[gone], last[gone]
            sizes[keep] += sizes[gone]
            _extend(low, high, shared, keep, low, shared, gone)
            _extend(low, high, shared, keep, high, shared, gone)
            count -= 1
            for array in (low, high):
                for column in range(len(array)):
                    array[column, gone] = array[column, count]
            for column in range(len(shared)):
                shared[column, gone] = shared[column, count]
            sizes[gone], first[gone], last[gone], losses[gone] = sizes[count], first[count], last[count], losses[count]
            losses[keep] = _loss(low, high, shared, keep, weights)
            if sizes[keep] >= 2 * k:
                _part(keep, count, low, high, shared, sizes, losses, first, last, after, numbers, nodes, weights, k)
                count += 1
            i += j > i  # else the last cluster came to this place
        small = 0
        for c in range(count):
            small += sizes[c] < k
    labels = np.empty(n, dtype=np.int64)
    for c in range(count):
        row = first[c]
        while row >= 0:
            labels[row] = c
            row = after[row]
    return labels


@numba.njit(cache=True)
def _best_partner(
    i: int,
    low: FloatArray,
    high: FloatArray,
    shared: IntArray,
    sizes: IntArray,
    losses: FloatArray,
    weights: FloatArray,
    count: int,
    costs: FloatArray,
) -> int:
    """The other cluster that, together with cluster i, loses least more than it does alone."""
    costs[:count] = 0.0
    for j in range(len(low)):
        lowest, highest, lows, highs = low[j, i], high[j, i], low[j], high[j]
        for c in range(count):
            costs[c] += max(highest, highs[c]) - min(lowest, lows[c])
    for j in range(len(shared)):
        node, weight, level = shared[j, i], weights[j], shared[j]
        for c in range(count):
            costs[c] += weight if node == _NOT_SHARED or level[c] != node else 0.0
    found, least = -1, np.inf
    for c in range(count):
        more = costs[c] * (sizes[c] + sizes[i]) - losses[c] * sizes[c]
        if more < least and c != i:
            found, least = c, more
    return found


@numba.njit(cache=True)
def _part(
    c: int,
    other: int,
    low: FloatArray,
    high: FloatArray,
    shared: IntArray,
    sizes: IntArray,
    losses: FloatArray,
    first: IntArray,
    last: IntArray,
    after: IntArray,
    numbers: FloatArray,
    nodes: IntArray,
    weights: FloatArray,
    k: int,
) -> None:
    """Part cluster c into one of k, grown around the record farthest from its first, and the others."""
    size, seed, row = sizes[c], first[c], first[c]
    who, costs = np.empty(size, dtype=np.int64), np.empty(_RUN)
    its_numbers, its_nodes = np.empty((len(numbers), size)), np.empty((len(nodes), size), dtype=np.int64)
    for at in range(size):
        who[at] = row
        for j in range(len(numbers)):
            its_numbers[j, at] = numbers[j, row]
        for j in range(len(nodes)):
            its_nodes[j, at] = nodes[j, row]
        row = after[row]
    farthest = _farthest(numbers, nodes, seed, its_numbers, its_nodes, weights, size, costs)
    _grow(low, high, shared, other, farthest, its_numbers, its_nodes, weights, who, size, k, costs)
    for place, begin, end in ((c, 0, size - k), (other, size - k, size)):
        first[place], last[place], sizes[place] = who[begin], who[end - 1], end - begin
        _set(low, high, shared, place, numbers, nodes, who[begin])
        for at in range(begin, end):
            after[who[at]] = who[at + 1] if at + 1 < end else -1
            _extend(low, high, shared, place, numbers, nodes, who[at])
        losses[place] = _loss(low, high, shared, place, weights)


@numba.njit(cache=True)
def _grow(
    low: FloatArray,
    high: FloatArray,
    shared: IntArray,
    c: int,
    row: int,
    numbers: FloatArray,
    nodes: IntArray,
    weights: FloatArray,
    who: IntArray,
    left: int,
    k: int,
    costs: FloatArray,
) -> float:
    """Form cluster c of k records around one, of those left; they are then the last. Returns its loss per record."""
    loss = 0.0
    _set(low, high, shared, c, numbers, nodes, row)
    for size in range(k):
        if size > 0:
            row, cost = _cheapest(low, high, shared, c, numbers, nodes, weights, left, costs)
            loss += cost
            _extend(low, high, shared, c, numbers, nodes, row)
        left -= 1
        _take(numbers, nodes, who, row, left)
    return loss


@numba.njit(cache=True)
def _take(numbers: FloatArray, nodes: IntArray, who: IntArray, row: int, left: int) -> None:
    """Take a record out: the last of those left comes in its place."""
    for j in range(len(numbers)):
        numbers[j, row] = numbers[j, left]
    for j in range(len(nodes)):
        nodes[j, row] = nodes[j, left]
    who[row], who[left] = who[left], who[row]


@numba.njit(cache=True)
def _join_the_rest(
    labels: IntArray,
    low: FloatArray,
    high: FloatArray,
    shared: IntArray,
    losses: FloatArray,
    numbers: FloatArray,
    nodes: IntArray,
    weights: FloatArray,
    who: IntArray,
    left: int,
    k: int,
) -> None:
    """Each of the records left joins the cluster, of k so far, to whose loss it adds least."""
    sizes, costs = np.full(len(losses), k), np.empty(1)
    for row in who[:left]:
        best, least, wider = 0, np.inf, 0.0
        for c in range(len(losses)):
            _costs(low, high, shared, c, numbers, nodes, weights, row, 1, costs)
            increase = losses[c] + (sizes[c] + 1) * costs[0]
            if increase < least:
                best, least, wider = c, increase, costs[0]
        losses[best] += wider
        sizes[best] += 1
        _extend(low, high, shared, best, numbers, nodes, row)
        labels[row] = best


@numba.njit(cache=True)
def _farthest(
    its_numbers: FloatArray,
    its_nodes: IntArray,
    record: int,
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
        _costs(its_numbers, its_numbers, its_nodes, record, numbers, nodes, weights, start, count, costs)
        for i in range(count):
            if costs[i] > largest:
                found, largest = start + i, costs[i]
    return found


@numba.njit(cache=True)
def _cheapest(
    low: FloatArray,
    high: FloatArray,
    shared: IntArray,
    c: int,
    numbers: FloatArray,
    nodes: IntArray,
    weights: FloatArray,
    left: int,
    costs: FloatArray,
) -> tuple[int, float]:
    """The record left that costs cluster c least, and how much."""
    found, least = 0, np.inf
    for start in range(0, left, _RUN):
        count = min(_RUN, left - start)
        _costs(low, high, shared, c, numbers, nodes, weights, start, count, costs)
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
    c: int,
    numbers: FloatArray,
    nodes: IntArray,
    weights: FloatArray,
    start: int,
    count: int,
    costs: FloatArray,
) -> None:
    """What each of the records start .. start + count - 1 would add to the loss of cluster c per record."""
    costs[:count] = 0.0
    for j in range(len(low)):
        lowest, highest, column = low[j, c], high[j, c], numbers[j]
        for i in range(count):
            below, above = lowest - column[start + i], column[start + i] - highest
            outside = below if below > above else above
            costs[i] += outside if outside > 0.0 else 0.0
    for j in range(len(shared)):
        if shared[j, c] != _NOT_SHARED:
            node, weight, level = shared[j, c], weights[j], nodes[j]
            for i in range(count):
                costs[i] += weight if level[start + i] != node else 0.0


@numba.njit(cache=True)
def _set(
    low: FloatArray, high: FloatArray, shared: IntArray, c: int, numbers: FloatArray, nodes: IntArray, row: int
) -> None:
    """Make one record the cluster."""
    for j in range(len(low)):
        low[j, c] = high[j, c] = numbers[j, row]
    for j in range(len(shared)):
        shared[j, c] = nodes[j, row]


@numba.njit(cache=True)
def _extend(
    low: FloatArray, high: FloatArray, shared: IntArray, c: int, numbers: FloatArray, nodes: IntArray, row: int
) -> None:
    """Take a record into a cluster."""
    for j in range(len(low)):
        low[j, c], high[j, c] = min(low[j, c], numbers[j, row]), max(high[j, c], numbers[j, row])
    for j in range(len(shared)):
        if shared[j, c] != nodes[j, row]:
            shared[j, c] = _NOT_SHARED


@numba.njit(cache=True)
def _move_centre(
    centres: FloatArray, shared: IntArray, sizes: IntArray, c: int, numbers: FloatArray, nodes: IntArray, row: int
) -> None:
    """Take a record into a cluster that is known by its centre."""
    sizes[c] += 1
    for j in range(len(centres)):
        centres[j, c] += (numbers[j, row] - centres[j, c]) / sizes[c]
    for j in range(len(shared)):
        if sizes[c] == 1:
            shared[j, c] = nodes[j, row]
        elif shared[j, c] != nodes[j, row]:
            shared[j, c] = _NOT_SHARED


@numba.njit(cache=True)
def _loss(low: FloatArray, high: FloatArray, shared: IntArray, c: int, weights: FloatArray) -> float:
    """What a cluster loses per record."""
    loss = 0.0
    for j in range(len(low)):
        loss += high[j, c] - low[j, c]
    for j in range(len(shared)):
        if shared[j, c] == _NOT_SHARED:
            loss += weights[j]
    return loss

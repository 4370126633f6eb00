"""The loops of group exchange: moves and swaps of records, and groups that are dissolved or parted."""

import numba
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@numba.njit(cache=True)
def exchange(records: FloatArray, groups: IntArray, nearest: IntArray, k: int, least: float) -> IntArray:
    """The group of each record, numbered with gaps; see `microaggregation.exchanged_groups`.

    records : shape (n, d)
    groups  : shape (n,), k to 2k - 1 records each
    nearest : shape (n, c), groups that each record may go to
    least   : what a change must gain
    """
    n, d = records.shape
    labels, most = groups.copy(), n // k
    members, sizes, sums = np.empty((most, 2 * k), dtype=np.int64), np.zeros(most, dtype=np.int64), np.zeros((most, d))
    for record in range(n):
        _add(records, record, labels[record], labels, members, sizes, sums)
    changed = True
    while changed:
        changed = False
        for record in range(n):
            changed |= _exchange_one(records, record, nearest, k, least, labels, members, sizes, sums)
        for group in range(most):
            if sizes[group] > 0:
                changed |= _dissolve(records, group, nearest, k, least, labels, members, sizes, sums)
    return labels


@numba.njit(cache=True)
def _exchange_one(
    records: FloatArray,
    record: int,
    nearest: IntArray,
    k: int,
    least: float,
    labels: IntArray,
    members: IntArray,
    sizes: IntArray,
    sums: FloatArray,
) -> bool:
    """Move or swap a record where that gains most; whether it was done.

    Swapping x of group A with y of B, v = y - x, changes the squared errors by 2 v (m_B - m_A) - |v|^2 (1 / a + 1 / b).
    """
    own = labels[record]
    gain, to, partner = least, -1, -1
    leaving = _squared_distance(records, record, sums, own, sizes) * sizes[own] / max(sizes[own] - 1, 1)
    for other in nearest[record]:
        if other == own or sizes[other] == 0:
            continue
        if sizes[own] > k:
            arriving = _squared_distance(records, record, sums, other, sizes) * sizes[other] / (sizes[other] + 1)
            if leaving - arriving > gain:
                gain, to, partner = leaving - arriving, other, -1
        weight = 1 / sizes[own] + 1 / sizes[other]
        for at in range(sizes[other]):
            swapped, change = members[other, at], 0.0
            for j in range(records.shape[1]):
                v = records[swapped, j] - records[record, j]
                change += v * (2 * (sums[other, j] / sizes[other] - sums[own, j] / sizes[own]) - v * weight)
            if -change > gain:
                gain, to, partner = -change, other, swapped
    if to < 0:
        return False
    _remove(records, record, labels, members, sizes, sums)
    if partner >= 0:
        _remove(records, partner, labels, members, sizes, sums)
        _add(records, partner, own, labels, members, sizes, sums)
    _add(records, record, to, labels, members, sizes, sums)
    if sizes[to] == 2 * k:
        _part(records, to, k, labels, members, sizes, sums)
    return True


@numba.njit(cache=True)
def _dissolve(
    records: FloatArray,
    group: int,
    nearest: IntArray,
    k: int,
    least: float,
    labels: IntArray,
    members: IntArray,
    sizes: IntArray,
    sums: FloatArray,
) -> bool:
    """Send each record of a group to another one of fewer than 2k - 1, if all of that gains; whether it was done."""
    errors, size = 0.0, sizes[group]
    leaving = members[group, :size].copy()
    for record in leaving:
        errors += _squared_distance(records, record, sums, group, sizes)
    spent, sent = 0.0, 0
    for record in leaving:
        cheapest, to = np.inf, -1
        for other in nearest[record]:
            if other != group and 0 < sizes[other] < 2 * k - 1:
                cost = _squared_distance(records, record, sums, other, sizes) * sizes[other] / (sizes[other] + 1)
                if cost < cheapest:
                    cheapest, to = cost, other
        spent += cheapest
        if spent > errors - least:
            break
        _remove(records, record, labels, members, sizes, sums)
        _add(records, record, to, labels, members, sizes, sums)
        sent += 1
    if sent == size:
        return True
    for record in leaving[:sent]:
        _remove(records, record, labels, members, sizes, sums)
        _add(records, record, group, labels, members, sizes, sums)
    return False


@numba.njit(cache=True)
def _part(
    records: FloatArray, group: int, k: int, labels: IntArray, members: IntArray, sizes: IntArray, sums: FloatArray
) -> None:
    """Part a group of 2k: the k records that lie nearest to one of its two ends become a group of their own."""
    inside, start = members[group].copy(), members[group, 0]
    for _ in range(2):  # the farthest from any, and the farthest from that, lie at two ends
        longest, end = -1.0, start
        for record in inside:
            distance = _between(records, record, start)
            if distance > longest:
                longest, end = distance, record
        start, other_end = end, start
    keys = np.empty(2 * k)
    for at in range(2 * k):
        keys[at] = _between(records, inside[at], start) - _between(records, inside[at], other_end)
    new = 0
    while sizes[new] > 0:
        new += 1
    for at in np.argsort(keys, kind="mergesort")[:k]:
        _remove(records, inside[at], labels, members, sizes, sums)
        _add(records, inside[at], new, labels, members, sizes, sums)


@numba.njit(cache=True)
def _add(
    records: FloatArray, record: int, group: int, labels: IntArray, members: IntArray, sizes: IntArray, sums: FloatArray
) -> None:
    labels[record] = group
    members[group, sizes[group]] = record
    sizes[group] += 1
    for j in range(records.shape[1]):
        sums[group, j] += records[record, j]


@numba.njit(cache=True)
def _remove(
    records: FloatArray, record: int, labels: IntArray, members: IntArray, sizes: IntArray, sums: FloatArray
) -> None:
    group, at = labels[record], 0
    sizes[group] -= 1
    while members[group, at] != record:
        at += 1
    members[group, at] = members[group, sizes[group]]
    for j in range(records.shape[1]):
        sums[group, j] = sums[group, j] - records[record, j] if sizes[group] > 0 else 0.0


@numba.njit(cache=True)
def _squared_distance(records: FloatArray, record: int, sums: FloatArray, group: int, sizes: IntArray) -> float:
    """From the mean of a group."""
    total = 0.0
    for j in range(records.shape[1]):
        difference = records[record, j] - sums[group, j] / sizes[group]
        total += difference * difference
    return total


@numba.njit(cache=True)
def _between(records: FloatArray, one: int, other: int) -> float:
    total = 0.0
    for j in range(records.shape[1]):
        difference = records[one, j] - records[other, j]
        total += difference * difference
    return total

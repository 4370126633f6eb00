"""The loops of unit reconstruction: records near each other, and how likely each is to lie among a unit's members."""

import numba
import numpy as np
from numpy.typing import NDArray

MEMBERS = 24  # of a unit, those with the rarest keys; what more there are tells hardly more
SIZES = 40  # classes of how many more records are near than the unit has


@numba.njit(cache=True, nogil=True)
def windows(blocks: NDArray[np.int64], values: NDArray[np.float64], within: float) -> NDArray[np.int64]:
    """First and last place, shape (n, 2), of those in the same block whose values are that near; all are sorted."""
    n = len(blocks)
    found = np.empty((n, 2), np.int64)
    first = 0
    for place in range(n):
        if blocks[first] != blocks[place]:
            first = place
        while values[place] - values[first] > within:
            first += 1
        found[place, 0] = first
    last = n - 1
    for place in range(n - 1, -1, -1):
        if blocks[last] != blocks[place]:
            last = place
        while values[last] - values[place] > within:
            last -= 1
        found[place, 1] = last
    return found


@numba.njit(cache=True, nogil=True)
def size_class(more: int) -> int:
    """By how many the records near exceed the unit's: each number near 0 by itself, ever wider classes beyond."""
    if more < -3:
        return 0
    if more <= 4:
        return more + 4
    return min(SIZES - 1, 9 + int(np.floor(2.0 * np.log2(more / 5.0))))


@numba.njit(cache=True, nogil=True)
def _first(places: NDArray[np.int64], start: int, stop: int, least: int) -> int:
    while start < stop:
        middle = (start + stop) // 2
        if places[middle] < least:
            start = middle + 1
        else:
            stop = middle
    return start


@numba.njit(cache=True, nogil=True)
def _count(
    record: int, start: int, stop: int, places: NDArray[np.int64], ordered: NDArray[np.int64],
    window: NDArray[np.int64], others: NDArray[np.float64], within: NDArray[np.float64],
) -> int:  # fmt: skip
    """Of the records from `start` to `stop`, sorted by place, those near a record: itself, too, where it is one."""
    low = _first(places, start, stop, window[record, 0])
    high = _first(places, low, stop, window[record, 1] + 1)
    count = high - low
    if len(within):
        count = 0
        for at in range(low, high):
            count += _near(record, ordered[at], others, within)
    return int(count)


@numba.njit(cache=True, nogil=True)
def count_near(
    records: NDArray[np.int64], classes: NDArray[np.int64], class_starts: NDArray[np.int64],
    places: NDArray[np.int64], ordered: NDArray[np.int64], window: NDArray[np.int64], others: NDArray[np.float64],
    within: NDArray[np.float64],
) -> NDArray[np.int64]:  # fmt: skip
    """How many of a class are near each record, shape (q,); 0 for -1, no record or no class. Arrays as in `play`."""
    found = np.zeros(len(records), np.int64)
    for at, record in enumerate(records):
        known = classes[at]
        if record >= 0 and known >= 0:
            found[at] = _count(
                record, class_starts[known], class_starts[known + 1], places, ordered, window, others, within
            )
    return found


@numba.njit(cache=True, nogil=True)
def _near(one: int, other: int, others: NDArray[np.float64], within: NDArray[np.float64]) -> bool:
    near = True
    for column in range(len(within)):
        near &= abs(others[one, column] - others[other, column]) <= within[column]
    return near


@numba.njit(cache=True, nogil=True)
def sizes_near(
    records: NDArray[np.int64], by_place: NDArray[np.int64], window: NDArray[np.int64],
    others: NDArray[np.float64], within: NDArray[np.float64],
) -> NDArray[np.int64]:  # fmt: skip
    """How many records are near each of these, itself among them, shape (q,)."""
    found = np.empty(len(records), np.int64)
    for at, record in enumerate(records):
        if len(within) == 0:
            found[at] = window[record, 1] - window[record, 0] + 1
            continue
        count = 0
        for place in range(window[record, 0], window[record, 1] + 1):
            count += _near(record, by_place[place], others, within)
        found[at] = count
    return found


@numba.njit(cache=True, nogil=True)
def play(
    unit_starts: NDArray[np.int64],  # (u + 1,) of each unit's members in `classes`, the rarest class first
    classes: NDArray[np.int64],  # (members,) class of the keys of each, -1: no released record has them
    units: NDArray[np.int64],  # (u,) the unit's number
    unit_of: NDArray[np.int64],  # (n,) the unit behind each released record
    class_starts: NDArray[np.int64],  # (classes + 1,) of each class in `ordered` and `places`
    ordered: NDArray[np.int64],  # (n,) released records by class and place
    places: NDArray[np.int64],  # (n,) their places
    by_place: NDArray[np.int64],  # (n,) released records by place
    window: NDArray[np.int64],  # (n, 2) of each record the first and last place near it
    others: NDArray[np.float64],  # (n, c) further numbers that must be near
    within: NDArray[np.float64],  # (c,)
    together: float,  # share of the other members that are near and have their keys, where any is
    any_near: float,  # share of the members who have any near
    size_weights: NDArray[np.float64],  # (largest unit + 1, SIZES) log likelihood ratios
    found: NDArray[np.float64],  # (u, 2) out: share of the best that are near the unit's own; probability of the best
    best: NDArray[np.int64],  # (u, 2) out: the likeliest record, and the likeliest of the unit itself; -1: none
) -> None:
    """For each unit the record likeliest to be its rarest member, by those near it that have the keys of the others.

    Each other member weighs by how much likelier a record with their keys is near than it would be by chance.
    """
    n = len(unit_of)
    for at in range(len(units)):
        begin, end = unit_starts[at], unit_starts[at + 1]
        rarest = classes[begin]
        found[at] = 0.0
        best[at] = -1
        if rarest < 0:
            continue
        start, stop = class_starts[rarest], class_starts[rarest + 1]
        members = min(end - begin, MEMBERS)
        scores = np.empty(stop - start)
        for candidate in range(start, stop):
            record = ordered[candidate]
            size = window[record, 1] - window[record, 0] + 1
            if len(within):
                size = 0
                for place in range(window[record, 0], window[record, 1] + 1):
                    size += _near(record, by_place[place], others, within)
            score = size_weights[min(end - begin, len(size_weights) - 1), size_class(size - (end - begin))]
            count, alike = 0, 0
            for member in range(1, members):
                known = classes[begin + member]
                if known < 0:
                    score += np.log(1.0 - together)
                    continue
                if member > 1 and known == classes[begin + member - 1]:
                    alike += 1
                else:
                    count = _count(
                        record, class_starts[known], class_starts[known + 1], places, ordered, window, others, within
                    )
                    alike = 1 if known == rarest else 0
                share = (class_starts[known + 1] - class_starts[known]) / n
                expected = max(1.0, size - member) * share
                score += np.log(1.0 - together + together * max(0, count - alike) / expected)
            scores[candidate - start] = np.log(1.0 - any_near + any_near * np.exp(min(score, 600.0)))
        top = scores.max()
        total, ties, own_top = 0.0, 0, -np.inf
        for candidate in range(start, stop):
            score, record = scores[candidate - start], ordered[candidate]
            total += np.exp(score - top)
            if score >= top - 1e-9:
                ties += 1
                if best[at, 0] < 0:
                    best[at, 0] = record
            if unit_of[record] == units[at] and score > own_top:
                own_top = score
                best[at, 1] = record
        mass, own = 0.0, 0
        low, high = window[best[at, 0], 0], window[best[at, 0], 1]
        for candidate in range(start, stop):
            score, place = scores[candidate - start], places[candidate]
            if low <= place <= high:
                mass += np.exp(score - top)
            if best[at, 1] >= 0 and window[best[at, 1], 0] <= place <= window[best[at, 1], 1]:
                own += own_top >= top - 1e-9 and score >= top - 1e-9
        found[at, 0] = own / ties
        found[at, 1] = mass / total

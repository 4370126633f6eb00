"""The loops of km_anonymity: combinations of items are extended item by item, over the records that hold them.

Depth first: the records that hold a combination are parted by each later item that they hold, which gives the longer
combinations. What is counted at the last item need not be parted.
"""

import numba
import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


@numba.njit(cache=True)
def smallest_crowds(
    starts: IntArray, items: IntArray, people: IntArray, groups: IntArray, universe: int, m: int
) -> IntArray:
    """For each record the fewest people who share one of its combinations of at most m items; shape (n,).

    starts, items : as in ItemSets; records of one group are adjacent, and within it those of one person
    people        : shape (n,); groups : shape (g + 1,), where the records of each group begin, and n
    universe      : items are below it
    """
    n = len(people)
    smallest = np.empty(n, np.int64)
    count, last = np.zeros(universe, np.int64), np.full(universe, -1, np.int64)
    places = np.zeros(universe, np.int64)
    for group in range(len(groups) - 1):
        low, high = groups[group], groups[group + 1]
        crowd = 0
        for record in range(low, high):
            if record == low or people[record] != people[record - 1]:
                crowd += 1
        smallest[low:high] = crowd
        if m > 0 and high > low:
            records = np.arange(low, high)
            _extend(records, starts[low:high].copy(), m, starts, items, people, count, last, places, smallest)
    return smallest


@numba.njit(cache=True)
def _extend(
    records: IntArray, nexts: IntArray, left: int, starts: IntArray, items: IntArray, people: IntArray,
    count: IntArray, last: IntArray, places: IntArray, smallest: IntArray,
) -> int:  # fmt: skip
    """Every combination that adds up to `left` later items to one that these records hold.

    nexts               : shape of records, where the items of each begin that come after the combination
    count, last, places : 0, -1 and 0 throughout when it begins and when it ends
    """
    touched = np.empty(64, np.int64)
    found, total = 0, 0
    for at in range(len(records)):
        record = records[at]
        for place in range(nexts[at], starts[record + 1]):
            item = items[place]
            if places[item] == 0:
                if found == len(touched):
                    touched = np.append(touched, np.empty(found, np.int64))
                touched[found] = item
                found += 1
            places[item] += 1
            total += 1
            if last[item] != people[record]:
                last[item] = people[record]
                count[item] += 1
    for at in range(len(records)):
        record = records[at]
        for place in range(nexts[at], starts[record + 1]):
            smallest[record] = min(smallest[record], count[items[place]])
    ends, counts = np.empty(found + 1, np.int64), np.empty(found, np.int64)
    ends[0] = 0
    for at in range(found):
        item = touched[at]
        counts[at], ends[at + 1] = count[item], ends[at] + places[item]
        places[item], count[item], last[item] = ends[at], 0, -1
    if left > 1:
        holders, beyond = np.empty(total, np.int64), np.empty(total, np.int64)
        for at in range(len(records)):
            record = records[at]
            for place in range(nexts[at], starts[record + 1]):
                to = places[items[place]]
                holders[to], beyond[to] = record, place + 1
                places[items[place]] = to + 1
    for at in range(found):
        places[touched[at]] = 0
    if left > 1:
        for at in range(found):
            if counts[at] > 1:  # of one person no longer combination is rarer
                low, high = ends[at], ends[at + 1]
                _extend(
                    holders[low:high], beyond[low:high], left - 1, starts, items, people, count, last, places, smallest
                )
    return 0

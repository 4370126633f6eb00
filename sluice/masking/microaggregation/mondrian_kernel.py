"""The loops of Mondrian: regions are cut until none can be cut any further.

Records stay where they are, one row each, and a list of their positions is reordered, so that each region is a run of
it. A round of cuts reads every row once for the widths and some columns again for the cuts, in O(n (p + q)); there are
about log2(n / k) rounds.
"""

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_OPEN = -1  # in the place of a cut, where none bounds a region
_ROUNDING = 1e-9


class Needs(NamedTuple):
    """What every region must keep, and the sensitive values that it is about; none where `values` is empty."""

    values: IntArray  # shape (n,), codes in the order of the values
    missing: int  # the code that is no value, -1 if all are
    shares: FloatArray  # shape (v,), of all records that have each value
    l: float  # noqa: E741  0: any number of values
    entropy: bool  # l is of exp(entropy), else of different values
    t: float  # 1: any distance from the shares
    ordered: bool  # the distance is between values in order, else all are equally far apart


NOTHING = Needs(np.empty(0, np.int64), -1, np.ones(1), 0.0, False, 1.0, False)


@numba.njit(cache=True)
def cut_up(
    numbers: FloatArray, nodes: IntArray, heights: IntArray, k: int, relaxed: bool, order: IntArray, needs: Needs
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """The regions of `mondrian.mondrian_regions`.

    numbers : shape (n, p), n >= k; nodes : shape (n, q), in levels of trees of these heights
    order   : shape (n,), who comes first of equal records where a relaxed cut parts them
    returns : the region of each record, numbered from 0, shape (n,); the cuts that bound each region from below and
              from above in each number, shape (regions, p), -1 where it is open; the records next to each cut, the
              largest below and the smallest above it, each shape (cuts,)
    """
    n, p = numbers.shape
    most = n // k
    rows, values = order.copy(), np.empty(n)
    ends = np.empty((most + 1, 2), dtype=np.int64)  # of the regions that wait, with the cuts that bound them
    lows, highs = np.full((most + 1, p), _OPEN), np.full((most + 1, p), _OPEN)
    low, high = np.empty((most, p), dtype=np.int64), np.empty((most, p), dtype=np.int64)
    below, above = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    labels, regions, cuts, waiting = np.empty(n, dtype=np.int64), 0, 0, 1
    ends[0, 0], ends[0, 1] = 0, n
    tally, area = np.zeros(len(needs.shares), dtype=np.int64), _area(needs.shares)
    widths, levels = np.empty(p + len(heights)), np.zeros(len(heights), dtype=np.int64)
    parts = np.empty(most + 2, dtype=np.int64)
    while waiting > 0:
        waiting -= 1
        start, end = ends[waiting, 0], ends[waiting, 1]
        _measure(numbers, nodes, heights, rows, start, end, widths, levels)
        column, count = -1, 0
        while count == 0 and end - start >= 2 * k:
            column = int(np.argmax(widths))
            if widths[column] <= 0.0:
                break
            widths[column] = 0.0
            count = _cut(
                column, numbers, nodes, heights, levels, rows, values, start, end, k, relaxed, parts, needs, tally, area
            )
        for j in range(p):
            low[regions, j], high[regions, j] = lows[waiting, j], highs[waiting, j]
        if count == 0:
            for at in range(start, end):
                labels[rows[at]] = regions
            regions += 1
            continue
        for part in range(count):
            ends[waiting + part, 0], ends[waiting + part, 1] = parts[part], parts[part + 1]
            for j in range(p):
                lows[waiting + part, j], highs[waiting + part, j] = low[regions, j], high[regions, j]
        if column < p:
            lower, upper = parts[0], parts[1]
            for at in range(parts[0], parts[1]):
                lower = at if values[at] > values[lower] else lower
            for at in range(parts[1], parts[2]):
                upper = at if values[at] < values[upper] else upper
            below[cuts], above[cuts] = rows[lower], rows[upper]
            highs[waiting, column] = lows[waiting + 1, column] = cuts
            cuts += 1
        waiting += count
    return labels, low[:regions], high[:regions], below[:cuts], above[:cuts]


@numba.njit(cache=True)
def _measure(
    numbers: FloatArray,
    nodes: IntArray,
    heights: IntArray,
    rows: IntArray,
    start: int,
    end: int,
    widths: FloatArray,
    levels: IntArray,
) -> None:
    """How wide a region is in each number and tree, shape (p + trees,), and in how many levels of each tree."""
    p, first = numbers.shape[1], rows[start]
    low, high = numbers[first].copy(), numbers[first].copy()
    differs = np.zeros(nodes.shape[1], dtype=np.bool_)
    for at in range(start, end):
        row = rows[at]
        for j in range(p):
            value = numbers[row, j]
            low[j] = value if value < low[j] else low[j]
            high[j] = value if value > high[j] else high[j]
        for j in range(len(differs)):
            differs[j] |= nodes[row, j] != nodes[first, j]
    for j in range(p):
        widths[j] = high[j] - low[j]
    level = 0
    for tree in range(len(heights)):
        levels[tree] = 0
        for _ in range(heights[tree]):
            levels[tree] += differs[level]
            level += 1
        widths[p + tree] = levels[tree] / heights[tree]


@numba.njit(cache=True)
def _cut(
    column: int,
    numbers: FloatArray,
    nodes: IntArray,
    heights: IntArray,
    levels: IntArray,
    rows: IntArray,
    values: FloatArray,
    start: int,
    end: int,
    k: int,
    relaxed: bool,
    parts: IntArray,
    needs: Needs,
    tally: IntArray,
    area: FloatArray,
) -> int:
    """Cut a run of rows in one column: the number of parts, 0 if it cannot be; `parts` are their ends.

    Categories are parted into the children of the node that holds them all, or, where one of these is too small,
    between the children next to the median.
    """
    p, size = numbers.shape[1], end - start
    if column < p:
        for i in range(start, end):
            values[i] = numbers[rows[i], column]
    else:
        level = levels[column - p] - 1
        for tree in range(column - p):
            level += heights[tree]
        for i in range(start, end):
            values[i] = nodes[rows[i], level]
        count = _children(rows, values, start, end, k, parts)
        if count > 0 and _all_fit(rows, parts, count, needs, tally, area):
            return int(count)
    median = _middle(values[start:end].copy())
    less, equal = 0, 0
    for i in range(start, end):
        less += values[i] < median
        equal += values[i] == median
    if relaxed and column < p:
        left, other = size // 2, size // 2
    elif abs(size - 2 * less) <= abs(size - 2 * (less + equal)):
        left, other = less, less + equal
    else:
        left, other = less + equal, less
    for _ in range(2):
        if left >= k and size - left >= k:
            _part(rows, values, start, end, median, left - less)
            parts[0], parts[1], parts[2] = start, start + left, end
            if _all_fit(rows, parts, 2, needs, tally, area):
                return 2
        if left == other:
            break
        left = other
    return 0


@numba.njit(cache=True)
def _middle(values: FloatArray) -> float:
    """The upper median, by quickselect; the values are reordered."""
    left, right, middle = 0, len(values) - 1, len(values) // 2
    while left < right:
        a, b, c = values[left], values[(left + right) // 2], values[right]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = left, right
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            break
    return float(values[middle])


@numba.njit(cache=True)
def _part(rows: IntArray, values: FloatArray, start: int, end: int, median: float, taken: int) -> None:
    """Bring those below the median before the others, and with them the first `taken` of those that equal it."""
    others, others_values = np.empty(end - start, dtype=np.int64), np.empty(end - start)
    left, right = start, 0
    for i in range(start, end):
        value = values[i]
        if value < median or (value == median and taken > 0):
            taken -= value == median
            rows[left], values[left] = rows[i], value
            left += 1
        else:
            others[right], others_values[right] = rows[i], value
            right += 1
    for i in range(right):
        rows[left + i], values[left + i] = others[i], others_values[i]


@numba.njit(cache=True)
def _children(rows: IntArray, values: FloatArray, start: int, end: int, k: int, parts: IntArray) -> int:
    """Sort a run of rows by their child; the number of children, whose ends `parts` become, 0 if one is too small."""
    first, last = values[start], values[start]
    for i in range(start, end):
        first, last = min(first, values[i]), max(last, values[i])
    places = np.zeros(int(last - first) + 1, dtype=np.int64)
    for i in range(start, end):
        places[int(values[i] - first)] += 1
    count, begin = 0, start
    for child in range(len(places)):
        size = places[child]
        if size > 0:
            if size < k:
                return 0
            parts[count] = begin
            count += 1
        places[child] = begin
        begin += size
    parts[count] = end
    old_rows, old_values = rows[start:end].copy(), values[start:end].copy()
    for i in range(end - start):
        child = int(old_values[i] - first)
        rows[places[child]], values[places[child]] = old_rows[i], old_values[i]
        places[child] += 1
    return count


@numba.njit(cache=True)
def _all_fit(rows: IntArray, parts: IntArray, count: int, needs: Needs, tally: IntArray, area: FloatArray) -> bool:
    """Whether each part keeps what it must."""
    fitting = 0
    if len(needs.values) == 0:
        return True
    while fitting < count and _fits(rows, parts[fitting], parts[fitting + 1], needs, tally, area):
        fitting += 1
    return fitting == count


@numba.njit(cache=True)
def fits(needs: Needs) -> bool:
    """Whether all records together keep what they must."""
    count, tally = len(needs.values), np.zeros(len(needs.shares), dtype=np.int64)
    return bool(_fits(np.arange(count), 0, count, needs, tally, _area(needs.shares)))


@numba.njit(cache=True)
def _area(shares: FloatArray) -> FloatArray:
    """The sums of the cumulative shares, from 0 on, shape (v + 1,)."""
    area, total = np.zeros(len(shares) + 1), 0.0
    for value in range(len(shares)):
        total += shares[value]
        area[value + 1] = area[value] + total
    return area


@numba.njit(cache=True)
def _fits(rows: IntArray, start: int, end: int, needs: Needs, tally: IntArray, area: FloatArray) -> bool:
    """Whether the sensitive values of a run of rows have their l and t. `tally` is 0 before and after."""
    held, different = np.empty(min(end - start, len(tally)), dtype=np.int64), 0
    for at in range(start, end):
        value = needs.values[rows[at]]
        if tally[value] == 0:
            held[different] = value
            different += 1
        tally[value] += 1
    held = held[:different]
    held.sort()
    fitting = _diverse(held, tally, needs) and _distance(held, tally, end - start, needs, area) <= needs.t + _ROUNDING
    for value in held:
        tally[value] = 0
    return bool(fitting)


@numba.njit(cache=True)
def _diverse(held: IntArray, tally: IntArray, needs: Needs) -> bool:
    present, different, weighted = 0, 0, 0.0
    for value in held:
        if value != needs.missing:
            present += tally[value]
            different += 1
            weighted += tally[value] * np.log(tally[value])
    if needs.entropy and present > 0:
        return bool(np.exp(np.log(present) - weighted / present) >= needs.l - _ROUNDING)
    return bool(different >= needs.l - _ROUNDING)


@numba.njit(cache=True)
def _distance(held: IntArray, tally: IntArray, total: int, needs: Needs, area: FloatArray) -> float:
    """The earth mover's distance of some records' values from those of all, as in `sluice.risk.classes.t_closeness`."""
    shares, v = needs.shares, len(needs.shares)
    if needs.t >= 1.0 or v == 1:
        return 0.0
    if not needs.ordered:
        among, covered = 0.0, 0.0
        for value in held:
            among += abs(tally[value] / total - shares[value])
            covered += shares[value]
        return (among + 1.0 - covered) / 2
    # The cumulative share here is a staircase; that of all, whose sums are `area`, rises and crosses each step once.
    gap, level, reached = 0.0, 0.0, 0
    for i in range(len(held) + 1):
        stop = held[i] if i < len(held) else v
        low, high = reached, stop
        while low < high:  # the first value at which all have reached the level
            middle = (low + high) // 2
            if area[middle + 1] - area[middle] < level:
                low = middle + 1
            else:
                high = middle
        gap += level * (low - reached) - (area[low] - area[reached])
        gap += area[stop] - area[low] - level * (stop - low)
        if i < len(held):
            level += tally[stop] / total
            reached = stop
    return gap / (v - 1)

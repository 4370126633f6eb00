"""The loops of distance-based record linkage: is any released record nearer than the own one, and how many as near?

The distance to the own record is known, so nothing has to be found: boxes of a k-d tree that lie beyond it are passed
over, and the first record that is nearer ends the search. Most searches end in the first leaves.
"""

import numba
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_LEAF = 16  # records that are compared one by one
_SAMPLE = 31  # records whose median cuts a box in two
NO_ROW = 2**62  # above the place of any record
_ROUNDING = 1e-10  # distances that differ by a smaller part are equal: sums of the same terms round differently


@numba.njit(cache=True, nogil=True)
def k_d_tree(points: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """The rows in the order of the leaves; (start, stop, left, right, lowest row) of each box; its (low, high) corner.

    Cut by value, so equal points are never parted: a box of equal points is one leaf, however many they are.
    """
    n, d = points.shape
    order, spare = np.arange(n), np.empty(n, np.int64)
    capacity, count = 64, 1
    boxes, corners = np.empty((capacity, 5), np.int64), np.empty((capacity, 2, d))
    boxes[0, 0], boxes[0, 1] = 0, n
    at = 0
    while at < count:
        start, stop = boxes[at, 0], boxes[at, 1]
        low, high = points[order[start]].copy(), points[order[start]].copy()
        lowest = order[start]
        for i in range(start + 1, stop):
            row = order[i]
            lowest = min(lowest, row)
            for c in range(d):
                low[c], high[c] = min(low[c], points[row, c]), max(high[c], points[row, c])
        corners[at, 0], corners[at, 1] = low, high
        boxes[at, 2], boxes[at, 3], boxes[at, 4] = -1, -1, lowest
        axis = np.argmax(high - low)
        if stop - start > _LEAF and high[axis] > low[axis]:
            seen = np.empty(_SAMPLE)
            for i in range(_SAMPLE):
                seen[i] = points[order[start + (stop - start - 1) * i // (_SAMPLE - 1)], axis]
            seen.sort()
            cut = seen[_SAMPLE // 2]
            cut = min(cut, 0.5 * (low[axis] + high[axis])) if cut == high[axis] else cut
            left, right = start, 0
            for i in range(start, stop):
                row = order[i]
                if points[row, axis] <= cut:
                    order[left] = row
                    left += 1
                else:
                    spare[right] = row
                    right += 1
            order[left:stop] = spare[:right]
            if left < stop:  # two neighbouring numbers can have no number between them
                if count + 2 > capacity:
                    boxes, corners = np.concatenate((boxes, boxes)), np.concatenate((corners, corners))
                    capacity *= 2
                boxes[at, 2], boxes[at, 3] = count, count + 1
                boxes[count, 0], boxes[count, 1] = start, left
                boxes[count + 1, 0], boxes[count + 1, 1] = left, stop
                count += 2
        at += 1
    return order, boxes[:count], corners[:count]


@numba.njit(cache=True)
def _distance(a: FloatArray, b: FloatArray, squared: bool, enough: float) -> float:
    """Sum of squared or of absolute differences, or any number above `enough` when the sum is above it."""
    total = 0.0
    for c in range(len(a)):
        difference = a[c] - b[c]
        total += difference * difference if squared else abs(difference)
        if total > enough:
            break
    return total


@numba.njit(cache=True)
def _distance_to_box(a: FloatArray, corner: FloatArray, squared: bool) -> float:
    total = 0.0
    for c in range(len(a)):
        difference = max(corner[0, c] - a[c], a[c] - corner[1, c], 0.0)
        total += difference * difference if squared else difference
    return total


@numba.njit(cache=True, nogil=True)
def as_near_as_own(
    original: FloatArray,
    own: FloatArray,
    ordered: FloatArray,
    order: IntArray,
    boxes: IntArray,
    corners: FloatArray,
    squared: bool,
    ties: IntArray,
    lowest: IntArray,
) -> None:
    """How many of some released records lie as near as the own one, and the lowest row among them.

    original : shape (q, d), own : shape (q, d) the own released records, `ordered` : those of the tree, in its `order`
    ties, lowest : shape (q,), filled; ties -1 where a record is nearer than the own, lowest NO_ROW where none
    """
    waiting, bounds = np.empty(len(boxes), np.int64), np.empty(len(boxes))  # each box waits once at most
    for i in range(len(original)):
        a = original[i]
        distance = _distance(a, own[i], squared, np.inf)
        nearer, reach = distance * (1.0 - _ROUNDING), distance * (1.0 + _ROUNDING)
        equal, first = 0, NO_ROW
        waiting[0], bounds[0] = 0, _distance_to_box(a, corners[0], squared)
        depth = 1
        while depth > 0:
            depth -= 1
            box = waiting[depth]
            if bounds[depth] > reach:
                continue
            left, right = boxes[box, 2], boxes[box, 3]
            if left >= 0:
                to_left = _distance_to_box(a, corners[left], squared)
                to_right = _distance_to_box(a, corners[right], squared)
                if to_left <= to_right:  # the nearer box last: it is looked at first
                    waiting[depth], bounds[depth] = right, to_right
                    waiting[depth + 1], bounds[depth + 1] = left, to_left
                else:
                    waiting[depth], bounds[depth] = left, to_left
                    waiting[depth + 1], bounds[depth + 1] = right, to_right
                depth += 2
                continue
            start, stop = boxes[box, 0], boxes[box, 1]
            same = stop - start if stop - start > _LEAF else 1  # a larger leaf holds equal points only
            if same > 1:
                stop = start + 1
            nearest = np.inf
            for at in range(start, stop):
                other = _distance(a, ordered[at], squared, reach)
                nearest = min(nearest, other)
                if other <= reach:
                    equal += same
                    first = min(first, order[at] if same == 1 else boxes[box, 4])
            if nearest < nearer:
                equal = -1
                break
        ties[i], lowest[i] = equal, first

"""The loops of MDAV: exact groups, found by looking into few blocks of records.

Records lie in blocks of 64 in the order of a k-d tree. A box around each block (and a wide one around 16 blocks), on
the data's principal axes, bounds the distances from any record to all of the block, so that most blocks are never
opened. Distances themselves are computed on the given rows in float64, one column after the other; the bounds are
widened by far more than their rounding error. A group's records leave their blocks, and the blocks are rebuilt when a
quarter is gone. Against scanning all records this takes 100,000 x 10 from minutes to one to three seconds.
"""

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_BLOCK = 64  # records in a block
_WIDE = 16  # boxes in a wide box


class _Boxes(NamedTuple):
    """Bounding boxes of m sets of records, on the rotated axes."""

    low: FloatArray  # shape (d, m)
    high: FloatArray  # shape (d, m)
    norms: FloatArray  # shape (m,): largest squared norm, rounded up


class _Blocks(NamedTuple):
    """The records that are left, in m blocks."""

    tiles: FloatArray  # shape (m, d, 64): the rows, so that one column of a block is contiguous
    members: IntArray  # shape (m, 64): their numbers
    counts: IntArray  # shape (m,): places in use
    place: IntArray  # shape (n,): block * 64 + place of each record
    boxes: _Boxes
    wide: _Boxes


@numba.njit(cache=True)
def group_records(records: FloatArray, rotated: FloatArray, k: int, slack: float) -> IntArray:
    """Group of each record, numbered from 0 in order of formation; see `sluice.masking.mdav.mdav_groups`.

    records : shape (n, d), n >= k
    rotated : shape (n, d), the same records centred and on orthonormal axes
    slack   : more than the error of a distance between rotated records
    """
    n, d = records.shape
    labels = np.full(n, -1, dtype=np.int64)
    total, carry = np.zeros(d), np.zeros(d)
    for record in range(n):
        _add(total, carry, records[record], 1.0)
    left, group = n, 0
    nearest = np.empty(k - 1, dtype=np.int64)
    while left >= 2 * k:
        alive = np.flatnonzero(labels < 0)
        _order_by_boxes(alive, rotated)
        blocks = _build(alive, records, rotated, slack)
        # Records by falling distance from the centroid of now: with the way it has moved since, that bounds the
        # distance from any later centroid, and few records at the head of the list need a look.
        anchor = total / left
        from_anchor = np.empty(left)
        for i in range(left):
            from_anchor[i] = np.sqrt(_squared_distance(records[alive[i]], anchor))
        outermost = np.argsort(-from_anchor)
        first = 0
        rebuild_at = left - left // 4
        while left >= 2 * k and left >= rebuild_at:
            while labels[alive[outermost[first]]] >= 0:
                first += 1
            centroid = total / left
            shift = np.sqrt(_squared_distance(centroid, anchor)) + slack
            seed, best = -1, 0.0
            for i in outermost[first:]:
                if labels[alive[i]] >= 0:
                    continue
                if from_anchor[i] + shift < np.sqrt(best):
                    break
                distance = _squared_distance(records[alive[i]], centroid)
                if seed < 0 or distance > best or (distance == best and alive[i] < seed):
                    seed, best = int(alive[i]), distance
            for side in range(2 if left >= 3 * k else 1):
                if side == 1:
                    seed = _farthest(seed, records, rotated, blocks, slack)
                _remove(seed, blocks)
                _find_nearest(seed, records, rotated, blocks, slack, nearest)
                labels[seed] = group
                _add(total, carry, records[seed], -1.0)
                for neighbour in nearest:
                    labels[neighbour] = group
                    _add(total, carry, records[neighbour], -1.0)
                    _remove(neighbour, blocks)
                left -= k
                group += 1
    labels[labels < 0] = group
    return labels


@numba.njit(cache=True)
def _add(total: FloatArray, carry: FloatArray, row: FloatArray, sign: float) -> None:
    """total += sign * row, with the rounding error kept in `carry`: the centroid never drifts as records leave."""
    for j in range(len(row)):
        value = sign * row[j]
        rough = total[j] + value
        part = rough - total[j]
        carry[j] += (total[j] - (rough - part)) + (value - part)
        total[j] = rough + carry[j]
        carry[j] -= total[j] - rough


@numba.njit(cache=True)
def _squared_distance(a: FloatArray, b: FloatArray) -> float:
    distance = 0.0
    for j in range(len(a)):
        difference = a[j] - b[j]
        distance += difference * difference
    return distance


@numba.njit(cache=True)
def _block_distances(tile: FloatArray, point: FloatArray, distances: FloatArray) -> None:
    """Squared distances from `point` to the 64 places of one block. The inner loop of MDAV."""
    for lane in range(_BLOCK):
        distances[lane] = 0.0
    for j in range(len(point)):
        value = point[j]
        for lane in range(_BLOCK):
            difference = tile[j, lane] - value
            distances[lane] += difference * difference


@numba.njit(cache=True)
def _remove(record: int, blocks: _Blocks) -> None:
    """Take a record out of its block: the block's last one moves to its place."""
    block, lane = blocks.place[record] // _BLOCK, blocks.place[record] % _BLOCK
    blocks.counts[block] -= 1
    last = blocks.counts[block]
    moved = blocks.members[block, last]
    blocks.members[block, lane] = moved
    blocks.place[moved] = block * _BLOCK + lane
    for j in range(blocks.tiles.shape[1]):
        blocks.tiles[block, j, lane] = blocks.tiles[block, j, last]


@numba.njit(cache=True)
def _gaps(point: FloatArray, boxes: _Boxes, start: int, end: int, bounds: FloatArray) -> None:
    """Squared distances from `point` to the boxes start .. end - 1: no record inside is nearer."""
    bounds[start:end] = 0.0
    for j in range(len(point)):
        value = point[j]
        for box in range(start, end):
            gap = max(boxes.low[j, box] - value, value - boxes.high[j, box], 0.0)
            bounds[box] += gap * gap


@numba.njit(cache=True)
def _reaches(point: FloatArray, boxes: _Boxes, start: int, end: int, bounds: FloatArray) -> None:
    """Squared distances from `point` beyond which no record of the boxes start .. end - 1 lies.

    The smaller of two bounds: the box's far corner, and |x|^2 + |p|^2 - 2 x.p with the largest |x|^2 and the least x.p.
    The second is the better one for boxes at the rim, whose corners lie far outside the data.
    """
    bounds[start:end] = 0.0
    products = np.zeros(end - start)
    norm = 0.0
    for j in range(len(point)):
        value = point[j]
        norm += value * value
        for box in range(start, end):
            reach = max(value - boxes.low[j, box], boxes.high[j, box] - value)
            bounds[box] += reach * reach
            products[box - start] += min(value * boxes.low[j, box], value * boxes.high[j, box])
    for box in range(start, end):
        bounds[box] = min(bounds[box], boxes.norms[box] + norm - 2.0 * products[box - start])


@numba.njit(cache=True)
def _farthest(seed: int, records: FloatArray, rotated: FloatArray, blocks: _Blocks, slack: float) -> int:
    """The record left that is farthest from `seed`, the first of equals."""
    bounds, wide_bounds = np.empty(len(blocks.counts)), np.empty(len(blocks.wide.norms))
    distances = np.empty(_BLOCK)
    found, best, limit = -1, -1.0, -np.inf
    _reaches(rotated[seed], blocks.wide, 0, len(wide_bounds), wide_bounds)
    order = np.full(1, np.argmax(wide_bounds))
    for stage in range(2):  # the most promising run of blocks first; then only those that can still hold a farther one
        if stage == 1:
            wide_bounds[order[0]] = np.nan
            order = np.flatnonzero(wide_bounds >= limit)
            order = order[np.argsort(-wide_bounds[order])]
        for wide in order:
            if wide_bounds[wide] < limit:
                break
            start = int(wide) * _WIDE
            end = min(start + _WIDE, len(bounds))
            _reaches(rotated[seed], blocks.boxes, start, end, bounds)
            for block in range(start, end):
                if blocks.counts[block] == 0 or bounds[block] < limit:
                    continue
                _block_distances(blocks.tiles[block], records[seed], distances)
                for lane in range(blocks.counts[block]):
                    record = blocks.members[block, lane]
                    if distances[lane] > best or (distances[lane] == best and record < found):
                        found, best = record, distances[lane]
                        limit = max(np.sqrt(best) - slack, 0.0) ** 2
    return found


@numba.njit(cache=True)
def _find_nearest(
    seed: int, records: FloatArray, rotated: FloatArray, blocks: _Blocks, slack: float, nearest: IntArray
) -> None:
    """Fill `nearest` with the records left that are closest to `seed`, by distance and then by number."""
    if len(nearest) == 0:
        return
    bounds, wide_bounds = np.empty(len(blocks.counts)), np.empty(len(blocks.wide.norms))
    distances, reached = np.empty(_BLOCK), np.full(len(nearest), np.inf)
    nearest[:] = len(records)
    limit = np.inf
    _gaps(rotated[seed], blocks.wide, 0, len(wide_bounds), wide_bounds)
    order = np.full(1, np.argmin(wide_bounds))
    for stage in range(2):  # the most promising run of blocks first; then only those that can still hold a nearer one
        if stage == 1:
            wide_bounds[order[0]] = np.nan
            order = np.flatnonzero(wide_bounds <= limit)
            order = order[np.argsort(wide_bounds[order])]
        for wide in order:
            if wide_bounds[wide] > limit:
                break
            start = int(wide) * _WIDE
            end = min(start + _WIDE, len(bounds))
            _gaps(rotated[seed], blocks.boxes, start, end, bounds)
            for block in range(start, end):
                if blocks.counts[block] > 0 and bounds[block] <= limit:
                    _block_distances(blocks.tiles[block], records[seed], distances)
                    _keep_nearest(distances, blocks.members[block, : blocks.counts[block]], nearest, reached)
                    limit = (np.sqrt(reached[-1]) + slack) ** 2


@numba.njit(cache=True)
def _keep_nearest(distances: FloatArray, members: IntArray, nearest: IntArray, reached: FloatArray) -> None:
    """Let a block's records into `nearest`, whose squared distances are `reached`; both stay in order."""
    for lane in range(len(members)):
        distance, record = distances[lane], members[lane]
        i = len(nearest) - 1
        if distance > reached[i] or (distance == reached[i] and record > nearest[i]):
            continue
        while i > 0 and (distance < reached[i - 1] or (distance == reached[i - 1] and record < nearest[i - 1])):
            reached[i], nearest[i] = reached[i - 1], nearest[i - 1]
            i -= 1
        reached[i], nearest[i] = distance, record


@numba.njit(cache=True)
def _build(alive: IntArray, records: FloatArray, rotated: FloatArray, slack: float) -> _Blocks:
    """Blocks of 64 over the records `alive`, in their order."""
    n, d = records.shape
    m = (len(alive) + _BLOCK - 1) // _BLOCK
    tiles = np.zeros((m, d, _BLOCK))
    members, counts = np.zeros((m, _BLOCK), dtype=np.int64), np.zeros(m, dtype=np.int64)
    place = np.zeros(n, dtype=np.int64)
    low, high, norms = np.full((d, m), np.inf), np.full((d, m), -np.inf), np.zeros(m)
    for i in range(len(alive)):
        record, block, lane = alive[i], i // _BLOCK, i % _BLOCK
        members[block, lane] = record
        counts[block] += 1
        place[record] = i
        norm = 0.0
        for j in range(d):
            value = rotated[record, j]
            tiles[block, j, lane] = records[record, j]
            low[j, block], high[j, block] = min(low[j, block], value), max(high[j, block], value)
            norm += value * value
        norms[block] = max(norms[block], norm)
    norms += slack * np.sqrt(norms.max())
    w = (m + _WIDE - 1) // _WIDE
    wide_low, wide_high, wide_norms = np.full((d, w), np.inf), np.full((d, w), -np.inf), np.zeros(w)
    for block in range(m):
        wide = block // _WIDE
        wide_norms[wide] = max(wide_norms[wide], norms[block])
        for j in range(d):
            wide_low[j, wide] = min(wide_low[j, wide], low[j, block])
            wide_high[j, wide] = max(wide_high[j, wide], high[j, block])
    return _Blocks(tiles, members, counts, place, _Boxes(low, high, norms), _Boxes(wide_low, wide_high, wide_norms))


@numba.njit(cache=True)
def _order_by_boxes(alive: IntArray, rotated: FloatArray) -> None:
    """Order `alive` so that each run of 64 is compact: halve along the widest axis until a run is one block."""
    d = rotated.shape[1]
    keys = np.empty(len(alive))
    lowest, highest = np.empty(d), np.empty(d)
    starts, ends = [0], [len(alive)]
    while len(starts) > 0:
        start, end = starts.pop(), ends.pop()
        blocks = (end - start + _BLOCK - 1) // _BLOCK
        if blocks < 2:
            continue
        lowest[:], highest[:] = np.inf, -np.inf
        for record in alive[start:end]:
            for j in range(d):
                lowest[j], highest[j] = min(lowest[j], rotated[record, j]), max(highest[j], rotated[record, j])
        axis = np.argmax(highest - lowest)
        for i in range(start, end):
            keys[i] = rotated[alive[i], axis]
        middle = start + blocks // 2 * _BLOCK
        _select(keys, alive, start, end - 1, middle)
        starts.append(start)
        ends.append(middle)
        starts.append(middle)
        ends.append(end)


@numba.njit(cache=True)
def _select(keys: FloatArray, alive: IntArray, left: int, right: int, middle: int) -> None:
    """Quickselect: bring the smaller keys of left..right before `middle`, the larger from it on."""
    while left < right:
        a, b, c = keys[left], keys[(left + right) // 2], keys[right]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = left, right
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                alive[i], alive[j] = alive[j], alive[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return

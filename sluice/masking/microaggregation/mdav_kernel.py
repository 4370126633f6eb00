"""The loops of MDAV: exact groups, found by looking at few records.

Records are screened in single precision, 16 at a time, and those that may be chosen are measured on the given rows in
float64, one column after the other; ties go to the first record. The nearest to a record are found in a tree of boxes
on the data's principal axes. The farthest from it, and from the centroid, lie at the rim: records by falling distance
from the centroid of some rounds ago are looked through until none of the others can be farther (which tells little
where all are equally far from it, as on a circle). Both are built anew when half of the records have left, or the rest
lie within a third of the distance. A compiled scan of all records at every step takes 25 times as long for 100,000 x 10
independent normal values with k = 3, and 50 times with a few factors behind them (`python -m benchmarks mdav`).

Records lie in blocks of 16, shape (d, 16), one in each lane, so that one vector instruction serves 16 records or 16
boxes. The screens below are written for LLVM directly: as plain Numba loops they take 1.5 times as long a block and
give no bit mask of the lanes found. A record that left its block has NaN there, which no screen finds.

It is one file although it is long: Numba's cache of a function does not notice that one it calls changed in another.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import llvmlite.ir
import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from sluice.ground.quickselect_kernel import select

Float32Array = npt.NDArray[np.float32]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

LANES = 16  # records in a block, and boxes in a block of boxes

ir: Any = llvmlite.ir  # has no types
_INDEX = ir.IntType(64)
_VECTOR = ir.VectorType(ir.FloatType(), LANES)


class Tree(NamedTuple):
    """Blocks of neighbouring records; boxes around 16 blocks, around 16 of those boxes, and so on up to one block.

    Level 0 are the records. Node i of level l (a record, or the box of block i of level l - 1) is lane i % 16 of block
    i // 16 of its level. All blocks of boxes lie in one array, those of level l from `starts[l]` on.
    """

    tiles: Float32Array  # shape (b, d, 16)
    members: IntArray  # shape (left,): the record in each lane
    place: IntArray  # shape (n,): the lane of each record
    low: Float32Array  # shape (boxes, d, 16); infinite where nothing is left
    high: Float32Array
    starts: IntArray  # shape (levels + 1,)
    counts: IntArray  # shape (b + boxes,): nodes left in each block of records, then in each block of boxes


class Rim(NamedTuple):
    """Blocks of records by falling distance from an anchor."""

    tiles: Float32Array  # shape (b, d, 16)
    members: IntArray  # shape (left,): the record in each lane
    place: IntArray  # shape (n,): the lane of each record
    reach: FloatArray  # shape (left,): no record from here on is farther from the anchor


def _screen(comparison: str) -> Callable[..., Any]:
    """Code for the squared distances from a point to 16 records or boxes: sets `distances`, returns the lanes found.

    Arguments: tiles, or low and high; the block's number; point, shape (d,); limit; distances, shape (16,). Each step
    of the sum is monotone, so that a box is never farther than a record in it, even after rounding.
    """

    def spread(builder: Any, scalar: Any) -> Any:
        nothing = ir.Constant(_VECTOR, ir.Undefined)
        first = builder.insert_element(nothing, scalar, ir.IntType(32)(0))
        return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), None))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        *edges, point, distances = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, arguments, strict=True)
            if isinstance(kind, types.Array)
        )
        block, limit = arguments[-4], arguments[-2]
        columns = cgutils.unpack_tuple(builder, edges[0].shape)[1]
        start = builder.mul(builder.mul(block, columns), _INDEX(LANES))
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        multiply_add = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{LANES}f32")
        zero = ir.Constant(_VECTOR, None)
        total = cgutils.alloca_once_value(builder, zero)
        with cgutils.for_range(builder, columns) as loop:
            offset = builder.add(start, builder.mul(loop.index, _INDEX(LANES)))
            value = spread(builder, builder.load(builder.gep(point.data, [loop.index])))
            low, high = (
                builder.load(builder.bitcast(builder.gep(edge.data, [offset]), _VECTOR.as_pointer()), align=4)
                for edge in (edges[0], edges[-1])
            )
            gap = builder.fsub(low, value)
            if len(edges) == 2:
                for other in (builder.fsub(value, high), zero):
                    gap = builder.select(builder.fcmp_ordered(">", gap, other), gap, other)
            builder.store(builder.call(multiply_add, [gap, gap, builder.load(total)]), total)
        result = builder.load(total)
        builder.store(result, builder.bitcast(distances.data, _VECTOR.as_pointer()), align=4)
        found = builder.fcmp_ordered(comparison, result, spread(builder, limit))
        return builder.zext(builder.bitcast(found, ir.IntType(LANES)), _INDEX)

    return generate


@intrinsic
def nearer_records(_: Any, tiles: Any, block: Any, point: Any, limit: Any, distances: Any) -> Any:
    """Lanes of a block whose squared distance is at most `limit`, as bits."""
    return types.uint64(tiles, types.int64, point, types.float32, distances), _screen("<=")


@intrinsic
def farther_records(_: Any, tiles: Any, block: Any, point: Any, limit: Any, distances: Any) -> Any:
    """Lanes of a block whose squared distance is at least `limit`, as bits."""
    return types.uint64(tiles, types.int64, point, types.float32, distances), _screen(">=")


@intrinsic
def nearer_boxes(_: Any, low: Any, high: Any, block: Any, point: Any, limit: Any, distances: Any) -> Any:
    """Lanes of a block of boxes whose squared distance is at most `limit`, as bits."""
    return types.uint64(low, high, types.int64, point, types.float32, distances), _screen("<=")


@intrinsic
def lowest_lane(_: Any, lanes: Any) -> Any:
    """The first of the lanes found; there must be one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.uint64), generate


def tree_of(points: Float32Array, records: IntArray, n: int) -> Tree:
    """The tree over `points`, shape (m, d), which stand for `records`, shape (m,), out of n."""
    order = _neighbourly(points)
    members, place = records[order], np.empty(n, dtype=np.int64)
    place[members] = np.arange(len(members))
    tiles = _in_lanes(points, order, np.nan)
    counts = [_filled(len(members))]
    lows = [np.empty((0, *tiles.shape[1:]), dtype=np.float32)]
    highs = lows.copy()
    below = tiles, tiles
    while len(below[0]) > 1:
        low, high = _edges(*below)
        nodes = np.arange(len(low))
        below = _in_lanes(low, nodes, np.inf), _in_lanes(high, nodes, -np.inf)
        lows.append(below[0])
        highs.append(below[1])
        counts.append(_filled(len(low)))
    starts = np.cumsum([0, *map(len, lows)])
    return Tree(tiles, members, place, np.concatenate(lows), np.concatenate(highs), starts, np.concatenate(counts))


def rim_of(points: Float32Array, records: IntArray, distances: FloatArray, n: int) -> Rim:
    """The rim of `points`, shape (m, d), which stand for `records` at `distances` from the anchor, both shape (m,)."""
    order = np.argsort(-distances)
    members, place = records[order], np.empty(n, dtype=np.int64)
    place[members] = np.arange(len(members))
    return Rim(_in_lanes(points, order, np.nan), members, place, distances[order])


@numba.njit(cache=True)
def _in_lanes(nodes: Float32Array, order: IntArray, nothing: float) -> Float32Array:
    """Rows of shape (m, d) in blocks of shape (d, 16), in this order; the last block is filled up with `nothing`."""
    m, d = nodes.shape
    lanes = np.empty(((m + LANES - 1) // LANES, d, LANES), dtype=np.float32)
    lanes[-1] = nothing
    for i in range(m):
        block, lane, node = i // LANES, i % LANES, order[i]
        for j in range(d):
            lanes[block, j, lane] = nodes[node, j]
    return lanes


@numba.njit(cache=True)
def _edges(lows: Float32Array, highs: Float32Array) -> tuple[Float32Array, Float32Array]:
    """The box around each block, both shape (blocks, d). What fills up the last block is passed over."""
    blocks, d, _ = lows.shape
    low, high = np.empty((blocks, d), dtype=np.float32), np.empty((blocks, d), dtype=np.float32)
    for block in range(blocks):
        for j in range(d):
            least, greatest = lows[block, j, 0], highs[block, j, 0]
            for lane in range(1, LANES):
                least = lows[block, j, lane] if lows[block, j, lane] < least else least
                greatest = highs[block, j, lane] if highs[block, j, lane] > greatest else greatest
            low[block, j], high[block, j] = least, greatest
    return low, high


def _filled(nodes: int) -> IntArray:
    """How many of so many nodes are in each block."""
    return np.minimum(nodes - np.arange(0, nodes, LANES), LANES)


@numba.njit(cache=True)
def remove(records: IntArray, tree: Tree, rim: Rim) -> None:
    """Take records out of their blocks, and blocks that are empty out of theirs."""
    tiles, low, starts, counts, rim_tiles = tree.tiles, tree.low, tree.starts, tree.counts, rim.tiles
    for record in records:
        lane = rim.place[record]
        rim_tiles[lane // LANES, 0, lane % LANES] = np.nan
        node = tree.place[record]
        tiles[node // LANES, 0, node % LANES] = np.nan
        row = node // LANES
        counts[row] -= 1
        for level in range(1, len(starts) - 1):
            if counts[row] > 0:
                break
            node //= LANES
            block = starts[level] + node // LANES
            low[block, 0, node % LANES] = np.inf
            row = len(tiles) + block
            counts[row] -= 1


@numba.njit(cache=True)
def _neighbourly(points: Float32Array) -> IntArray:
    """An order in which each block of each level is compact: halve along an axis down to one block.

    The axis is the one on which a hundred records or so of the run lie widest apart.
    """
    m, d = points.shape
    order, keys = np.arange(m), np.empty(m, dtype=np.float32)
    lowest, highest = np.empty(d, dtype=np.float32), np.empty(d, dtype=np.float32)
    starts, ends = np.zeros(128, dtype=np.int64), np.full(128, m)  # one half of each cut waits: they are never many
    waiting = 1
    while waiting > 0:
        waiting -= 1
        start, end = starts[waiting], ends[waiting]
        blocks = (end - start + LANES - 1) // LANES
        if blocks < 2:
            continue
        whole = 1  # blocks of the widest box that is smaller than this run: boxes do not straddle the cut
        while whole * LANES < blocks:
            whole *= LANES
        for j in range(d):
            lowest[j], highest[j] = np.inf, -np.inf
        for i in range(start, end, max((end - start) // 128, 1)):
            for j in range(d):
                value = points[order[i], j]
                lowest[j], highest[j] = min(lowest[j], value), max(highest[j], value)
        axis = 0
        for j in range(d):
            if highest[j] - lowest[j] > highest[axis] - lowest[axis]:
                axis = j
        for i in range(start, end):
            keys[i] = points[order[i], axis]
        middle = start + max(blocks // 2 // whole, 1) * whole * LANES
        select(keys, order, start, end - 1, middle)
        starts[waiting], ends[waiting] = start, middle
        starts[waiting + 1], ends[waiting + 1] = middle, end
        waiting += 2
    return order


class _Scale(NamedTuple):
    """How far a screened distance may be from the float64 distance.

    Points are (rotated - origin) * factor, at most 1 long, rounded to float32: off by u = 2^-24 at most, a distance by
    2 u. A squared distance is d rounded differences, squares and sums, so it has a relative error of (d + 3) u; half of
    that, times a distance of 2 at most, is the distance's. Together (d + 5) u, besides `slack` for the rotation and for
    float64 itself. `error` is twice as much, for terms of second order and what is lost below the smallest float32.
    """

    factor: float  # a power of 2
    slack: float  # between float64 distances of the rotated and of the given records
    error: float  # between screened distances and `factor` times float64 ones, slack included


def group_records(records: FloatArray, rotated: FloatArray, k: int, slack: float) -> IntArray:
    """Group of each record, numbered from 0 in order of formation; see `microaggregation.mdav_groups`.

    records : shape (n, d), n >= k; squared distances must be finite
    rotated : shape (n, d), the same records centred and on orthonormal axes
    slack   : more than the error of a distance between rotated records
    """
    n, d = records.shape
    slack += math.sqrt(d) * 2.0**-535  # what three distances lose when their squares are below the smallest number
    labels = np.full(n, -1, dtype=np.int64)
    sums = _sums(records)
    alive, number = np.arange(n), 0
    while len(alive) >= 2 * k:
        points, origin, scale = _scaled(rotated, alive, slack)
        anchor = sums[0] / len(alive)
        rim = rim_of(points, alive, _distances(records, alive, anchor), n)
        tree = tree_of(points, alive, n)
        del points
        number = _form_groups(records, rotated, k, labels, number, sums, anchor, origin, scale, tree, rim)
        alive = alive[labels[alive] < 0]
    labels[alive] = number
    return labels


@numba.njit(cache=True)
def _scaled(rotated: FloatArray, alive: IntArray, slack: float) -> tuple[Float32Array, FloatArray, _Scale]:
    """The points of the records left, shape (left, d), their origin amid them, and their scale."""
    d = rotated.shape[1]
    low, high = rotated[alive[0]].copy(), rotated[alive[0]].copy()
    for record in alive:
        for j in range(d):
            low[j], high[j] = min(low[j], rotated[record, j]), max(high[j], rotated[record, j])
    origin, widest = np.empty(d), 0.0
    for j in range(d):
        origin[j] = low[j] / 2 + high[j] / 2
        widest = max(widest, high[j] - low[j])
    exponent = math.frexp(widest)[1] - 1 + math.frexp(math.sqrt(d))[1]  # of 2^exponent > sqrt(d) * widest / 2
    factor = math.ldexp(1.0, -max(exponent, -1000))
    points = np.empty((len(alive), d), dtype=np.float32)
    for i in range(len(alive)):
        _place(rotated[alive[i]], origin, factor, points[i])
    return points, origin, _Scale(factor, slack, (2 * d + 10) * 2.0**-24 + slack * factor)


@numba.njit(cache=True)
def _form_groups(
    records: FloatArray,
    rotated: FloatArray,
    k: int,
    labels: IntArray,
    number: int,
    sums: FloatArray,
    anchor: FloatArray,
    origin: FloatArray,
    scale: _Scale,
    tree: Tree,
    rim: Rim,
) -> int:
    """Form groups until half of the records have left, or those far out, or all but 2k. Returns the next number.

    Without those far out, a smaller scale tells the others apart in single precision.
    """
    left, first = len(rim.members), 0
    rebuild_at = left // 2
    centroid, group, point = np.empty(len(anchor)), np.empty(k, dtype=np.int64), np.empty(len(anchor), dtype=np.float32)
    while left >= max(2 * k, rebuild_at) and rim.reach[first] >= rim.reach[0] / 3:
        for j in range(len(centroid)):
            centroid[j] = sums[0, j] / left
        group[0] = _outermost(centroid, anchor, records, labels, rim, first, scale.slack)
        for side in range(2 if left >= 3 * k else 1):
            if side == 1:
                group[0] = _farthest(group[0], point, anchor, records, rim, first, scale)
            _place(rotated[group[0]], origin, scale.factor, point)
            remove(group[:1], tree, rim)
            _find_nearest(group[0], point, records, tree, scale, group[1:])
            remove(group[1:], tree, rim)
            for record in group:
                labels[record] = number
                _add(sums, records[record], -1.0)
            left -= k
            number += 1
        while labels[rim.members[first]] >= 0:  # k or more are always left
            first += 1
    return number


@numba.njit(cache=True)
def _place(row: FloatArray, origin: FloatArray, factor: float, point: Float32Array) -> None:
    for j in range(len(row)):
        point[j] = (row[j] - origin[j]) * factor


@numba.njit(cache=True)
def _sums(records: FloatArray) -> FloatArray:
    """The sum of each column and its rounding error, shape (2, d)."""
    sums = np.zeros((2, records.shape[1]))
    for record in range(len(records)):
        _add(sums, records[record], 1.0)
    return sums


@numba.njit(cache=True)
def _add(sums: FloatArray, row: FloatArray, sign: float) -> None:
    """Add sign * row to the sums, and what rounding loses to their second row: no drift as records leave."""
    for j in range(len(row)):
        value = sign * row[j]
        rough = sums[0, j] + value
        part = rough - sums[0, j]
        error = sums[1, j] + ((sums[0, j] - (rough - part)) + (value - part))
        sums[0, j] = rough + error
        sums[1, j] = error - (sums[0, j] - rough)


@numba.njit(cache=True)
def _distances(records: FloatArray, alive: IntArray, point: FloatArray) -> FloatArray:
    distances = np.empty(len(alive))
    for i in range(len(alive)):
        distances[i] = math.sqrt(_squared_distance(records[alive[i]], point))
    return distances


@numba.njit(cache=True)
def _squared_distance(a: FloatArray, b: FloatArray) -> float:
    distance = 0.0
    for j in range(len(a)):
        difference = a[j] - b[j]
        distance += difference * difference
    return distance


@numba.njit(cache=True)
def _outermost(
    centroid: FloatArray, anchor: FloatArray, records: FloatArray, labels: IntArray, rim: Rim, first: int, slack: float
) -> int:
    """The record left that is farthest from the centroid: the way from anchor to centroid bounds how far others are."""
    shift = math.sqrt(_squared_distance(centroid, anchor)) + slack
    found, best, root = -1, -1.0, -1.0
    for i in range(first, len(rim.members)):
        if rim.reach[i] + shift < root:
            break
        record = rim.members[i]
        if labels[record] >= 0:
            continue
        distance = _squared_distance(records[record], centroid)
        if distance > best or (distance == best and record < found):
            found, best, root = record, distance, math.sqrt(distance)
    return found


@numba.njit(cache=True)
def _farthest(
    seed: int, point: Float32Array, anchor: FloatArray, records: FloatArray, rim: Rim, first: int, scale: _Scale
) -> int:
    """The record left that is farthest from `seed`, the first of equals. `point` is the seed's."""
    tiles, members, reach = rim.tiles, rim.members, rim.reach  # taken out once: the loops would count references
    row, distances = records[seed], np.empty(LANES, dtype=np.float32)
    from_seed = math.sqrt(_squared_distance(row, anchor)) + scale.slack
    found, best, root, limit = -1, -1.0, -1.0, np.float32(0.0)
    for block in range(first // LANES, len(tiles)):
        if reach[block * LANES] + from_seed < root:
            break
        lanes = farther_records(tiles, block, point, limit, distances)
        while lanes != 0:
            lane = lowest_lane(lanes)
            lanes &= lanes - np.uint64(1)
            if distances[lane] < limit:
                continue
            record = members[block * LANES + lane]
            distance = _squared_distance(records[record], row)
            if distance > best or (distance == best and record < found):
                found, best, root = record, distance, math.sqrt(distance)
                certain = max((root - scale.slack) * scale.factor - scale.error, 0.0)
                limit = np.float32(certain * certain * (1.0 - 2.0**-20))
    return found


@numba.njit(cache=True)
def _find_nearest(
    seed: int, point: Float32Array, records: FloatArray, tree: Tree, scale: _Scale, nearest: IntArray
) -> None:
    """Fill `nearest` with the records left that are closest to `seed`, by distance and then by number.

    The seed's own block first, then the others in its box, then in the box around that, up to the top: the limit is
    soon small. `lanes[level]` are the boxes still to be opened in block `at[level]`.
    """
    if len(nearest) == 0:
        return
    tiles, members, low, high, starts = tree.tiles, tree.members, tree.low, tree.high, tree.starts
    levels = len(starts) - 1
    at, lanes = np.zeros(levels, dtype=np.int64), np.zeros(levels, dtype=np.uint64)
    bounds = np.empty((levels, LANES), dtype=np.float32)
    reached = np.full(len(nearest), np.inf)
    nearest[:] = len(records)
    one = np.uint64(1)
    limit = np.float32(8.0)  # twice what a squared distance can be, and less than that of an empty box
    inner = tree.place[seed] // LANES
    found = nearer_records(tiles, inner, point, limit, bounds[0])
    limit = _let_in(found, bounds[0], members[inner * LANES :], seed, records, scale, nearest, reached, limit)
    for top in range(1, levels):
        level, at[top] = top, inner // LANES
        lanes[top] = nearer_boxes(low, high, starts[top] + at[top], point, limit, bounds[top])
        lanes[top] &= ~(one << np.uint64(inner % LANES))
        inner //= LANES
        while level < top or lanes[top] != 0:
            if lanes[level] == 0:
                level += 1
                continue
            lane = lowest_lane(lanes[level])
            lanes[level] &= lanes[level] - one
            if bounds[level, lane] > limit:
                continue
            block = at[level] * LANES + lane
            if level > 1:
                level -= 1
                at[level] = block
                lanes[level] = nearer_boxes(low, high, starts[level] + block, point, limit, bounds[level])
                continue
            found = nearer_records(tiles, block, point, limit, bounds[0])
            if found != 0:
                limit = _let_in(
                    found, bounds[0], members[block * LANES :], seed, records, scale, nearest, reached, limit
                )


@numba.njit(cache=True)
def _let_in(
    lanes: np.uint64,
    distances: Float32Array,
    members: IntArray,
    seed: int,
    records: FloatArray,
    scale: _Scale,
    nearest: IntArray,
    reached: FloatArray,
    limit: np.float32,
) -> np.float32:
    """Let the records found into `nearest`, whose squared distances are `reached`; both stay in order.

    Returns the squared screened distance beyond which no record can come in.
    """
    last = len(nearest) - 1
    while lanes != 0:
        lane = lowest_lane(lanes)
        lanes &= lanes - np.uint64(1)
        if distances[lane] > limit:
            continue
        record = members[lane]
        distance = _squared_distance(records[record], records[seed])
        if distance > reached[last] or (distance == reached[last] and record > nearest[last]):
            continue
        i = last
        while i > 0 and (distance < reached[i - 1] or (distance == reached[i - 1] and record < nearest[i - 1])):
            reached[i], nearest[i] = reached[i - 1], nearest[i - 1]
            i -= 1
        reached[i], nearest[i] = distance, record
        possible = (math.sqrt(reached[last]) + scale.slack) * scale.factor + scale.error
        limit = np.float32(min(possible * possible * (1.0 + 2.0**-20), 8.0))
    return limit

"""The loops of the nearest-neighbour search: four queries at a time against blocks of 64 points.

Points that lie near each other share a block, and so do queries. A block in which no query's k-th neighbour can be
bettered is passed over. The others are screened in single
precision: first along the main axes with the length of what lies off them (by Cauchy and Schwarz no distance is longer
there), then along all axes. Whatever is left is measured in float64 on the given rows.

The screen is written for LLVM directly: it keeps its 256 sums in registers and returns those within reach as bits. As
plain Numba loops, which write every sum and read it again, it took about twice as long.
"""

import math
from collections.abc import Callable
from typing import Any

import llvmlite.ir
import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

Float32Array = npt.NDArray[np.float32]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

LANES = 16  # points in a vector
PARTS = 4  # vectors in a block
POINTS = LANES * PARTS
QUERIES = 4  # in a group, which shares what is read of a block
OFF, LENGTH, AXES = 0, 1, 2  # rows of a block: length off the main axes, squared length, and from here on coordinates

_ALL_LANES = np.uint64(2**LANES - 1)

ir: Any = llvmlite.ir  # has no types
_INDEX, _WORD = ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(ir.FloatType(), LANES)


class _Products:
    """Code that adds up products of the rows of a block of points with the same rows of a group of queries."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        points, queries, self.limits, *self.found = (
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args, arguments, strict=True)
            if isinstance(kind, types.Array)
        )
        self.points, self.queries, self.builder = points, queries, builder
        _, self.block, _, self.group, self.first, self.last, *_ = arguments
        shape = context.make_array(signature.args[0])(context, builder, arguments[0]).shape
        self.rows = cgutils.unpack_tuple(builder, shape)[2]

    def spread(self, scalar: Any) -> Any:
        nothing = ir.Constant(_VECTOR, ir.Undefined)
        first = self.builder.insert_element(nothing, scalar, _WORD(0))
        return self.builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(_WORD, LANES), None))

    def at(self, row: Any, part: Any) -> Any:
        """A row of 16 points of the block."""
        place = self.builder.add(self.builder.mul(self.block, _INDEX(PARTS)), part)
        place = self.builder.mul(self.builder.add(self.builder.mul(place, self.rows), row), _INDEX(LANES))
        lanes = self.builder.bitcast(self.builder.gep(self.points, [place]), _VECTOR.as_pointer())
        return self.builder.load(lanes, align=4)

    def of(self, row: Any, query: Any) -> Any:
        """A row of one query of the group, in all lanes."""
        place = self.builder.add(self.builder.mul(self.group, self.rows), row)
        place = self.builder.add(self.builder.mul(place, _INDEX(QUERIES)), query)
        return self.spread(self.builder.load(self.builder.gep(self.queries, [place])))

    def sums(self, count: int, step: int, factors: Callable[[Any], list[tuple[Any, Any]]]) -> list[Any]:
        """So many sums over every `step`-th row, of the pairs of vectors that `factors(row)` gives for them."""
        builder, kind = self.builder, ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        multiply_add = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{LANES}f32")
        sums = [cgutils.alloca_once(builder, _VECTOR) for _ in range(count)]
        for total in sums:
            builder.store(ir.Constant(_VECTOR, None), total)
        with cgutils.for_range_slice(builder, self.first, self.last, _INDEX(step), _INDEX) as (row, _):
            for total, pair in zip(sums, factors(row), strict=True):
                builder.store(builder.call(multiply_add, [*pair, builder.load(total)]), total)
        return [builder.load(total) for total in sums]

    def within(self, total: Any, query: Any) -> Any:
        """A bit for each lane that is not above the query's limit; a sum that is not a number is not."""
        limit = self.spread(self.builder.load(self.builder.gep(self.limits, [query])))
        lanes = self.builder.fcmp_unordered("<=", total, limit)
        return self.builder.zext(self.builder.bitcast(lanes, ir.IntType(LANES)), _INDEX)


@intrinsic
def _within(
    _: Any, blocks: Any, block: Any, query_blocks: Any, group: Any, first: Any, last: Any, limits: Any, found: Any
) -> Any:
    """Which points of a block have, for which queries of a group, a sum of products that is not above the limit.

    blocks, query_blocks : shapes (b, 4, rows, 16) and (g, rows, 4); the products of rows first..last - 1 are added up
    limits, found : shape (4,); bit 16 p + j of found[i] is set for query i and point j of part p
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        products = _Products(context, builder, signature, arguments)

        def factors(row: Any) -> list[tuple[Any, Any]]:
            points = [products.at(row, _INDEX(part)) for part in range(PARTS)]
            queries = [products.of(row, _INDEX(i)) for i in range(QUERIES)]
            return [(lanes, factor) for factor in queries for lanes in points]

        sums = products.sums(QUERIES * PARTS, 1, factors)
        for i in range(QUERIES):
            bits = _INDEX(0)
            for part in range(PARTS):
                lanes = products.within(sums[i * PARTS + part], _INDEX(i))
                bits = builder.or_(bits, builder.shl(lanes, _INDEX(LANES * part)))
            builder.store(bits, builder.gep(products.found[0], [_INDEX(i)]))
        return context.get_dummy_value()

    return types.void(blocks, types.int64, query_blocks, types.int64, types.int64, types.int64, limits, found), generate


@intrinsic
def _within_one(
    _: Any,
    blocks: Any,
    block: Any,
    query_blocks: Any,
    group: Any,
    first: Any,
    last: Any,
    limits: Any,
    query: Any,
    part: Any,
) -> Any:
    """The same for one query and one part of a block, over a multiple of four rows; bit j for point j of the part."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        products = _Products(context, builder, signature, arguments)
        *_, query, part = arguments

        def factors(row: Any) -> list[tuple[Any, Any]]:
            rows = [builder.add(row, _INDEX(i)) for i in range(4)]
            return [(products.at(each, part), products.of(each, query)) for each in rows]

        one, two, three, four = products.sums(4, 4, factors)
        return products.within(builder.fadd(builder.fadd(one, two), builder.fadd(three, four)), query)

    kinds = (blocks, types.int64, query_blocks, types.int64, types.int64, types.int64, limits, types.int64, types.int64)
    return types.uint64(*kinds), generate


@intrinsic
def _lowest_bit(_: Any, bits: Any) -> Any:
    """The place of the first bit that is set; there must be one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.uint64), generate


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"})
def _squared_distance(one: FloatArray, other: FloatArray) -> float:
    total = 0.0
    for c in range(len(one)):
        difference = one[c] - other[c]
        total += difference * difference
    return total


@numba.njit(cache=True, nogil=True)
def _block_distances(query: Float32Array, low: Float32Array, high: Float32Array, distances: Float32Array) -> None:
    """Squared distance of a query, shape (rows,), to the edges of each block, `low` and `high` of shape (rows, b)."""
    distances[:] = 0.0
    for row in range(len(low)):
        if row == LENGTH:
            continue
        place, least, most = query[row], low[row], high[row]
        for block in range(len(distances)):
            gap, above = least[block] - place, place - most[block]
            gap = above if above > gap else gap
            gap = np.float32(0.0) if gap < np.float32(0.0) else gap
            distances[block] += gap * gap


@numba.njit(cache=True, nogil=True)
def _insert(squared: FloatArray, found: IntArray, distance: float, point: int) -> None:
    """Put a point in its place among the nearest, both of shape (k,), ordered by (squared distance, point)."""
    place = len(squared) - 1
    if distance > squared[place] or (distance == squared[place] and point > found[place]):
        return
    while place > 0 and (
        squared[place - 1] > distance or (squared[place - 1] == distance and found[place - 1] > point)
    ):
        squared[place], found[place] = squared[place - 1], found[place - 1]
        place -= 1
    squared[place], found[place] = distance, point


@numba.njit(cache=True, nogil=True)
def _reach(
    i: int, worst: float, squared_length: float, slack: float, d: int, reaches: FloatArray, limits: Float32Array
) -> None:
    """Set how far the i-th query of a call still looks: `reaches`, of the call, and `limits`, of its group."""
    length = math.sqrt(squared_length)
    farthest = length + math.sqrt(worst)  # so long is a point within reach at most
    reach = worst + slack * (2.0 * length + farthest) * farthest + d * 2.0**-120
    reaches[i], limits[i % QUERIES] = reach, reach - squared_length


@numba.njit(cache=True, nogil=True)
def search(
    blocks: Float32Array,
    members: IntArray,
    low: Float32Array,
    high: Float32Array,
    query_blocks: Float32Array,
    queries: FloatArray,
    points: FloatArray,
    lengths: FloatArray,
    skipped: IntArray,
    slack: float,
    bounds: FloatArray,
    squared: FloatArray,
    found: IntArray,
    numbers: IntArray,
    first: int,
    last: int,
) -> tuple[int, int]:
    """Find the nearest points of the queries in groups first..last - 1, which should be few, and near each other.

    The points may come in parts, one call after the other: each betters what the parts before it left.

    blocks         : (b, 4, rows, 16), a row each for the length off the main axes, the squared length, and the axes;
                     rows of zeros make up a multiple of four and one
    members        : (64 b,), the point in each place, -1 for none
    low, high      : (2 + a, b), the edges of the blocks, along the a main axes and off them
    query_blocks          : (g, rows, 4), the queries as blocks are, times -2, and 1 for the squared length
    queries        : (4 g, d), and `points`, (m, d); `lengths` and `skipped`, (4 g,), the queries' squared lengths and
                     the point that each must not find, -1 for none
    slack          : relative error of the screen
    bounds         : (4 g,), the k-th neighbour's squared distance is known not to be larger; infinite if nothing is
    squared, found : (4 g, k), bettered: the nearest by (squared distance, number of the point), infinite and -1 where
                     there are none yet
    numbers        : (m,), of these points among all
    returns        : how many blocks were screened for a group and, in the second place, how many vectors for a query
    """
    d, k = queries.shape[1], squared.shape[1]
    main, rows, width = low.shape[0], blocks.shape[2], len(blocks)
    begin, end = first * QUERIES, last * QUERIES
    distances = np.empty((end - begin, width), np.float32)
    limits = np.full((last - first, QUERIES), np.inf, np.float32)  # of the screen: |p|^2 - 2 p.q
    reaches = np.full(end - begin, np.inf)  # of the blocks: |p - q|^2
    seen = np.zeros((last - first, width), np.bool_)
    within = np.empty(QUERIES, np.uint64)
    screened, looked_at = 0, 0
    for i in range(end - begin):
        worst = min(bounds[begin + i], squared[begin + i, k - 1])
        if worst < np.inf:
            _reach(i, worst, lengths[begin + i], slack, d, reaches, limits[i // QUERIES])
        place = query_blocks[first + i // QUERIES, :, i % QUERIES] * np.float32(-0.5)
        _block_distances(place, low, high, distances[i])
    # The nearest block of each query first: hardly another one is then near enough.
    for turn in range(end - begin + width):
        block = int(np.argmin(distances[turn])) if turn < end - begin else turn - (end - begin)
        for group in range(first, last):
            start = (group - first) * QUERIES
            near = False
            for i in range(start, start + QUERIES):  # infinite may be a distance that single precision cannot hold
                near |= not distances[i, block] > reaches[i] or distances[i, block] == np.inf
            if seen[group - first, block] or not near:
                continue
            seen[group - first, block] = True
            limit = limits[group - first]
            screened += 1
            _within(blocks, block, query_blocks, group, 0, main, limit, within)
            for i in range(QUERIES):
                query = group * QUERIES + i
                while within[i] != 0:
                    part = _lowest_bit(within[i]) // LANES
                    lane = part * LANES
                    lanes = (within[i] >> np.uint64(lane)) & _ALL_LANES
                    within[i] &= ~(_ALL_LANES << np.uint64(lane))
                    if main < AXES + d:
                        looked_at += 1
                        lanes &= _within_one(blocks, block, query_blocks, group, LENGTH, rows, limit, i, part)
                    while lanes != 0:
                        point = members[block * POINTS + lane + _lowest_bit(lanes)]
                        lanes &= lanes - np.uint64(1)
                        if point < 0 or numbers[point] == skipped[query]:
                            continue
                        exact = _squared_distance(queries[query], points[point])
                        scaled = 4097.0 * exact  # Dekker's splitting, to 41 bits: equal distances tie, however summed
                        _insert(squared[query], found[query], scaled - (scaled - exact), numbers[point])
                        worst = min(bounds[query], squared[query, k - 1])
                        _reach(start + i, worst, lengths[query], slack, d, reaches, limit)
    return screened, looked_at


@numba.njit(cache=True, nogil=True)
def nearest_of_groups(
    queries: FloatArray, points: FloatArray, numbers: IntArray, starts: IntArray, stops: IntArray, skipped: IntArray,
    squared: FloatArray, found: IntArray,
) -> None:  # fmt: skip
    """Each query's nearest of the points starts..stops - 1, one by one; as in `search`, and rounded alike."""
    for query in range(len(queries)):
        for point in range(starts[query], stops[query]):
            if numbers[point] == skipped[query]:
                continue
            exact = _squared_distance(queries[query], points[point])
            scaled = 4097.0 * exact
            _insert(squared[query], found[query], scaled - (scaled - exact), numbers[point])

"""How the nearest-neighbour search lays out points: those that are near each other side by side, in blocks of a few."""

import math
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from sluice.ground.quickselect_kernel import select

Float32Array = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

_LOOKED_AT = 64  # rows that tell along which axis some of them spread most


@numba.njit(cache=True, nogil=True)
def beside_each_other(points: Float32Array, together: int) -> IntArray:
    """An order of the rows in which runs of `together` are near each other: halved along the widest axis, ever again.

    points : shape (n, a); a place that is not finite lies anywhere
    cost   : O(n log(n / together)) time, 12 bytes a row
    """
    n, axes = points.shape
    order, keys = np.arange(n), np.empty(n, np.float32)
    waiting = [(0, n)]
    while waiting:
        start, stop = waiting.pop()
        runs = (stop - start - 1) // together + 1
        if runs < 2:
            continue
        widest, axis = np.float32(-1.0), 0
        for candidate in range(axes):
            low, high = np.float32(np.inf), np.float32(-np.inf)
            for at in range(start, stop, max(1, (stop - start) // _LOOKED_AT)):
                place = points[order[at], candidate]
                low, high = min(low, place), max(high, place)
            if high - low > widest:
                widest, axis = high - low, candidate
        for at in range(start, stop):
            place = points[order[at], axis]
            keys[at] = np.float32(0.0) if math.isnan(place) else place
        middle = start + (runs // 2) * together
        select(keys, order, start, stop - 1, middle)
        waiting.append((start, middle))
        waiting.append((middle, stop))
    return order


@numba.njit(cache=True, nogil=True)
def fill_blocks(turned: Float32Array, order: IntArray, blocks: npt.NDArray[Any], largest: float) -> None:
    """Put rows into blocks, shape (b, 2 + d, lanes), in this order, -1 for none; `_in_blocks` says how they look.

    turned  : shape (n, d)
    order   : shape (b lanes,)
    largest : of a squared length that single precision may hold
    """
    lanes, d = blocks.shape[2], turned.shape[1]
    for block in range(len(blocks)):
        for lane in range(lanes):
            row = order[block * lanes + lane]
            if row < 0:
                blocks[block, 1, lane] = np.inf
                continue
            length = 0.0
            for axis in range(d):
                place = turned[row, axis]
                blocks[block, 2 + axis, lane] = place
                length += np.float64(place) * np.float64(place)
            blocks[block, 1, lane] = np.nan if length > largest else length

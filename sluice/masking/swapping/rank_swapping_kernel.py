"""The loops of rank swapping: which rank swaps with which, for each variant (see `rank_swapping`).

Each takes every rank once, from the lowest, and seeks its partner among the ranks that are still free. Partners are
drawn by rejection; where that fails (near the top, where few are free) the free ones are looked through.
"""

import numba
import numpy as np
import numpy.typing as npt
from numpy.random import Generator

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_TRIES = 64  # draws for a free partner before the free ones are looked through


@numba.njit(cache=True)
def shuffle_ties(order: IntArray, values: FloatArray, rng: Generator) -> None:
    """Bring each run of equal values in `order` into random order (Fisher-Yates)."""
    start = 0
    for end in range(1, len(order) + 1):
        if end < len(order) and values[order[end]] == values[order[start]]:
            continue
        for last in range(end - 1, start, -1):
            other = start + int(rng.random() * (last - start + 1))
            order[last], order[other] = order[other], order[last]
        start = end


@numba.njit(cache=True)
def partners_within(n: int, reach: int, rng: Generator) -> IntArray:
    """Plain: a uniform free rank among the `reach` next ones. A rank that finds none keeps its own."""
    partners = np.arange(n)
    free = np.ones(n, dtype=np.bool_)
    for rank in range(n):
        if not free[rank]:
            continue
        free[rank] = False
        within = min(reach, n - 1 - rank)
        chosen = -1
        for _ in range(min(_TRIES, within)):
            candidate = rank + 1 + int(rng.random() * within)
            if free[candidate]:
                chosen = candidate
                break
        if chosen < 0:
            remaining = 0
            for candidate in range(rank + 1, rank + 1 + within):
                remaining += free[candidate]
            skip = int(rng.random() * remaining)
            for candidate in range(rank + 1, rank + 1 + within):
                if free[candidate]:
                    if skip == 0:
                        chosen = candidate
                        break
                    skip -= 1
        if chosen >= 0:
            partners[rank], partners[chosen] = chosen, rank
            free[chosen] = False
    return partners


@numba.njit(cache=True)
def partners_at_normal_distance(n: int, p: float, rng: Generator) -> IntArray:
    """p-distribution: the free rank at a distance drawn from N(p/2, p/2), in whole ranks, drawn again until it is free.

    Ranks below have their partners already, so that only distances of 1 and more can succeed. After 64 failures the
    nearest free rank above is taken; one that finds none keeps its own.
    """
    partners = np.arange(n)
    free = np.ones(n, dtype=np.bool_)
    for rank in range(n):
        if not free[rank]:
            continue
        free[rank] = False
        chosen = -1
        for _ in range(_TRIES):
            distance = np.rint(0.5 * p * (1.0 + rng.standard_normal()))
            if 1.0 <= distance <= n - 1 - rank and free[rank + int(distance)]:
                chosen = rank + int(distance)
                break
        if chosen < 0:
            for candidate in range(rank + 1, n):
                if free[candidate]:
                    chosen = candidate
                    break
        if chosen >= 0:
            partners[rank], partners[chosen] = chosen, rank
            free[chosen] = False
    return partners


@numba.njit(cache=True)
def partners_in_buckets(n: int, buckets: int, rng: Generator) -> IntArray:
    """p-buckets: for a rank of bucket r, a uniform free rank of bucket s >= r, drawn with weight 2^-(s - r + 1).

    The ranks of a bucket are taken in random order, so that all of them have the same chances. A bucket without a free
    rank is drawn again; after 64 failures the nearest one with a free rank serves. One that finds none keeps its own.
    """
    starts = np.arange(buckets + 1) * n // buckets
    left = starts[1:] - starts[:-1]  # free ranks of each bucket: the first `left` places of its part of `free`
    free = np.arange(n)
    partners = np.arange(n)
    for bucket in range(buckets):
        while left[bucket] > 0:
            rank = _taken(free, starts[bucket], left, bucket, rng)
            chosen = -1
            for _ in range(_TRIES):
                other = bucket
                while other < buckets and rng.random() < 0.5:
                    other += 1
                if other < buckets and left[other] > 0:
                    chosen = other
                    break
            if chosen < 0:
                for other in range(bucket, buckets):
                    if left[other] > 0:
                        chosen = other
                        break
            if chosen >= 0:
                partner = _taken(free, starts[chosen], left, chosen, rng)
                partners[rank], partners[partner] = partner, rank
    return partners


@numba.njit(cache=True)
def _taken(free: IntArray, start: int, left: IntArray, bucket: int, rng: Generator) -> int:
    """A random free rank of a bucket, which is no longer free."""
    left[bucket] -= 1
    last = start + left[bucket]
    place = start + int(rng.random() * (left[bucket] + 1))
    rank = free[place]
    free[place] = free[last]
    return int(rank)

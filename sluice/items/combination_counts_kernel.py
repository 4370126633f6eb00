"""The loops of combination_counts: the combinations of each record one by one, in a table of open addresses."""

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@numba.njit(cache=True, inline="always")
def _slot(table: IntArray, code: int) -> int:
    """Where a code stands, or the free place where it would."""
    mask = len(table) - 1
    slot: Any = np.int64(((np.uint64(code) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & np.uint64(mask))
    while table[slot] >= 0 and table[slot] != code:
        slot = (slot + 1) & mask
    return slot  # type: ignore[no-any-return]


@numba.njit(cache=True)
def _next(chosen: IntArray, count: int) -> bool:
    """The next combination of positions below `count` in lexicographic order; False after the last one."""
    size = len(chosen)
    at = size - 1
    while at >= 0 and chosen[at] == count - size + at:
        at -= 1
    if at < 0:
        return False
    chosen[at] += 1
    for later in range(at + 1, size):
        chosen[later] = chosen[later - 1] + 1
    return True


@numba.njit(cache=True)
def counted(starts: IntArray, items: IntArray, people: IntArray, universe: int, size: int) -> tuple[IntArray, IntArray]:
    """Codes of the combinations of `size` items that occur, and the people who have each; the records of one person
    are adjacent."""
    table, counts, last = np.full(1024, -1, np.int64), np.zeros(1024, np.int64), np.full(1024, -1, np.int64)
    filled = 0
    chosen = np.empty(size, np.int64)
    for record in range(len(starts) - 1):
        first, held = starts[record], starts[record + 1] - starts[record]
        if held < size:
            continue
        chosen[:] = np.arange(size)
        more = True
        while more:
            code = 0
            for at in chosen:
                code = code * universe + items[first + at]
            slot = _slot(table, code)
            if table[slot] < 0:
                if 2 * filled >= len(table):
                    old, old_counts, old_last = table, counts, last
                    table = np.full(4 * len(old), -1, np.int64)
                    counts, last = np.zeros(len(table), np.int64), np.full(len(table), -1, np.int64)
                    for place in range(len(old)):
                        if old[place] >= 0:
                            to = _slot(table, old[place])
                            table[to], counts[to], last[to] = old[place], old_counts[place], old_last[place]
                    slot = _slot(table, code)
                table[slot] = code
                filled += 1
            if last[slot] != people[record]:
                last[slot] = people[record]
                counts[slot] += 1
            more = _next(chosen, held)
    return table[table >= 0], counts[table >= 0]


@numba.njit(cache=True)
def hit(starts: IntArray, items: IntArray, universe: int, size: int, rare: IntArray, frequency: IntArray) -> BoolArray:
    """Occurrences of which each record's rare combinations hold one at least, few of them by a greedy choice.

    rare      : codes of combinations
    frequency : shape (universe,); of items that are in as many of the record's rare combinations the rarest goes
    returns   : shape (occurrences,)
    """
    table = np.full(max(1024, 1 << (int(np.log2(len(rare) + 1)) + 2)), -1, np.int64)
    for code in rare:
        table[_slot(table, code)] = code
    dropped = np.zeros(len(items), np.bool_)
    chosen = np.empty(size, np.int64)
    for record in range(len(starts) - 1):
        first, held = starts[record], starts[record + 1] - starts[record]
        if held < size:
            continue
        while True:
            within = np.zeros(held, np.int64)
            chosen[:] = np.arange(size)
            more = True
            while more:
                code, left = 0, True
                for at in chosen:
                    code = code * universe + items[first + at]
                    left = left and not dropped[first + at]
                if left and table[_slot(table, code)] == code:
                    for at in chosen:
                        within[at] += 1
                more = _next(chosen, held)
            best = 0
            for place in range(1, held):
                if within[place] > within[best] or (
                    within[place] == within[best] and frequency[items[first + place]] < frequency[items[first + best]]
                ):
                    best = place
            if within[best] == 0:
                break
            dropped[first + best] = True
    return dropped

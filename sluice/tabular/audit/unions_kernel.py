"""Compiled search for unions of unknown cells whose sum follows from what is published."""

import numpy as np
from numba import njit

from sluice.tabular.model.cells import Booleans, Floats, Integers

_DEEP = 16  # cells; a combination of more is not combined with a third equation
_WIDE = 64  # and one of more not with a second


@njit(cache=True, nogil=True)
def _add(
    row: int,
    factor: float,
    starts: Integers,
    columns: Integers,
    signs: Floats,
    amount: Floats,
    inside: Booleans,
    support: Integers,
    count: int,
) -> int:
    """Add a multiple of a row to the combination; cells that cancel stay in the list with amount 0."""
    for k in range(starts[row], starts[row + 1]):
        cell = columns[k]
        amount[cell] += factor * signs[k]
        if not inside[cell]:
            inside[cell] = True
            support[count] = cell
            count += 1
    return count


@njit(cache=True, nogil=True)
def _undo(
    row: int,
    factor: float,
    before: int,
    starts: Integers,
    columns: Integers,
    signs: Floats,
    amount: Floats,
    inside: Booleans,
    support: Integers,
    count: int,
) -> int:
    for k in range(starts[row], starts[row + 1]):
        amount[columns[k]] -= factor * signs[k]
    for k in range(before, count):
        inside[support[k]] = False
    return before


@njit(cache=True, nogil=True)
def _grown(array: Integers, length: int) -> Integers:
    if length <= len(array):
        return array
    larger = np.zeros(max(length, 2 * len(array)), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


@njit(cache=True, nogil=True)
def _new(key: np.int64, table: Integers) -> bool:
    """Whether a key is not yet in a hash table, where it is then put; 0 marks a free place."""
    at = key & (len(table) - 1)
    while table[at] != 0:
        if table[at] == key:
            return False
        at = (at + 1) & (len(table) - 1)
    table[at] = key
    return True


@njit(cache=True, nogil=True)
def _kind(
    amount: Floats, support: Integers, count: int, wanted: Booleans, keys: Integers
) -> tuple[int, bool, np.int64]:
    """Of a combination: how many cells it holds, whether it is the plain sum of them, one wanted, and their key."""
    above, below, single, hit, key = 0, 0, True, False, np.int64(0)
    for k in range(count):
        cell = support[k]
        if amount[cell] == 0:
            continue
        above += amount[cell] > 0
        below += amount[cell] < 0
        single &= abs(amount[cell]) == 1
        hit |= wanted[cell]
        key += keys[cell]
    plain = single and hit and above + below > 0 and (above == 0 or below == 0)
    return above + below, plain, (key & np.int64(2**62 - 1)) | np.int64(1 << 62)


@njit(cache=True, nogil=True)
def known_unions(
    starts: Integers,
    columns: Integers,
    signs: Floats,
    cell_starts: Integers,
    cell_rows: Integers,
    wanted: Booleans,
    keys: Integers,
    depth: int,
) -> tuple[Integers, Integers]:
    """Sets of cells whose plain sum is a combination of up to `depth` (1 to 3) equations, if one of them is wanted.

    starts, columns, signs : equations between unknown cells, by row; cell_starts, cell_rows: the rows of each cell
    wanted                 : shape (c,)
    keys                   : shape (c,), random positive numbers; their sum stands for a set
    returns                : starts and members of each set; each set once
    """
    number = len(cell_starts) - 1
    amount, inside = np.zeros(number), np.zeros(number, dtype=np.bool_)
    support = np.empty(number, dtype=np.int64)
    table, held = np.zeros(1 << 16, dtype=np.int64), 0
    ends, members = np.zeros(1024, dtype=np.int64), np.zeros(8192, dtype=np.int64)
    # of each level: its row and factor, the cells before it, and which pivot and which of the pivot's rows come next
    rows, factor, before = np.full(3, -1, dtype=np.int64), np.zeros(3), np.zeros(3, dtype=np.int64)
    pivot, next_row = np.zeros(3, dtype=np.int64), np.zeros(3, dtype=np.int64)
    for start in range(len(starts) - 1):
        useful = False
        for k in range(starts[start], starts[start + 1]):
            useful |= wanted[columns[k]]
        if not useful:
            continue
        rows[0], level = start, 0
        count = _add(start, 1.0, starts, columns, signs, amount, inside, support, 0)
        while True:
            size, plain, key = _kind(amount, support, count, wanted, keys)
            if plain and _new(key, table):
                ends = _grown(ends, held + 2)
                members = _grown(members, ends[held] + size)
                at = ends[held]
                for k in range(count):
                    if amount[support[k]] != 0:
                        members[at] = support[k]
                        at += 1
                held += 1
                ends[held] = at
                if 2 * held > len(table):
                    old = table
                    table = np.zeros(4 * len(old), dtype=np.int64)
                    for k in range(len(old)):
                        if old[k] != 0:
                            _new(old[k], table)
            if level + 1 < depth and size <= (_WIDE if level == 0 else _DEEP):
                level += 1
                rows[level], before[level], pivot[level] = -1, count, -1
            placed = False
            while level > 0 and not placed:  # the next row of this level; of the one above where there is none
                if rows[level] >= 0:
                    count = _undo(
                        rows[level], factor[level], before[level],
                        starts, columns, signs, amount, inside, support, count,
                    )  # fmt: skip
                    rows[level] = -1
                if pivot[level] < 0 or next_row[level] == cell_starts[support[pivot[level]] + 1]:
                    pivot[level] += 1
                    while pivot[level] < count and abs(amount[support[pivot[level]]]) != 1:
                        pivot[level] += 1
                    if pivot[level] == count:
                        level -= 1
                    else:
                        next_row[level] = cell_starts[support[pivot[level]]]
                    continue
                cell, row = support[pivot[level]], cell_rows[next_row[level]]
                next_row[level] += 1
                if row in rows[:level]:
                    continue
                for k in range(starts[row], starts[row + 1]):
                    if columns[k] == cell:
                        factor[level] = -amount[cell] * signs[k]
                rows[level] = row
                count = _add(row, factor[level], starts, columns, signs, amount, inside, support, count)
                placed = True
            if not placed:
                break
        _undo(start, 1.0, 0, starts, columns, signs, amount, inside, support, count)
    return ends[: held + 1], members[: ends[held]]

"""The loops of secondary suppression: cheap boxes, and the few cells that a linear program needs to look at."""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Integers = NDArray[np.int64]


@numba.njit(cache=True)
def _unknown_at(key: int, keys: Codes, unknown: Codes) -> Any:
    at = np.searchsorted(keys, key)
    if at == len(keys) or keys[at] != key:
        return -2
    return unknown[at]


@numba.njit(cache=True)
def cheapest_box(
    codes: Codes,
    strides: Codes,
    offset: Codes,
    start: Codes,
    path_at: Codes,
    path_code: Codes,
    path_sign: Codes,
    keys: Codes,
    unknown: Codes,
    price: Floats,
    down: Floats,
    up: Floats,
    level: float,
    limit: float,
    seen: Codes,
) -> Any:
    """The box around the cell of these codes, numbered through all dimensions, with the least price below `limit`.

    keys, unknown : shape (c,), the sorted keys of all cells, and the unknown of each, -1 where it may not change
    price         : shape (u,), infinite for an unknown that may not change
    down, up      : shape (u,), how far each may change
    seen          : shape (u,), scratch: 0 everywhere, before and after
    returns       : price (infinite: none), unknowns, signs
    """
    d = len(codes)
    largest = 1
    for axis in range(d):
        longest = 0
        for path in range(start[codes[axis]], start[codes[axis] + 1]):
            longest = max(longest, path_at[path + 1] - path_at[path])
        largest *= longest
    best_cells = np.empty(largest, np.int32)
    best_signs = np.empty(largest, np.int8)
    cells = np.empty(largest, np.int32)
    signs = np.empty(largest, np.int8)
    best, best_count = limit, 0
    trail = np.empty(d, np.int64)
    entry = np.empty(d, np.int64)
    for axis in range(d):
        trail[axis] = start[codes[axis]]
        if trail[axis] == start[codes[axis] + 1]:
            return np.inf, best_cells[:0], best_signs[:0]
    while True:
        cost, count, fits = 0.0, 0, True
        for axis in range(d):
            entry[axis] = path_at[trail[axis]]
        while fits:
            key, sign = 0, 1
            for axis in range(d):
                key += (path_code[entry[axis]] - offset[axis]) * strides[axis]
                sign *= path_sign[entry[axis]]
            cell = _unknown_at(key, keys, unknown)
            if cell < 0:
                fits = False
            elif seen[cell] == 0:
                room = up[cell] if sign > 0 else down[cell]
                cost += price[cell]
                if room < level or cost >= best:
                    fits = False
                else:
                    seen[cell] = 1
                    cells[count], signs[count] = cell, sign
                    count += 1
            axis = d - 1
            while axis >= 0:
                entry[axis] += 1
                if entry[axis] < path_at[trail[axis] + 1]:
                    break
                entry[axis] = path_at[trail[axis]]
                axis -= 1
            if axis < 0:
                break
        for at in range(count):
            seen[cells[at]] = 0
        if fits:
            best, best_count = cost, count
            best_cells[:count], best_signs[:count] = cells[:count], signs[:count]
            if cost == 0:
                break
        axis = d - 1
        while axis >= 0:
            trail[axis] += 1
            if trail[axis] < start[codes[axis] + 1]:
                break
            trail[axis] = start[codes[axis]]
            axis -= 1
        if axis < 0:
            break
    if best_count == 0:
        return np.inf, best_cells[:0], best_signs[:0]
    return best, best_cells[:best_count], best_signs[:best_count]


@numba.njit(cache=True)
def block(
    targets: Codes,
    near: NDArray[np.bool_],
    everywhere: bool,
    most: int,
    codes: Codes,
    price: Floats,
    limit: float,
    down: Floats,
    up: Floats,
    row_start: Codes,
    row_cell: Codes,
    column_start: Codes,
    column_row: Codes,
    column_sign: Floats,
    place: Codes,
    active: Codes,
) -> Any:
    """The linear program of the unknowns that may change and are connected with the targets.

    near          : shape (codes,), whether a code, numbered through all dimensions, lies in the block
    most          : unknowns; no further ones are taken in when there are as many
    limit         : dearer unknowns stay as they are
    place, active : shapes (u,) and (e,), scratch: -1 and 0 everywhere, before and after
    returns       : unknowns, number of rows, start, row and sign of the entries by unknown

    An unknown that stands alone in a row cannot change; it is dropped, and so on.
    """
    d = codes.shape[1]
    queue = np.empty(len(place), np.int32)
    rows = np.empty(len(active), np.int32)
    count, row_count = 0, 0
    for target in targets:
        place[target] = 0
        queue[count] = target
        count += 1
    head = 0
    while head < count:
        cell = queue[head]
        head += 1
        for at in range(column_start[cell], column_start[cell + 1]):
            row = column_row[at]
            if active[row]:
                continue
            rows[row_count] = row
            row_count += 1
            for other_at in range(row_start[row], row_start[row + 1]):
                other = row_cell[other_at]
                if place[other] < 0:
                    if count >= most or price[other] > limit or (down[other] <= 0 and up[other] <= 0):
                        continue
                    if not everywhere:
                        inside = True
                        for axis in range(d):
                            if not near[codes[other, axis]]:
                                inside = False
                                break
                        if not inside:
                            continue
                    place[other] = 0
                    queue[count] = other
                    count += 1
                active[row] += 1
    # drop what stands alone
    stack = np.empty(row_count, np.int32)
    height = 0
    for at in range(row_count):
        if active[rows[at]] == 1:
            stack[height] = rows[at]
            height += 1
    while height:
        height -= 1
        row = stack[height]
        if active[row] != 1:
            continue
        for at in range(row_start[row], row_start[row + 1]):
            cell = row_cell[at]
            if place[cell] == 0:
                place[cell] = -2
                for other_at in range(column_start[cell], column_start[cell + 1]):
                    other = column_row[other_at]
                    active[other] -= 1
                    if active[other] == 1:
                        stack[height] = other
                        height += 1
    left = 0
    for at in range(row_count):
        row = rows[at]
        if active[row]:
            active[row] = left  # its number
            left += 1
        else:
            active[row] = -1
    kept, entries = 0, 0
    cells = np.empty(count, np.int32)
    for at in range(count):
        if place[queue[at]] == 0:
            cells[kept] = queue[at]
            kept += 1
            entries += column_start[queue[at] + 1] - column_start[queue[at]]
    entry_start = np.zeros(kept + 1, np.int32)
    entry_row = np.empty(entries, np.int32)
    entry_sign = np.empty(entries, np.float64)
    filled = 0
    for at in range(kept):
        for entry in range(column_start[cells[at]], column_start[cells[at] + 1]):
            entry_row[filled] = active[column_row[entry]]
            entry_sign[filled] = column_sign[entry]
            filled += 1
        entry_start[at + 1] = filled
    for at in range(count):
        place[queue[at]] = -1
    for at in range(row_count):
        active[rows[at]] = 0
    return cells[:kept], left, entry_start, entry_row, entry_sign


@numba.njit(cache=True)
def merged_contributions(
    start: Integers, member: Integers, total: Integers, contributors: Integers, largest: Integers, owners: Integers
) -> Any:
    """What the rules look at, of unions of cells; contributors of several of their cells are one each.

    start, member : the cells of union k are member[start[k] : start[k + 1]]
    returns       : total, contributors (at least so many), largest and owners of each union

    Where the list of a cell is cut off, everybody not on it is taken to have as much there as the last on it, so that
    no union looks safer than it is.
    """
    unions, t = len(start) - 1, largest.shape[1]
    sums = np.zeros(unions, np.int64)
    counts = np.zeros(unions, np.int64)
    top = np.zeros((unions, t), np.int64)
    whose = np.full((unions, t), -1, np.int64)
    for union in range(unions):
        size = (start[union + 1] - start[union]) * t
        owner = np.empty(size, np.int64)
        share = np.empty(size, np.int64)
        listed, everywhere = 0, 0
        for at in range(start[union], start[union + 1]):
            cell = member[at]
            sums[union] += total[cell]
            counts[union] = max(counts[union], contributors[cell])
            unlisted = max(0, largest[cell, t - 1]) if contributors[cell] > t else 0
            everywhere += unlisted
            for rank in range(t):
                if owners[cell, rank] >= 0:
                    owner[listed] = owners[cell, rank]
                    share[listed] = largest[cell, rank] - unlisted
                    listed += 1
        order = np.argsort(owner[:listed], kind="mergesort")
        distinct, begin = 0, 0
        while begin < listed:
            end, sum_of = begin, everywhere
            while end < listed and owner[order[end]] == owner[order[begin]]:
                sum_of += share[order[end]]
                end += 1
            distinct += 1
            rank = t
            while rank > 0 and (whose[union, rank - 1] < 0 or top[union, rank - 1] < sum_of):
                rank -= 1
            if rank < t:
                for below in range(t - 1, rank, -1):
                    top[union, below] = top[union, below - 1]
                    whose[union, below] = whose[union, below - 1]
                top[union, rank] = sum_of
                whose[union, rank] = owner[order[begin]]
            begin = end
        counts[union] = max(counts[union], distinct)
    return sums, counts, top, whose


@numba.njit(cache=True)
def largest_parts(start: Integers, end: Integers, unknown: Integers, part: Integers, largest: Integers) -> Any:
    """The unknowns of several contributors, each once, and the largest part that one of them has in it.

    start, end    : where in `unknown` and `part` each contributor's entries lie
    unknown, part : shape (entries,), parts are 0 or more
    largest       : shape (u,), scratch: -1 everywhere, before and after
    """
    found = np.empty((end - start).sum(), np.int64)
    count = 0
    for each in range(len(start)):
        for at in range(start[each], end[each]):
            if largest[unknown[at]] < 0:
                found[count] = unknown[at]
                count += 1
            largest[unknown[at]] = max(largest[unknown[at]], part[at])
    most = largest[found[:count]]
    largest[found[:count]] = -1
    return found[:count], most


@numba.njit(cache=True)
def known_unions(
    seeds: Codes,
    active: NDArray[np.bool_],
    sensitive: NDArray[np.bool_],
    row_start: Codes,
    row_cell: Codes,
    row_sign: Floats,
    column_start: Codes,
    column_row: Codes,
    code: NDArray[np.int64],
    depth: int,
    most: int,
) -> Any:
    """Sets of unknowns in doubt whose sum follows from at most `depth` rows, added and subtracted, one of them a seed.

    code    : shape (u,), a random number for each unknown, by which sums of rows are told apart
    most    : combinations of rows that are looked at from one seed
    returns : start and member of the sets that hold a sensitive unknown
    """
    size = np.zeros(len(active), np.int64)  # of each unknown in the present combination
    starts = [0]
    members = [np.int64(0) for _ in range(0)]
    known = {np.int64(0)}
    rows = np.empty((most, depth), np.int64)
    signs = np.empty((most, depth), np.int64)
    lengths = np.empty(most, np.int64)
    touched = np.empty(depth * len(active), np.int64)  # an unknown may stand in every row of a combination
    for seed in seeds:
        seen = {np.int64(0)}
        rows[0, 0], signs[0, 0], lengths[0] = seed, 1, 1
        head, count = 0, 1
        while head < count:
            reached = 0
            for step in range(lengths[head]):
                row = rows[head, step]
                for at in range(row_start[row], row_start[row + 1]):
                    cell = row_cell[at]
                    if active[cell]:
                        size[cell] += signs[head, step] * np.int64(row_sign[at])
                        touched[reached] = cell
                        reached += 1
            plus, minus, other, holds, name = 0, 0, 0, False, np.int64(0)
            kept = 0
            for at in range(reached):
                cell = touched[at]
                if size[cell] == 0:
                    continue
                name += size[cell] * code[cell]
                if size[cell] == 1:
                    plus += 1
                elif size[cell] == -1:
                    minus += 1
                else:
                    other += 1
                holds |= sensitive[cell]
                size[cell] = 0
                touched[kept] = cell
                kept += 1
            name = name if name > 0 else -name
            if name not in seen:
                seen.add(name)
                if other == 0 and (plus == 0 or minus == 0) and holds and name not in known:
                    known.add(name)
                    for at in range(kept):
                        members.append(touched[at])
                    starts.append(len(members))
                if lengths[head] < depth:
                    for at in range(kept):
                        cell = touched[at]
                        for near in range(column_start[cell], column_start[cell + 1]):
                            row = column_row[near]
                            used = False
                            for step in range(lengths[head]):
                                used |= rows[head, step] == row
                            if used:
                                continue
                            for sign in (-1, 1):
                                if count < most:
                                    for step in range(lengths[head]):
                                        rows[count, step] = rows[head, step]
                                        signs[count, step] = signs[head, step]
                                    rows[count, lengths[head]] = row
                                    signs[count, lengths[head]] = sign
                                    lengths[count] = lengths[head] + 1
                                    count += 1
            head += 1
    return np.array(starts), np.array(members)

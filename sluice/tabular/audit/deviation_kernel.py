"""Compiled search for deviations near one cell: a small dense linear program at a time.

Only successes count, and each is checked by plain arithmetic before it is handed back; where the search fails, a solver
decides over everything.
"""

import numpy as np
from numba import njit

from sluice.tabular.model.cells import Booleans, Floats, Integers

_ZERO = 1e-9


@njit(cache=True, nogil=True)
def _room(cell: int, sense: int, low: Floats, high: Floats) -> float:
    """How far a cell can move both ways (sense 0), or one way or the other."""
    return float(min(-low[cell], high[cell]) if sense == 0 else max(-low[cell], high[cell]))


@njit(cache=True, nogil=True)
def _neighbourhood(
    cell: int,
    size: int,
    least: float,
    starts: Integers,
    columns: Integers,
    cell_starts: Integers,
    cell_rows: Integers,
    sense: int,
    low: Floats,
    high: Floats,
    seen: Integers,
    row_seen: Integers,
    mark: int,
    near: Integers,
) -> int:
    """Fill `near` with up to `size` cells around one, nearest first; not those of less room than `least`, or none."""
    near[0] = cell
    seen[cell] = mark
    count, at = 1, 0
    while at < count and count < size:
        now = near[at]
        at += 1
        for k in range(cell_starts[now], cell_starts[now + 1]):
            row = cell_rows[k]
            if row_seen[row] == mark:
                continue
            row_seen[row] = mark
            for j in range(starts[row], starts[row + 1]):
                other = columns[j]
                if seen[other] != mark and count < size:
                    room = _room(other, sense, low, high)
                    if room >= least and room > 0:
                        seen[other] = mark
                        near[count] = other
                        count += 1
    return count


def neighbourhood(
    cell: int, size: int, starts: Integers, columns: Integers, signs: Floats, cell_starts: Integers, cell_rows: Integers
) -> Integers:
    """The positions of up to `size` cells around one, in rising order; see `search`."""
    number = len(cell_starts) - 1
    near, seen = np.empty(size, dtype=np.int64), np.zeros(number, dtype=np.int64)
    count = _neighbourhood(
        cell, size, 0.0, starts, columns, cell_starts, cell_rows, 0, -np.ones(number), np.ones(number),
        seen, np.zeros(len(starts) - 1, dtype=np.int64), 1, near,
    )  # fmt: skip
    return np.sort(near[:count])


@njit(cache=True, nogil=True)
def _tableau(
    near: Integers,
    count: int,
    starts: Integers,
    columns: Integers,
    signs: Floats,
    cell_starts: Integers,
    cell_rows: Integers,
    place: Integers,
    row_place: Integers,
) -> tuple[Floats, Integers]:
    """The equations of some cells, without those that only one of the cells stands in; that cell cannot move.

    returns : matrix of the rows, and the cells that are left, as positions in `near`; the first is 0 unless it is stuck
    """
    rows = np.empty(count * 8 + 8, dtype=np.int64)
    total = 0
    for k in range(count):
        place[near[k]] = k
    for k in range(count):
        for q in range(cell_starts[near[k]], cell_starts[near[k] + 1]):
            row = cell_rows[q]
            if row_place[row] < 0:
                if total == len(rows):
                    rows = np.concatenate((rows, np.empty(total, dtype=np.int64)))
                row_place[row] = total
                rows[total] = row
                total += 1
    alone = np.zeros(total, dtype=np.int64)
    active = np.ones(count, dtype=np.bool_)
    for r in range(total):
        for q in range(starts[rows[r]], starts[rows[r] + 1]):
            if place[columns[q]] >= 0:
                alone[r] += 1
    changed = True
    while changed:
        changed = False
        for r in range(total):
            if alone[r] != 1:
                continue
            for q in range(starts[rows[r]], starts[rows[r] + 1]):
                k = place[columns[q]]
                if k >= 0 and active[k]:
                    active[k] = False
                    changed = True
                    for p in range(cell_starts[near[k]], cell_starts[near[k] + 1]):
                        alone[row_place[cell_rows[p]]] -= 1
                    break
    left = np.flatnonzero(active)
    where = np.full(count, -1, dtype=np.int64)
    for n in range(len(left)):
        where[left[n]] = n
    height = 0
    for r in range(total):
        if alone[r] > 1:
            height += 1
    matrix = np.zeros((height, len(left)))
    height = 0
    for r in range(total):
        if alone[r] > 1:
            for q in range(starts[rows[r]], starts[rows[r] + 1]):
                k = place[columns[q]]
                if k >= 0 and active[k]:
                    matrix[height, where[k]] = signs[q]
            height += 1
    for k in range(count):
        place[near[k]] = -1
    for r in range(total):
        row_place[rows[r]] = -1
    return matrix, left


@njit(cache=True, nogil=True)
def _pivot(matrix: Floats, height: int, row: int, column: int) -> None:
    width = matrix.shape[1]
    factor = 1.0 / matrix[row, column]
    for j in range(width):
        matrix[row, j] *= factor
    matrix[row, column] = 1.0
    for r in range(height):
        if r != row:
            share = matrix[r, column]
            if share != 0.0:
                for j in range(width):
                    if matrix[row, j] != 0.0:
                        entry = matrix[r, j] - share * matrix[row, j]
                        matrix[r, j] = entry if abs(entry) > _ZERO else 0.0
                matrix[r, column] = 0.0


@njit(cache=True, nogil=True)
def _furthest(matrix: Floats, lower: Floats, upper: Floats, wanted: float) -> Floats:
    """Move variable 0 up to `wanted`, all others along, within bounds that hold 0 inside; by the primal simplex method.

    matrix  : shape (m, n), whose rows times the variables are 0; is overwritten
    returns : the values, shape (n,); the first is how far it came
    """
    height, width = matrix.shape
    value = np.zeros(width)
    basic = np.full(height, -1, dtype=np.int64)
    inside = np.zeros(width, dtype=np.bool_)
    rank = 0
    for _ in range(height):
        best = 0
        for j in range(1, width):
            if abs(matrix[rank, j]) > _ZERO and (
                best == 0
                or abs(matrix[rank, j]) > abs(matrix[rank, best]) + _ZERO
                or (abs(matrix[rank, j]) >= abs(matrix[rank, best]) - _ZERO and upper[j] > upper[best])
            ):
                best = j
        if best == 0:
            if abs(matrix[rank, 0]) > _ZERO:
                return value  # variable 0 alone: it cannot move
            matrix[rank] = matrix[height - 1]  # nothing left of this equation
            height -= 1
            continue
        _pivot(matrix, height, rank, best)
        basic[rank] = best
        inside[best] = True
        rank += 1
    top = -1  # the row whose variable is the first
    entering, direction = 0, 1.0
    idle = 0
    for _ in range(20 * (width + height) + 100):
        if top >= 0:
            entering, steepest = -1, 0.0
            for j in range(width):
                slope = -matrix[top, j]
                if inside[j] or abs(slope) <= _ZERO:
                    continue
                if (
                    (slope > 0 and value[j] < upper[j] * (1 - _ZERO))
                    or (slope < 0 and value[j] > lower[j] * (1 - _ZERO))
                ) and abs(slope) > steepest + _ZERO:
                    entering, steepest, direction = j, abs(slope), (1.0 if slope > 0 else -1.0)
                    if idle > width:
                        break  # the first that may: cannot run in circles
            if entering < 0:
                return value
            step = (upper[entering] - value[entering]) if direction > 0 else (value[entering] - lower[entering])
        else:
            step = wanted
        blocking = -1
        for r in range(height):
            slope = -matrix[r, entering] * direction
            if slope > _ZERO:
                room = (wanted if r == top else upper[basic[r]]) - value[basic[r]]
            elif slope < -_ZERO:
                room = value[basic[r]] - lower[basic[r]]
            else:
                continue
            room = max(room, 0.0) / abs(slope)
            if room < step - _ZERO or (blocking >= 0 and room <= step + _ZERO and basic[r] < basic[blocking]):
                step, blocking = min(step, room), r
        idle = 0 if step > _ZERO * wanted else idle + 1
        value[entering] += direction * step
        for r in range(height):
            value[basic[r]] -= matrix[r, entering] * direction * step
        if value[0] >= wanted * (1 - _ZERO):
            return value
        if blocking >= 0:
            out = basic[blocking]
            value[out] = upper[out] if -matrix[blocking, entering] * direction > 0 else lower[out]
            inside[out] = False
            inside[entering] = True
            basic[blocking] = entering
            _pivot(matrix, height, blocking, entering)
            if top < 0:
                top = blocking
        elif top < 0:
            return value
    return value


@njit(cache=True, nogil=True)
def _holds(
    left: Integers,
    near: Integers,
    value: Floats,
    wanted: float,
    starts: Integers,
    columns: Integers,
    signs: Floats,
    cell_starts: Integers,
    cell_rows: Integers,
    lower: Floats,
    upper: Floats,
    amount: Floats,
) -> bool:
    """Whether whole deviations add up to nothing in every equation, within bounds; by exact arithmetic.

    lower, upper : of the deviations, in the order of `left`
    """
    good = bool(value[0] >= wanted)
    for n in range(len(left)):
        amount[near[left[n]]] = value[n]
        if value[n] < lower[n] or value[n] > upper[n]:
            good = False
    for n in range(len(left)):
        if not good:
            break
        cell = near[left[n]]
        for k in range(cell_starts[cell], cell_starts[cell + 1]):
            total = 0.0
            for q in range(starts[cell_rows[k]], starts[cell_rows[k] + 1]):
                total += signs[q] * amount[columns[q]]
            if total != 0.0:
                good = False
    for n in range(len(left)):
        amount[near[left[n]]] = 0.0
    return good


@njit(cache=True, nogil=True)
def _whole(value: Floats, times: int, made: Floats) -> bool:
    """Write so many times the values, as whole numbers; False where they are none."""
    for n in range(len(value)):
        exact = times * value[n]
        made[n] = np.rint(exact)
        if abs(exact - made[n]) > 1e-6 + 1e-8 * abs(exact):
            return False
    return True


@njit(cache=True, nogil=True)
def search(
    cells: Integers,
    wanted: Floats,
    sense: Integers,
    limit_starts: Integers,
    limited: Integers,
    limit_lower: Floats,
    limit_upper: Floats,
    shy: Booleans,
    spare: Floats,
    starts: Integers,
    columns: Integers,
    signs: Floats,
    cell_starts: Integers,
    cell_rows: Integers,
    lower: Floats,
    upper: Floats,
    sizes: Integers,
    most: int,
) -> tuple[Floats, Integers, Integers, Floats]:
    """For each of q questions, whole deviations that move its cell by `wanted` or more.

    cells, wanted : shape (q,)
    sense         : shape (q,), 1 to move the cell up, -1 down, 0 by deviations that could as well be turned round
    limit_starts, limited, limit_lower, limit_upper : cells that may move less, of question i those from
                    limit_starts[i] to limit_starts[i + 1]
    shy           : shape (q,), whether to try first what moves each cell down by no more than `spare`
    spare         : shape (c,); where it is below 0, such a cell moves not at all
    starts, columns, signs : the equations by row; cell_starts, cell_rows: the rows of each cell
    lower, upper  : shape (c,), how far each cell may move; whole numbers or infinite
    sizes         : how many cells to look at, one attempt after another
    most          : of the cells of an answer that are handed back
    returns       : shape (q,), how many times the deviation fits into the bounds, 0 for no success; shape (q,), how
                    many cells move; their positions, and how far each of them moves, shapes (q, most)
    """
    count = len(starts) - 1
    number = len(lower)
    seen, row_seen = np.zeros(number, dtype=np.int64), np.zeros(count, dtype=np.int64)
    place, row_place = np.full(number, -1, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    amount = np.zeros(number)
    near = np.empty(sizes.max(), dtype=np.int64)
    fits, moved = np.zeros(len(cells)), np.zeros(len(cells), dtype=np.int64)
    support, change = np.zeros((len(cells), most), dtype=np.int64), np.zeros((len(cells), most))
    plain_low, plain_high = lower.copy(), upper.copy()
    shy_low, shy_high = np.maximum(lower, -np.maximum(spare, 0.0)), np.where(spare < 0, 0.0, upper)
    mark = 0
    for i in range(len(cells)):
        cell = cells[i]
        for careful in (True, False):
            if (careful and not shy[i]) or moved[i]:
                continue
            low, high = (shy_low, shy_high) if careful else (plain_low, plain_high)
            before = low[cell], high[cell]
            low[cell], high[cell] = lower[cell], upper[cell]
            for k in range(limit_starts[i], limit_starts[i + 1]):
                low[limited[k]] = max(low[limited[k]], limit_lower[k])
                high[limited[k]] = min(high[limited[k]], limit_upper[k])
            room = _room(cell, 0, low, high)
            if sense[i] != 0:
                room = high[cell] if sense[i] > 0 else -low[cell]
            for attempt in range(len(sizes)):
                if room < wanted[i]:
                    break
                mark += 1
                least = wanted[i] if attempt == 0 else 0.0
                held = _neighbourhood(
                    cell, sizes[attempt], least, starts, columns, cell_starts, cell_rows, sense[i], low, high, seen,
                    row_seen, mark, near,
                )  # fmt: skip
                matrix, left = _tableau(near, held, starts, columns, signs, cell_starts, cell_rows, place, row_place)
                if len(left) == 0 or left[0] != 0:
                    if held < sizes[attempt] and attempt > 0:
                        break  # everything was in it
                    continue
                down, up = low[near[left]], high[near[left]]
                if sense[i] == 0:
                    up = np.minimum(-down, up)
                    down = -up
                elif sense[i] < 0:
                    down, up = -up, -down
                far = 1e6 * wanted[i]
                value = _furthest(matrix, np.maximum(down, -far), np.minimum(up, far), wanted[i])
                if value[0] >= wanted[i] * (1 - 1e-7):
                    made, times = np.zeros(len(value)), 0
                    for several in (1, 2, 3, 4, 5, 6, 8, 10, 12):
                        if _whole(value, several, made) and _holds(
                            left, near, made, wanted[i], starts, columns, signs, cell_starts, cell_rows, down, up,
                            amount,
                        ):  # fmt: skip
                            times = several
                            break
                    if times > 0:
                        n, stretch = 0, 1e6
                        for j in range(len(left)):
                            if made[j] != 0.0:
                                if n < most:
                                    support[i, n] = near[left[j]]
                                    change[i, n] = made[j] if sense[i] >= 0 else -made[j]
                                n += 1
                                stretch = min(stretch, (up[j] if made[j] > 0 else -down[j]) / abs(made[j]))
                        if n <= most:
                            moved[i], fits[i] = n, np.floor(stretch)
                        break
                if held < sizes[attempt] and attempt > 0:
                    break
            for k in range(limit_starts[i], limit_starts[i + 1]):
                other = limited[k]
                low[other] = lower[other] if not careful else max(lower[other], -max(spare[other], 0.0))
                high[other] = upper[other] if not careful or spare[other] >= 0 else 0.0
            low[cell], high[cell] = before
    return fits, moved, support, change

"""Compiled search for deviations near one cell: a small dense linear program at a time.

Only successes count, and each is checked by plain arithmetic before it is handed back; where the search fails, a solver
decides over everything.
"""

import numpy as np
from numba import njit

from sluice.tabular.model.cells import Booleans, Floats, Integers

_ZERO = 1e-9


@njit(cache=True, nogil=True)
def _neighbourhood(
    cell: int,
    size: int,
    least: float,
    starts: Integers,
    columns: Integers,
    cell_starts: Integers,
    cell_rows: Integers,
    room: Floats,
    fixed: Booleans,
    seen: Integers,
    row_seen: Integers,
    mark: int,
    near: Integers,
) -> int:
    """Fill `near` with up to `size` cells around one, nearest first; those with less room than `least` stay out."""
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
                if seen[other] != mark and not fixed[other] and room[other] >= least and count < size:
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
        cell, size, 0.0, starts, columns, cell_starts, cell_rows, np.zeros(number), np.zeros(number, dtype=np.bool_),
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
    fixed: Booleans,
    amount: Floats,
) -> bool:
    """Whether deviations add up to nothing in every equation, within bounds; by arithmetic alone."""
    slack = 1e-7 * wanted
    good = True
    for n in range(len(left)):
        amount[near[left[n]]] = value[n]
    for n in range(len(left)):
        cell = near[left[n]]
        if amount[cell] < lower[cell] - slack or amount[cell] > upper[cell] + slack:
            good = False
        if fixed[cell] and amount[cell] != 0.0:
            good = False
        for k in range(cell_starts[cell], cell_starts[cell + 1]):
            total = 0.0
            for q in range(starts[cell_rows[k]], starts[cell_rows[k] + 1]):
                total += signs[q] * amount[columns[q]]
            if abs(total) > slack:
                good = False
    for n in range(len(left)):
        amount[near[left[n]]] = 0.0
    return good and value[0] >= wanted * (1 - 1e-7)


@njit(cache=True, nogil=True)
def search(
    cells: Integers,
    wanted: Floats,
    known_starts: Integers,
    known: Integers,
    avoid: Booleans,
    avoided: Booleans,
    starts: Integers,
    columns: Integers,
    signs: Floats,
    cell_starts: Integers,
    cell_rows: Integers,
    lower: Floats,
    upper: Floats,
    sizes: Integers,
    most: int,
) -> tuple[Floats, Integers, Integers]:
    """For each of q questions, deviations that move its cell by `wanted` and could as well be turned round.

    cells, wanted : shape (q,)
    known_starts, known : the cells that must stay, of question i known[known_starts[i]:known_starts[i + 1]]
    avoid         : shape (c,), cells that are left alone where that is possible
    avoided       : shape (q,), whether to try that
    starts, columns, signs : the equations by row; cell_starts, cell_rows: the rows of each cell
    lower, upper  : shape (c,), how far each cell may move; turned round as well, so the nearer of the two counts
    sizes         : how many cells to look at, one attempt after another
    most          : of the cells of an answer that are handed back
    returns       : shape (q,), how far the cell moves when all are stretched until one meets a bound, 0 for no success;
                    shape (q,), how many cells move; and their positions, shape (q, most)
    """
    count = len(starts) - 1
    number = len(lower)
    room = np.minimum(-lower, upper)
    seen, row_seen = np.zeros(number, dtype=np.int64), np.zeros(count, dtype=np.int64)
    place, row_place = np.full(number, -1, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    fixed, amount = np.zeros(number, dtype=np.bool_), np.zeros(number)
    near = np.empty(sizes.max(), dtype=np.int64)
    proven = np.zeros(len(cells))
    moved, support = np.zeros(len(cells), dtype=np.int64), np.zeros((len(cells), most), dtype=np.int64)
    mark = 0
    for i in range(len(cells)):
        cell = cells[i]
        if room[cell] < wanted[i]:
            continue
        for shy in (True, False):
            if shy and not avoided[i]:
                continue
            if moved[i]:
                break
            if shy:
                fixed[:] = avoid
                fixed[cell] = False
            for k in range(known_starts[i], known_starts[i + 1]):
                fixed[known[k]] = True
            for attempt in range(len(sizes)):
                mark += 1
                least = wanted[i] if attempt == 0 else 0.0
                held = _neighbourhood(
                    cell, sizes[attempt], least, starts, columns, cell_starts, cell_rows, room, fixed, seen, row_seen,
                    mark, near,
                )  # fmt: skip
                matrix, left = _tableau(near, held, starts, columns, signs, cell_starts, cell_rows, place, row_place)
                if len(left) == 0 or left[0] != 0:
                    if held < sizes[attempt] and attempt > 0:
                        break  # everything was in it
                    continue
                width = np.minimum(room[near[left]], 1e6 * wanted[i])
                value = _furthest(matrix, -width, width, wanted[i])
                if value[0] >= wanted[i] * (1 - 1e-7) and _holds(
                    left, near, value, wanted[i], starts, columns, signs, cell_starts, cell_rows, lower, upper,
                    fixed, amount,
                ):  # fmt: skip
                    n, stretch = 0, 1e6
                    for j in range(len(left)):
                        if abs(value[j]) > _ZERO * wanted[i]:
                            if n < most:
                                support[i, n] = near[left[j]]
                            n += 1
                            stretch = min(stretch, room[near[left[j]]] / abs(value[j]))
                    if n <= most:
                        moved[i], proven[i] = n, max(stretch, 1.0) * value[0]
                    break
                if held < sizes[attempt] and attempt > 0:
                    break
            if shy:
                fixed[:] = False
            for k in range(known_starts[i], known_starts[i + 1]):
                fixed[known[k]] = False
    return proven, moved, support

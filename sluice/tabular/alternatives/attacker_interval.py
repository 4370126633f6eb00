"""How far from its true total an attacker must believe a cell possible who knows every cell to within an interval.

That is what is left to tell where values were changed, not suppressed: the method bounds each true total, totals add
up, and all are whole. Source: Salazar-González (2006), the attacker's problems.

One linear program takes many cells at once as far as is required; cells that it leaves behind get one of their own.
So what is found is proven by a whole table that an attacker cannot exclude, and what is not found is impossible.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sluice.tabular.alternatives.whole_moves import NODES, UndecidedError, as_whole, is_feasible, whole_moves
from sluice.tabular.model.cells import Booleans, Floats, Integers
from sluice.tabular.model.linear_solver import is_optimal, solver_of

NEAR = 1e-6  # of a unit: the tolerance of linear programming
PROGRAMS = 30  # integer programs for a cell of its own, at most, in each direction; further ones are left undecided


def attacker_interval(
    equations: csr_array, total: Integers, low: Floats, high: Floats, lower: Integers, upper: Integers
) -> tuple[Floats, Floats]:
    """How far each cell may go down and up, as far as required, in tables that the attacker cannot exclude.

    low, high    : shape (c,), the interval in which the attacker knows each total; it holds the total; or infinite
    lower, upper : shape (c,), how far below and above its total each cell must be able to go; 0 is not looked at
    returns      : shapes (c,), at most lower and upper; less means that it cannot go further, and perhaps not
                   so far; NaN: undecided
    cost         : a linear program of all cells for each direction, and one for each cell that it leaves behind;
                   integer programs where their answers are not whole
    """
    # The ends of whole numbers are whole.
    room_down, room_up = np.floor(total - low + NEAR), np.floor(high - total + NEAR)
    if (room_down < 0).any() or (room_up < 0).any():
        raise ValueError("an interval does not hold the total")
    return _climb(equations, room_up, room_down, lower), _climb(equations, room_down, room_up, upper)


def _climb(equations: csr_array, down: Floats, up: Floats, required: Integers) -> Floats:
    """How far up each cell goes, at most as far as required, where all may move `down` and `up`."""
    reached = np.zeros(len(required))
    open_: Booleans = required > 0
    if not open_.any():
        return reached
    nothing = np.zeros(equations.shape[0])
    most = np.where(open_, np.minimum(up, required), up)
    together = solver_of(equations, nothing, nothing, lower=-down, upper=most, solver="ipm")
    while open_.any():
        moved = _farthest(together, np.where(open_, 1.0 / np.maximum(required, 1), 0.0))
        whole = as_whole(equations, moved)
        if whole is None:
            whole = _whole_moves_that_gain(equations, down, most, np.where(open_, 1.0 / np.maximum(required, 1), 0.0))
        if whole is None:
            break
        done = open_ & (whole >= required)
        if not done.any():
            break
        reached[done] = required[done]
        open_ &= ~done
    # One at a time what is left, from the last vertex.
    if open_.any():
        alone = solver_of(equations, nothing, nothing, lower=-down, upper=up, presolve="off", simplex_strategy=4)
    programs = 0
    for cell in np.flatnonzero(open_):
        if reached[cell] == required[cell]:
            continue
        alone.changeColBounds(int(cell), -down[cell], min(up[cell], required[cell]))
        moved = _farthest(alone, (np.arange(len(up)) == cell).astype(np.float64))
        whole = as_whole(equations, moved)
        if whole is not None:
            reached[cell] = min(max(int(whole[cell]), 0), required[cell])
            reached = np.where(open_ & (whole >= required), required, reached)
        elif moved[cell] < required[cell] - NEAR:
            reached[cell] = np.floor(moved[cell] + NEAR)  # at most: a whole table may not go as far
        elif programs == PROGRAMS:
            reached[cell] = np.nan
        else:
            programs += 1
            reached[cell] = _reached(equations, down, up, int(cell), int(required[cell]))
        alone.changeColBounds(int(cell), -down[cell], up[cell])
    return reached


def _reached(equations: csr_array, down: Floats, up: Floats, cell: int, required: int) -> float:
    """As far as required if a whole table goes so far, one less if none does, NaN when undecided."""
    far = down.copy()
    far[cell] = -required
    try:
        return required if whole_moves(equations, far, up) is not None else required - 1
    except UndecidedError:
        return float("nan")


def _whole_moves_that_gain(equations: csr_array, down: Floats, up: Floats, gain: Floats) -> Integers | None:
    """Whole moves that add up and gain much, though perhaps not most; None when none were found."""
    nothing = np.zeros(equations.shape[0])
    solver = solver_of(equations, nothing, nothing, lower=-down, upper=up, whole=True, mip_max_nodes=NODES // 10)
    solver.changeColsCost(len(gain), np.arange(len(gain), dtype=np.int32), -gain)
    solver.run()
    return as_whole(equations, np.array(solver.getSolution().col_value)) if is_feasible(solver) else None


def _farthest(solver: Any, gain: Floats) -> Floats:
    """Moves that add up and gain most; no move at all when the solver gives up, which proves nothing."""
    solver.changeColsCost(len(gain), np.arange(len(gain), dtype=np.int32), -gain)
    solver.run()
    return np.array(solver.getSolution().col_value) if is_optimal(solver) else np.zeros(len(gain))

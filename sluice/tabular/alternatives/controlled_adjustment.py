"""Controlled tabular adjustment: sensitive cells move by their protection level, the others as little as adds up.

Source: Dandekar and Cox (2002); Castro (2006). Each sensitive cell goes to its total less the lower level or beyond, or
to its total and the upper level or beyond. Small tables: an integer program chooses the side. Large ones: sides in
falling order of the levels, each against what the sums of the cell lack; then sides are changed where the dual prices
of the linear program promise most, as long as that helps; then the answer is made whole.
"""

from typing import Any

import numpy as np
from scipy.sparse import block_array, csr_array, diags_array

from sluice.errors import DataError
from sluice.tabular.alternatives.additive_multiples import additive_multiples, blocks_of
from sluice.tabular.alternatives.adjustment_sides import AdjustmentRequest, sides_by_prices
from sluice.tabular.alternatives.altered_cells import AlteredCells, refuse_negative, refuse_unless_additive
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Floats, Integers
from sluice.tabular.model.linear_solver import solver_of
from sluice.tabular.rules.sensitivity import Requirements

EXACT = 25  # sensitive cells up to which the sides are chosen by the integer program,
EXACT_CELLS = 500  # in tables of so many cells at most
_NEAR = 1e-6


def controlled_adjustment(
    cells: Cells,
    requirements: Requirements,
    assumptions: Assumptions = Assumptions(),  # noqa: B008
    weight: Floats | None = None,
    cap: float | None = None,
    nodes: int = 2_000,
) -> AlteredCells:
    """Totals that add up, whole and of the same sign, with every sensitive cell at least its level from the truth.

    requirements : `sliding` is not looked at; a side whose level is 0 is not taken
    weight       : shape (c,), 0 or more, of a unit of each cell's change; when not given 1 / total for cells that are
                   published, so that relative changes count, and 0 for the others
    cap          : in percent of the total, how far a published cell that is not sensitive may change at most
    nodes        : of branch and bound
    raises       : DataError when a cell cannot move, or others cannot follow within the cap, naming one
    cost         : a linear program, and one with a warm start for each side that is tried anew
    """
    total, published = cells.total, cells.published
    if cap is not None and not 0 <= cap <= 100:
        raise DataError(f"cap of controlled_adjustment must be 0 to 100, in percent; got {cap:g}.")
    if assumptions.nonnegative:
        refuse_negative(cells, "controlled_adjustment", "Say nonnegative: false if contributions may be negative.")
    if weight is None:
        weight = np.where(published, 1.0 / np.maximum(np.abs(total), 1), 0.0)
    if (weight < 0).any():
        raise DataError("weight of controlled_adjustment must be 0 or more.")
    moving = requirements.sensitive & ((requirements.upper > 0) | (requirements.lower > 0))
    room_down = np.where(assumptions.nonnegative, total, np.inf).astype(np.float64)
    room_up = np.full(len(cells), np.inf)
    limited = published & ~moving
    if cap is not None:
        most = np.array([int(abs(int(x)) * cap // 100) for x in total], dtype=np.float64)
        room_up = np.where(limited, most, room_up)
        room_down = np.where(limited, np.minimum(most, room_down), room_down)
    fixed = (total == 0) & ~moving & assumptions.zeros_known
    room_down, room_up = np.where(fixed, 0, room_down), np.where(fixed, 0, room_up)
    request = AdjustmentRequest(cells, requirements, moving, room_down, room_up, weight.astype(np.float64))
    exact = moving.sum() <= EXACT and len(cells) <= EXACT_CELLS
    value = _exact(request, nodes) if exact else None
    if value is None:
        value = _whole(request, *sides_by_prices(request), nodes)
    refuse_unless_additive(cells, value, "controlled_adjustment")
    near = (value < total + requirements.upper) | (requirements.upper == 0)
    near &= (value > total - requirements.lower) | (requirements.lower == 0)
    low, high = assumptions.bounds(cells)
    attempted = int(requirements.sensitive.sum())
    return AlteredCells(value, low, high, np.flatnonzero(moving & near), attempted, attempted, _says(cap))


def _exact(request: AdjustmentRequest, nodes: int) -> Integers | None:
    """The best whole totals and sides, by the integer program; None when there are none, or not in so many nodes."""
    import highspy

    cells, needs = request.cells, request.requirements
    count, moving = len(cells), np.flatnonzero(request.moving)
    upper, lower = needs.upper[moving].astype(np.float64), needs.lower[moving].astype(np.float64)
    # No cell needs to go further than its own level and all others' together.
    farthest = float(np.maximum(needs.upper, needs.lower)[moving].sum()) + np.maximum(upper, lower)
    deepest = np.minimum(request.room_down[moving], farthest)
    choose = csr_array((np.ones(len(moving)), (np.arange(len(moving)), moving)), shape=(len(moving), count))
    equations = cells.equations
    rows: Any = [
        [equations, -equations, None],
        [choose, None, -diags_array(upper)],
        [choose, None, -diags_array(farthest)],
        [None, choose, diags_array(lower)],
        [None, choose, diags_array(deepest)],
    ]
    if not len(moving):
        return cells.total.copy()
    matrix = csr_array(block_array(rows, format="csr"))
    nothing, endless = np.zeros(equations.shape[0]), np.full(len(moving), highspy.kHighsInf)
    no, zero = -endless, np.zeros(len(moving))
    solver = solver_of(
        matrix,
        np.concatenate([nothing, zero, no, lower, no]),
        np.concatenate([nothing, endless, zero, endless, deepest]),
        np.concatenate([request.weight, request.weight, zero]),
        np.concatenate([np.zeros(2 * count), request.must_rise[moving]]),
        np.concatenate([request.room_up, request.room_down, ~request.must_fall[moving]]),
    )
    columns = np.arange(matrix.shape[1], dtype=np.int32)
    solver.changeColsIntegrality(len(columns), columns, np.full(len(columns), 1, dtype=np.uint8))
    solver.setOptionValue("mip_max_nodes", nodes)
    solver.setOptionValue("mip_rel_gap", 1e-6)
    solver.run()
    if solver.getInfo().primal_solution_status != int(highspy.SolutionStatus.kSolutionStatusFeasible):
        return None
    moves = np.rint(solver.getSolution().col_value).astype(np.int64)
    value: Integers = cells.total + moves[:count] - moves[count : 2 * count]
    return value


def _whole(request: AdjustmentRequest, value: Floats, rises: Booleans, nodes: int) -> Integers:
    """Whole totals that add up, next to those found and within the same bounds."""
    cells, needs = request.cells, request.requirements
    nearest = np.rint(value)
    target = np.where(np.abs(value - nearest) < 1e-5, nearest, value)
    least = np.where(request.moving & rises, cells.total + needs.upper, cells.total - request.room_down)
    most = np.where(request.moving & ~rises, cells.total - needs.lower, cells.total + request.room_up)
    weight = np.maximum(request.weight, 1e-9)
    for steps in range(4):
        lowest = np.maximum(np.floor(target) - steps, least).astype(np.int64)
        highest = np.minimum(np.ceil(target) + steps, most).astype(np.int64)
        found = additive_multiples(cells.equations, target, lowest, highest, weight, False, blocks_of(cells), nodes)
        if found is not None:
            return found
    raise DataError(
        "controlled_adjustment found totals that add up, but no whole ones. Give one decimal more, or more nodes."
    )


def _says(cap: float | None) -> str:
    others = "as little as adds up" if cap is None else f"as little as adds up and by at most {cap:g} percent"
    return (
        f"Every sensitive total was moved by at least its protection level, up or down, and the others {others}. The "
        "published figure of a sensitive cell is that far from the truth, so that whoever takes it for the truth is "
        "wrong by so much. An attacker who knows which cells were moved, and by what level, is left with two values "
        "for each; which cells were moved must therefore stay confidential, and so must the levels."
    )

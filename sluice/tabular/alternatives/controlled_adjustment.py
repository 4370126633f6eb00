"""Controlled tabular adjustment: sensitive cells move by their protection level, the others as little as adds up.

Source: Dandekar and Cox (2002); Castro (2006). Each sensitive cell goes to its total less the lower level or beyond, or
to its total and the upper level or beyond. Small tables: an integer program chooses the side. Large ones: sides in
falling order of the levels, each against what the sums of the cell lack; then sides are changed where the dual prices
of the linear program promise most, as long as that helps; then the answer is made whole.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import block_array, csr_array, diags_array

from sluice.errors import DataError
from sluice.tabular.alternatives.additive_multiples import additive_multiples, blocks_of
from sluice.tabular.alternatives.altered_cells import AlteredCells, refuse_negative, refuse_unless_additive
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Floats, Integers
from sluice.tabular.model.linear_solver import solver_of
from sluice.tabular.rules.sensitivity import Requirements

EXACT = 25  # sensitive cells up to which the sides are chosen by the integer program,
EXACT_CELLS = 500  # in tables of so many cells at most
CHANGES = 20  # sides that are tried anew in large tables,
MENDING = 100  # as long as promises are broken
_NEAR = 1e-6
_SHORT = 1e3  # what a unit of a broken promise costs, in units of the dearest cell


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
    request = _Request(cells, requirements, moving, room_down, room_up, weight.astype(np.float64))
    exact = moving.sum() <= EXACT and len(cells) <= EXACT_CELLS
    value = _exact(request, nodes) if exact else None
    if value is None:
        value = _whole(request, *_by_prices(request), nodes)
    refuse_unless_additive(cells, value, "controlled_adjustment")
    near = (value < total + requirements.upper) | (requirements.upper == 0)
    near &= (value > total - requirements.lower) | (requirements.lower == 0)
    low, high = assumptions.bounds(cells)
    attempted = int(requirements.sensitive.sum())
    return AlteredCells(value, low, high, np.flatnonzero(moving & near), attempted, attempted, _says(cap))


@dataclass(frozen=True, eq=False)
class _Request:
    """What may move how far; `moving` cells at least by their level to one side."""

    cells: Cells
    requirements: Requirements
    moving: Booleans
    room_down: Floats
    room_up: Floats
    weight: Floats

    @property
    def must_rise(self) -> Booleans:
        must: Booleans = self.moving & ((self.requirements.lower == 0) | (self.requirements.lower > self.room_down))
        return must

    @property
    def must_fall(self) -> Booleans:
        must: Booleans = self.moving & (self.requirements.upper == 0)
        return must


def _exact(request: _Request, nodes: int) -> Integers | None:
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


def _by_prices(request: _Request) -> tuple[Floats, Booleans]:
    """Totals that add up, and which sensitive cells rise.

    raises : DataError when some cannot keep their promise, whatever the sides that were tried
    """
    # When all rise there is an answer unless a cap forbids it: the whole table grows.
    for start in (_first_sides(request), request.moving & ~request.must_fall):
        program = _Sides(request, start.copy())
        _change_sides(request, program)
        short = np.flatnonzero(program.broken() > _NEAR)
        if not len(short):
            return program.value, program.rises
    raise DataError(
        f"controlled_adjustment found no totals that add up within the bounds and the cap; {len(short)} cells "
        f"would break them, the first of them {request.cells.name(int(short[0]))}. Raise the cap, or suppress."
    )


def _change_sides(request: _Request, program: "_Sides") -> None:
    """Turn to the other side, one after the other, those cells whose prices promise most, where that helps."""
    free = request.moving & ~request.must_rise & ~request.must_fall
    tried = np.zeros(len(free), dtype=bool)
    levels = request.requirements.upper + request.requirements.lower
    for attempt in range(MENDING):
        if attempt >= CHANGES and not (program.broken() > _NEAR).any():
            break
        # The cost is convex in each move, so that it cannot fall by more than the price times the way.
        promise = np.where(free & ~tried, program.prices() * levels, 0)
        cell = int(np.argmax(promise))
        if promise[cell] <= _NEAR * max(1.0, abs(program.cost)):
            break
        tried[cell] = True
        program.change(cell)


def _first_sides(request: _Request) -> Booleans:
    """Large levels first, each to the side that makes up for what its sums lack so far."""
    needs, by_cell = request.requirements, request.cells.by_cell
    lack = np.zeros(request.cells.equations.shape[0])
    rises = np.zeros(len(request.cells), dtype=bool)
    moving = np.flatnonzero(request.moving)
    for cell in moving[np.argsort(-needs.upper[moving], kind="stable")]:
        part = slice(by_cell.indptr[cell], by_cell.indptr[cell + 1])
        rows, signs = by_cell.indices[part], by_cell.data[part]
        up, down = lack[rows] + signs * needs.upper[cell], lack[rows] - signs * needs.lower[cell]
        rises[cell] = request.must_rise[cell] or (
            not request.must_fall[cell] and np.abs(up).sum() <= np.abs(down).sum()
        )
        lack[rows] = up if rises[cell] else down
    return rises


class _Sides:
    """The linear program with given sides; promises may be broken at a high cost, so that it always has an answer.

    Columns: each cell up, down, and beyond the room up and down. A cell that must rise starts at its level, and going
    down from there breaks its promise; one that must fall likewise.
    """

    def __init__(self, request: _Request, rises: Booleans) -> None:
        self.request, self.rises = request, rises
        self.count = len(request.cells)
        self.short = _SHORT * max(float(request.weight.max(initial=0)), 1.0 / _SHORT)
        equations = request.cells.equations
        self.rows = equations.shape[0]
        columns = [self._columns(cell) for cell in range(self.count)]
        start, cost, most = (np.array(part, dtype=np.float64) for part in zip(*columns, strict=True))
        self.start = start
        known = -(equations @ start)
        beyond = np.full(self.count, self.short)
        rooms = (request.room_up, request.room_down)
        limits = [np.where(request.moving | np.isinf(room), 0.0, np.inf) for room in rooms]
        # Going below 0 is not among the promises that may be broken.
        limits[1] = np.minimum(limits[1], np.maximum(request.cells.total - request.room_down, 0))
        self.solver = solver_of(
            csr_array(block_array([[equations, -equations, equations, -equations]], format="csr")),
            known,
            known,
            np.concatenate([cost[:, 0], cost[:, 1], beyond, beyond]),
            np.zeros(4 * self.count),
            np.concatenate([most[:, 0], most[:, 1], *limits]),
        )
        self._solve()

    def _columns(self, cell: int) -> tuple[float, tuple[float, float], tuple[float, float]]:
        """Where the cell starts; what a unit up and down costs; and how far it may go."""
        request, weight = self.request, float(self.request.weight[cell])
        up, down = float(request.room_up[cell]), float(request.room_down[cell])
        if not request.moving[cell]:
            return 0.0, (weight, weight), (up, down)
        if self.rises[cell]:
            level = float(request.requirements.upper[cell])
            return level, (weight, self.short), (np.inf, level)
        level = float(request.requirements.lower[cell])
        return -level, (self.short, weight), (level, down - level)

    def _solve(self) -> None:
        self.solver.run()
        solution = self.solver.getSolution()
        self.moves = np.array(solution.col_value).reshape(4, self.count)
        self.duals = np.array(solution.row_dual)
        self.cost = float(self.solver.getInfo().objective_function_value) + float(
            self.request.weight @ np.abs(self.start)
        )

    @property
    def value(self) -> Floats:
        up, down, far_up, far_down = self.moves
        value: Floats = self.request.cells.total + self.start + up - down + far_up - far_down
        return value

    def prices(self) -> Floats:
        """By how much the cost falls for each unit that a cell need not go as far, broken promises aside."""
        pull = self.request.cells.by_cell @ self.duals
        prices: Floats = np.where(self.rises, self.request.weight - pull, self.request.weight + pull)
        return prices

    def broken(self) -> Floats:
        """How far each cell is from keeping its level, its bounds and its cap."""
        up, down, far_up, far_down = self.moves
        missing: Floats = far_up + far_down + np.where(self.request.moving, np.where(self.rises, down, up), 0)
        return missing

    def change(self, cell: int) -> None:
        """Try the other side; all as before when that does not help."""
        before = self.cost
        self._turn(cell)
        self._solve()
        if self.cost >= before - _NEAR * max(1.0, abs(before)):
            self._turn(cell)
            self._solve()

    def _turn(self, cell: int) -> None:
        self.rises[cell] = not self.rises[cell]
        self.start[cell], cost, most = self._columns(cell)
        at = np.array([cell, self.count + cell], dtype=np.int32)
        self.solver.changeColsCost(2, at, np.array(cost))
        self.solver.changeColsBounds(2, at, np.zeros(2), np.array(most))
        by_cell = self.request.cells.by_cell
        rows = by_cell.indices[by_cell.indptr[cell] : by_cell.indptr[cell + 1]]
        known = -(self.request.cells.equations[rows] @ self.start)
        for row, number in zip(rows, known, strict=True):
            self.solver.changeRowBounds(int(row), float(number), float(number))


def _whole(request: _Request, value: Floats, rises: Booleans, nodes: int) -> Integers:
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

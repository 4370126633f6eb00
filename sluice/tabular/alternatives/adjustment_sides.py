"""On which side a large table's sensitive cells move: the prices of a linear program say which to change, one by one.

Part of controlled adjustment; sources there.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import block_array, csr_array

from sluice.errors import DataError
from sluice.tabular.model.cells import Booleans, Cells, Floats
from sluice.tabular.model.linear_solver import solver_of
from sluice.tabular.rules.sensitivity import Requirements

CHANGES = 20  # sides that are tried anew in large tables,
MENDING = 100  # as long as promises are broken
_NEAR = 1e-6
_SHORT = 1e3  # what a unit of a broken promise costs, in units of the dearest cell


@dataclass(frozen=True, eq=False)
class AdjustmentRequest:
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


def sides_by_prices(request: AdjustmentRequest) -> tuple[Floats, Booleans]:
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


def _change_sides(request: AdjustmentRequest, program: "_Sides") -> None:
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


def _first_sides(request: AdjustmentRequest) -> Booleans:
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

    def __init__(self, request: AdjustmentRequest, rises: Booleans) -> None:
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

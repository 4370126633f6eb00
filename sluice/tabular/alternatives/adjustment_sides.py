"""On which side a table's sensitive cells move: as drawn, and turned, one by one, where that cannot add up.

Part of controlled adjustment; sources there. The prices of a linear program say which side to turn.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.sparse import block_array, csr_array

from sluice.ground.errors import DataError
from sluice.tabular.model.cells import Booleans, Cells, Floats, Integers
from sluice.tabular.model.linear_solver import solver_of

DRAWS = 5  # of all sides
TURNS = 200  # sides that are turned after a draw, at most
_NEAR = 1e-6
_SHORT = 1e3  # what a unit of a broken promise costs, in units of the dearest cell


@dataclass(frozen=True, eq=False)
class AdjustmentRequest:
    """What moves how far.

    amount               : shape (c,), how far a `moving` cell goes at least, to one side
    must_rise, must_fall : shape (c,), moving cells that have one side only
    room_down, room_up   : shape (c,), how far a cell may go at most
    """

    cells: Cells
    amount: Integers
    moving: Booleans
    must_rise: Booleans
    must_fall: Booleans
    room_down: Floats
    room_up: Floats
    weight: Floats


def totals_on_drawn_sides(request: AdjustmentRequest, rng: Generator) -> tuple[Floats, Booleans, bool]:
    """Totals that add up, which moving cells rise, and whether that was drawn.

    Sides are turned only where the table cannot add up otherwise. Where several draws fail, all cells rise: then the
    whole table grows, which is possible unless a cap forbids it.

    raises : DataError when some cannot keep their promise, whatever the sides that were tried
    """
    for attempt in range(DRAWS + 1):
        drawn = attempt < DRAWS
        rises = _of_parts(request, rng.random(len(request.cells)) < 0.5) if drawn else ~request.must_fall
        program = _Sides(request, rises)
        _turn_what_breaks(request, program)
        short = np.flatnonzero(program.broken() > _NEAR)
        if not len(short):
            return program.value, program.rises, drawn
    raise DataError(
        f"controlled_adjustment found no totals that add up within the bounds and the cap; {len(short)} cells "
        f"would break them, the first of them {request.cells.name(int(short[0]))}. Raise the cap, or suppress."
    )


def _of_parts(request: AdjustmentRequest, drawn: Booleans) -> Booleans:
    """The sides as drawn, but of a sum that to which its parts take it; they are drawn, too."""
    cells, equations = request.cells, request.cells.equations
    rises = (drawn | request.must_rise) & ~request.must_fall
    free = request.moving & ~request.must_rise & ~request.must_fall
    move = np.where(request.moving, np.where(rises, request.amount, -request.amount), 0)
    depth = np.zeros(len(cells), dtype=np.int64)
    for axis, dimension in enumerate(cells.dimensions):
        depth += dimension.depth[cells.codes[:, axis]]
    entries = equations.tocoo()
    upper = entries.data > 0
    top = np.zeros(equations.shape[0], dtype=np.int64)
    top[entries.row[upper]] = entries.col[upper]
    for row in np.argsort(-depth[top], kind="stable"):
        inside = equations.indices[equations.indptr[row] : equations.indptr[row + 1]]
        along = int(move[inside].sum() - move[top[row]])
        if free[top[row]] and along:
            rises[top[row]] = along > 0
        if not request.moving[top[row]]:
            move[top[row]] = along
        elif along:
            move[top[row]] = np.sign(along) * max(abs(along), request.amount[top[row]])
    return rises


def _turn_what_breaks(request: AdjustmentRequest, program: "_Sides") -> None:
    """Turn, one after the other, those cells whose prices promise most, as long as promises are broken."""
    free = request.moving & ~request.must_rise & ~request.must_fall
    tried = np.zeros(len(free), dtype=bool)
    for _ in range(TURNS):
        if not (program.broken() > _NEAR).any():
            break
        # The cost is convex in each move, so that it cannot fall by more than the price times the way.
        promise = np.where(free & ~tried, program.prices() * 2 * request.amount, 0)
        cell = int(np.argmax(promise))
        if promise[cell] <= _NEAR * max(1.0, abs(program.cost)):
            break
        tried[cell] = True
        program.change(cell)


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
            level = float(request.amount[cell])
            return level, (weight, self.short), (np.inf, level)
        level = float(request.amount[cell])
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

"""Changes of cells by whole units that add up: what an attacker cannot exclude who knows that values are whole.

A linear program may be wide where no whole table is. So its answer counts only when it is whole; where it is not, a
bounded integer program decides, or nobody does. This is the solver of whole units of all methods that protect. The
audit has its own (`sluice/tabular/audit/whole_deviation.py`), twins on purpose: it shares no code with what it judges,
so that a mistake in one does not hide in the other.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from sluice.tabular.model.cells import Booleans, Floats, Integers
from sluice.tabular.model.linear_solver import is_optimal, solver_of

EFFORT = 50_000_000  # linear programs of `ShortMoves`, times the cells of the table, at most
SHORT_NODES = 200  # linear programs of one question, at most

_AVOIDED = 5  # times as dear: cells that somebody knows wholly
_LEAST = 1e-3  # of the move that is asked for: no price is for less room than that
_NEAR = 1e-5

NODES = 200  # of branch and bound, for one question


class UndecidedError(Exception):
    """The integer program ended without an answer."""


def whole_moves(equations: csr_array, down: Floats, up: Floats, nodes: int = NODES) -> Integers | None:
    """Changes that add up, each from -down to up; None when there are none.

    down, up : shape (c,), whole, may be infinite; negative where a cell must move
    raises   : UndecidedError when neither was found in so many nodes
    cost     : a linear program, and an integer program where its answer is not whole
    """
    if (down + up < 0).any():
        return None
    nothing = np.zeros(equations.shape[0])
    solver = solver_of(equations, nothing, nothing, lower=-down, upper=up, solver="ipm")
    solver.run()
    if not is_optimal(solver):
        return None if is_infeasible(solver) else _whole(equations, down, up, nodes)
    found = as_whole(equations, np.array(solver.getSolution().col_value))
    return _whole(equations, down, up, nodes) if found is None else found


def as_whole(equations: csr_array, moves: Floats) -> Integers | None:
    """Moves of a linear program as whole numbers, if they are and add up exactly; else None."""
    if not np.isfinite(moves).all() or np.abs(moves).max(initial=0) >= 2**53:
        return None
    found: Integers = np.rint(moves).astype(np.int64)
    near = np.abs(moves - found).max(initial=0) <= 1e-5
    return found if near and not (equations.astype(np.int64) @ found).any() else None


def is_infeasible(solver: Any) -> bool:
    """Whether its last run proved that there is no solution."""
    import highspy

    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible)


def is_feasible(solver: Any) -> bool:
    """Whether its last run found a solution."""
    import highspy

    return bool(solver.getInfo().primal_solution_status == int(highspy.SolutionStatus.kSolutionStatusFeasible))


def _whole(equations: csr_array, down: Floats, up: Floats, nodes: int) -> Integers | None:
    nothing = np.zeros(equations.shape[0])
    solver = solver_of(equations, nothing, nothing, lower=-down, upper=up, whole=True, mip_max_nodes=nodes)
    solver.run()
    if is_infeasible(solver):
        return None
    if is_feasible(solver):
        found = as_whole(equations, np.array(solver.getSolution().col_value))
        if found is not None:
            return found
    raise UndecidedError


class ShortMoves:
    """Finds changes of few of c cells within their sums; keeps the solver, and counts what all questions took together.

    Some cells may be on one of two sides, with a gap between. The cheapest change that moves one cell as far as is
    asked, and others as little as adds up, is a sparse linear program that starts where nothing moves. It does not see
    the gaps. Where its answer leaves a cell within its gap, or is not whole, it is solved again with the cell below and
    with the cell above: branch and bound, in which few cells are ever branched on, because few move. So it finds a
    table, or proves that there is none, where an integer program of all gaps at once ends without an answer. Source:
    Land and Doig (1960), branch and bound; branching on gaps is this project's own.

    equations    : shape (e, c)
    avoid        : shape (c,), the cells that changes leave alone if they can
    apart        : positions of the cells with a gap
    below, above : of the shape of `apart`; no change of theirs lies between the two, and 0 does not
    """

    def __init__(
        self, equations: csr_array, avoid: Booleans, apart: NDArray[np.intp], below: Floats, above: Floats
    ) -> None:
        self._equations, self._weight = equations, np.where(avoid, float(_AVOIDED), 1.0)
        self._apart, self._below, self._above = apart, below, above
        nothing = np.zeros(equations.shape[0])
        both = csr_array(hstack([equations, -equations]))
        self._solver: Any = solver_of(both, nothing, nothing, presolve="off", solver="simplex")
        self._all = np.arange(2 * equations.shape[1], dtype=np.int32)
        self._left = EFFORT // max(equations.shape[1], 1)

    def found(self, cell: int, change: int, down: Floats, up: Floats) -> Integers | None:
        """A change that adds up and moves a cell by so much or further; None when there is none.

        change   : not 0; upwards or downwards
        down, up : shape (c,), whole, 0 or more, how far each cell may move; may be infinite
        raises   : UndecidedError when neither was found in `NODES` programs, or the effort is spent
        cost     : 10 ms for each program of 10,000 cells; one to six of them as a rule
        """
        price = np.tile(self._weight, 2) / np.clip(np.concatenate([up, down]) / abs(change), _LEAST, 1)
        least, most = -down, up.copy()
        if change > 0:
            least[cell] = change
        else:
            most[cell] = change
        self._solver.clearSolver()
        self._solver.changeColsCost(len(self._all), self._all, price)
        waiting = [(least, most)]
        for _ in range(SHORT_NODES):
            if not waiting:
                return None
            least, most = waiting.pop()
            moves = self._shortest(least, most)
            if moves is None:
                continue
            split = self._split(moves)
            if split is None:
                return self._checked(moves, least, most)
            at, ends, begins, nearer_below = split
            lower, upper = (least, most.copy()), (least.copy(), most)
            lower[1][at], upper[0][at] = min(most[at], ends), max(least[at], begins)
            waiting += [upper, lower] if nearer_below else [lower, upper]
        raise UndecidedError

    def _shortest(self, least: Floats, most: Floats) -> Floats | None:
        """The cheapest changes between these, whole or not; None when there are none."""
        if (least > most).any():
            return None
        self._left -= 1
        if self._left < 0:
            raise UndecidedError
        lower = np.maximum(np.concatenate([least, -most]), 0)
        upper = np.maximum(np.concatenate([most, -least]), 0)
        self._solver.changeColsBounds(len(self._all), self._all, lower, upper)
        self._solver.run()
        if is_infeasible(self._solver):
            return None
        if not is_optimal(self._solver):
            raise UndecidedError
        solved = np.array(self._solver.getSolution().col_value)
        moves: Floats = solved[: len(least)] - solved[len(least) :]
        return moves

    def _split(self, moves: Floats) -> tuple[int, float, float, bool] | None:
        """The cell that is deepest within its gap, or furthest from a whole number, where it is to end and to begin
        instead, and whether the end is nearer; None where no cell is."""
        inside = np.minimum(moves[self._apart] - self._below, self._above - moves[self._apart])
        if inside.max(initial=0) > _NEAR:
            gap = int(np.argmax(inside / (self._above - self._below)))
            at, ends, begins = int(self._apart[gap]), float(self._below[gap]), float(self._above[gap])
        else:
            at = int(np.argmax(np.abs(moves - np.rint(moves))))
            ends = float(np.floor(moves[at]))
            begins = ends + 1
            if min(moves[at] - ends, begins - moves[at]) <= _NEAR:
                return None
        return at, ends, begins, moves[at] - ends <= begins - moves[at]

    def _checked(self, moves: Floats, least: Floats, most: Floats) -> Integers:
        """Moves as whole numbers; the bounds and the gaps hold of these, too, or nothing is decided."""
        made = as_whole(self._equations, moves)
        if made is None or (made > most).any() or (made < least).any():
            raise UndecidedError
        if ((made[self._apart] > self._below) & (made[self._apart] < self._above)).any():
            raise UndecidedError
        return made

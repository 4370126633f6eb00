"""Changes of cells by whole units that add up: what an attacker cannot exclude who knows that values are whole.

A linear program may be wide where no whole table is. So its answer counts only when it is whole; where it is not, a
bounded integer program decides, or nobody does.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sluice.tabular.model.cells import Floats, Integers
from sluice.tabular.model.linear_solver import is_optimal, solver_of

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

"""Whole numbers that add up as cells do, as near as possible to given numbers: the search behind controlled rounding.

Source: Salazar-González (2006), the integer program. Each step upwards from the lowest number allowed is a column of
its own; the distance is convex, so steps are taken in order by themselves.

Small tables are solved to the optimum. Of a large one, the first solution that the solver finds is improved: first the
steps on which it and the relaxation agree are kept and the others solved anew (Danna, Rothberg and Le Pape, Exploring
relaxation induced neighborhoods, Mathematical Programming 102, 2005), then one block of the table after another.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from sluice.tabular.model.cells import Booleans, Cells, Floats, Integers
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.linear_solver import solver_of

DIRECT = 4_000  # steps up to which the whole is solved at once, in seconds
BLOCK = 3_000  # cells that are solved anew together
ROUNDS = 3  # times that all blocks are gone through, at most, as long as they narrow the gap by 2 %

_NEAR = 1e-6


def additive_multiples(
    equations: csr_array,
    target: Floats,
    lowest: Integers,
    highest: Integers,
    weight: Floats,
    squared: bool = False,
    blocks: Sequence[Integers] = (),
    nodes: int = 2_000,
) -> Integers | None:
    """Whole numbers between `lowest` and `highest` that add up, with a small weighted distance from the targets.

    equations       : shape (e, c), of 1 and -1
    target          : shape (c,), finite
    lowest, highest : shape (c,), whole numbers; where the weight is 0, any number between them is as good
    weight          : shape (c,), 0 or more, of each |number - target|, or of its square
    blocks          : positions of cells that are solved anew together, where the table is too large for the whole
    nodes           : of branch and bound for each problem; the answer depends on nothing but the arguments
    returns         : shape (c,); None when there is no such table, or none was found in so many nodes
    """
    single = weight <= 0
    counts = np.where(single, lowest < highest, highest - lowest)
    owner = np.repeat(np.arange(len(target)), counts)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    before = lowest[owner] + step - target[owner]
    slope = 2 * before + 1 if squared else np.abs(before + 1) - np.abs(before)
    upper = np.where(single[owner], highest[owner] - lowest[owner], 1).astype(np.float64)
    problem = _Steps(equations.tocsc()[:, owner], -(equations @ lowest), slope * weight[owner], upper)
    every = np.ones(len(owner), dtype=bool)
    nothing = np.zeros(len(owner))
    if len(owner) <= DIRECT:
        taken = problem.solve(every, nothing, mip_max_nodes=nodes, mip_rel_gap=0.0)
    else:
        taken = problem.solve(every, nothing, mip_max_nodes=nodes, mip_max_improving_sols=1)
        if taken is not None:
            taken = _improved(problem, taken, [np.isin(owner, block) for block in blocks], nodes)
    if taken is None:
        return None
    found: Integers = lowest + np.bincount(owner, taken, len(target)).astype(np.int64)
    return found


class _Steps:
    """Steps to take: matrix @ taken = total, 0 <= taken <= upper, whole, at the least cost."""

    def __init__(self, matrix: csc_array, total: Floats, cost: Floats, upper: Floats) -> None:
        self.matrix, self.total, self.cost, self.upper = matrix, total, cost, upper

    def solve(self, free: Booleans, taken: Floats, integer: bool = True, **options: Any) -> Floats | None:
        """The best steps where `free`, with the others as taken; None when none was found."""
        columns = np.flatnonzero(free)
        kept = np.where(free, 0, taken)
        part = self.matrix[:, columns]
        rows = np.flatnonzero(np.bincount(part.indices, minlength=part.shape[0]))
        total = self.total - self.matrix @ kept
        if np.delete(total, rows).any():
            return None
        solution = _minimise(part.tocsr()[rows], total[rows], self.cost[columns], self.upper[columns], integer, options)
        if solution is None:
            return None
        answer = kept.astype(np.float64)
        answer[columns] = np.rint(solution) if integer else solution
        return answer


def _improved(problem: _Steps, taken: Floats, blocks: Sequence[Booleans], nodes: int) -> Floats:
    """The steps after the neighbourhood of the relaxation, and after the blocks, as long as they help."""
    relaxed = problem.solve(np.ones(len(taken), dtype=bool), taken, integer=False)
    if relaxed is None:
        return taken
    bound = float(problem.cost @ relaxed)
    for blocks_then in ([np.abs(relaxed - taken) > _NEAR], *[blocks] * ROUNDS):
        gap = float(problem.cost @ taken) - bound
        for block in blocks_then:
            if block.sum() > 2 * DIRECT:
                continue
            better = problem.solve(
                block, taken, mip_max_nodes=max(1, nodes // 20), mip_rel_gap=1e-3, mip_max_stall_nodes=20
            )
            if better is not None and problem.cost @ better < problem.cost @ taken - _NEAR:
                taken = better
        if len(blocks_then) > 1 and float(problem.cost @ taken) - bound > 0.98 * gap:
            break
    return taken


def _minimise(
    matrix: csr_array, total: Floats, cost: Floats, upper: Floats, integer: bool, options: dict[str, Any]
) -> Floats | None:
    import highspy

    if not matrix.shape[1]:
        return np.zeros(0)
    solver = solver_of(matrix, total, total, cost, upper=upper, whole=integer, **options)
    solver.run()
    if solver.getInfo().primal_solution_status != int(highspy.SolutionStatus.kSolutionStatusFeasible):
        return None
    return np.array(solver.getSolution().col_value)


def blocks_of(cells: Cells, most: int = BLOCK) -> list[Integers]:
    """Positions of cells at and below neighbouring codes of one dimension, as many codes as have so many cells."""
    blocks = []
    for axis, dimension in enumerate(cells.dimensions):
        below = _below(dimension)
        counts = np.bincount(cells.codes[:, axis], minlength=len(dimension.codes))
        waiting, together = [0], list[int]()
        while waiting:
            code = waiting.pop()
            if counts[below[code]].sum() > most and len(below[code]) > 1:
                waiting += [part for group, parts in dimension.sums if group == code for part in parts]
                continue
            if together and counts[together].sum() + counts[below[code]].sum() > most:
                blocks.append(np.flatnonzero(np.isin(cells.codes[:, axis], together)))
                together = []
            together = sorted({*together, *below[code]})
        blocks.append(np.flatnonzero(np.isin(cells.codes[:, axis], together)))
    return blocks


def _below(dimension: Dimension) -> list[list[int]]:
    """For each code, itself and all codes below it."""
    below = [{code} for code in range(len(dimension.codes))]
    for group in np.argsort(-dimension.depth, kind="stable"):
        for parent, parts in dimension.sums:
            if parent == group:
                below[group].update(*(below[part] for part in parts))
    return [sorted(codes) for codes in below]

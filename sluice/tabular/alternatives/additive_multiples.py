"""Whole numbers that add up as cells do, as near as possible to given numbers: the search behind controlled rounding.

Source: Salazar-González (2006), the integer program. Each step upwards from the lowest number allowed is a column of
its own; the distance is convex, so steps are taken in order by themselves.

Small tables are solved to the optimum. Of a large one, the first solution that the solver finds is improved: first the
steps on which it and the relaxation agree are kept and the others solved anew (Danna, Rothberg and Le Pape, Exploring
relaxation induced neighborhoods, Mathematical Programming 102, 2005), then one block of the table after another.

A complete table that might be the true one: for each suppressed cell a value that fits all that is published.

The values are whole, add up with the published cells, and keep what anybody knows beforehand. They are drawn by a
public rule from what is published alone: whoever has the suppressed table can make the same ones, so they tell nothing
that it does not tell, however near to the truth one falls by chance.

How they are drawn: objectives are drawn for the suppressed cells, and for each the table that is best, a vertex of all
tables that fit, is found by linear programming; the vertices are mixed in drawn proportions, and the mixture is brought
to the nearest whole numbers that add up. The generator starts from a hash of what is published.

Source: Fischetti and Salazar-González (2003), who publish values or intervals in place of blanks; Dandekar and Cox
(2002). The drawing is this project's own.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from sluice.ground.errors import DataError
from sluice.tabular.model.cells import Booleans, Cells, Floats, Integers
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.linear_solver import is_optimal, solver_of

VERTICES = 12  # that are mixed
REACH = (0, 1, 3, 10)  # units around the mixture in which whole numbers are sought

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


def feasible_table(
    equations: csr_array,
    published: Integers,
    hidden: Booleans,
    drawn: Booleans,
    least: Floats,
    most: Floats,
    nodes: int = 2_000,
) -> Integers:
    """Whole values of all cells that add up, those published as they are.

    equations   : shape (e, c), as in `Cells`
    published   : shape (c,); where hidden nothing is looked at
    hidden      : shape (c,), the cells that are not published
    drawn       : shape (c,), those of them for which values are wanted; others are only what these make of them
    least, most : shape (c,), what anybody knows of the hidden cells beforehand; of nothing else may they depend
    nodes       : of branch and bound
    returns     : shape (c,)
    raises      : DataError when nothing bounds the drawn cells, no values fit, or no whole ones were found
    cost        : a linear program of the hidden cells for each of a dozen vertices, and an integer program near the end
    """
    value = np.where(hidden, 0, published)
    which = np.flatnonzero(hidden)
    if not len(which):
        return value
    known = -(equations @ value)
    part = csr_array(equations[:, which])
    rows = np.flatnonzero(np.diff(part.indptr))
    if (np.delete(known, rows) != 0).any():
        raise DataError("the published cells do not add up; no values fit them.")
    seed = hashlib.sha256(np.where(hidden, -1, value).tobytes() + hidden.tobytes()).digest()
    rng = np.random.default_rng(int.from_bytes(seed))
    mixture = _mixture(part[rows], known[rows], least[which], most[which], drawn[which], rng)
    low, high = np.ceil(least[which] - 1e-9), np.floor(most[which] + 1e-9)
    near = np.rint(mixture)
    target = value.astype(np.float64)
    target[which] = np.where(np.abs(mixture - near) < 1e-5, near, mixture)
    for reach in REACH:
        lowest, highest = value.copy(), value.copy()
        lowest[which] = np.maximum(np.floor(target[which]) - reach, low)
        highest[which] = np.minimum(np.ceil(target[which]) + reach, high)
        if (lowest > highest).any():
            continue
        found = additive_multiples(equations, target, lowest, highest, hidden.astype(np.float64), nodes=nodes)
        if found is not None:
            return found
    raise DataError("no whole values were found that fit what is published. Publish intervals instead.")


def _mixture(
    equations: csr_array, known: Floats, least: Floats, most: Floats, drawn: Booleans, rng: np.random.Generator
) -> Floats:
    """A point among all that fit, mixed of vertices in drawn proportions."""
    import highspy

    solver = solver_of(equations, known, known, lower=least, upper=most, presolve="off")
    count = len(least)
    points = []
    for _ in range(VERTICES):
        solver.changeColsCost(count, np.arange(count, dtype=np.int32), np.where(drawn, rng.normal(size=count), 0.0))
        solver.run()
        if solver.getModelStatus() in (
            highspy.HighsModelStatus.kUnbounded,
            highspy.HighsModelStatus.kUnboundedOrInfeasible,
        ):
            raise DataError("nothing bounds the suppressed cells, so that there is no value to draw for them.")
        if not is_optimal(solver):
            raise DataError("no values fit what is published.")
        points.append(np.array(solver.getSolution().col_value))
    mixed: Floats = rng.dirichlet(np.ones(VERTICES)) @ np.array(points)
    return mixed

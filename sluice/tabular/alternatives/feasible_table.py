"""A complete table that might be the true one: for each suppressed cell a value that fits all that is published.

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

import numpy as np
from scipy.sparse import csr_array

from sluice.ground.errors import DataError
from sluice.tabular.alternatives.additive_multiples import additive_multiples
from sluice.tabular.model.cells import Booleans, Floats, Integers
from sluice.tabular.model.linear_solver import is_optimal, solver_of

VERTICES = 12  # that are mixed
REACH = (0, 1, 3, 10)  # units around the mixture in which whole numbers are sought


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

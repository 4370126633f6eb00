"""Between what anybody can compute suppressed cells to lie, as far as it matters for what is said of them.

The audit stops as soon as enough is proven for what the rules ask, so its proven bounds are no interval that somebody
computes. Here each cell is asked how far above its value it must be possible for a sentence to be untrue: what comes is
wide enough for that, or the end of the interval itself.
"""

from collections.abc import Sequence

import numpy as np

from sluice.tabular.audit.proven_interval import Need, Question
from sluice.tabular.audit.suppressed_cells import SuppressedCells
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Floats, Integers, Status, Statuses
from sluice.tabular.model.known_sums import components, computable
from sluice.tabular.rules.readers import readers
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule


def learned_intervals(
    cells: Cells,
    status: Statuses,
    requirements: Requirements,
    rules: Sequence[SensitivityRule],
    assumptions: Assumptions,
    doubt: Integers,
    workers: int = 1,
) -> tuple[Floats, Floats, Booleans]:
    """The least and the most that each cell can be, by what is published, and whether that was decided; shapes (c,).

    doubt   : shape (c,), how far above its value a suppressed cell must be possible to be of no interest; below 0: it
              is of none, and nothing is asked of it
    returns : the value itself where the cell is published or follows; 0 and infinity where it is of no interest, or
              nothing was decided. Else an interval that is at least so wide above and not a point, or if there is none,
              the true one in whole units
    cost    : see `SuppressedCells.intervals`, for each suppressed cell of interest
    """
    reader = readers(cells, requirements, rules, assumptions)[0]
    total = cells.total.astype(np.float64)
    lower, upper = reader.lower - total, reader.upper - total
    hidden = (status != Status.PUBLISHED) | ~cells.published
    free = hidden & (lower < upper)
    free[[cell for cell, _, _ in computable(cells.equations, free)]] = False
    label = components(cells.equations, free)
    unlimited = np.full(len(cells), np.inf)
    suppressed = SuppressedCells(cells.equations, free, lower, upper, label, unlimited)
    asked = np.flatnonzero(free & (doubt >= 0)).tolist()
    nothing = np.zeros(0)
    questions = [
        Question(cell, Need(0.0, float(doubt[cell]), 1.0), nothing.astype(np.intp), nothing, nothing) for cell in asked
    ]
    low, high = np.where(free, 0.0, total), np.where(free, np.inf, total)
    decided = np.ones(len(cells), dtype=bool)
    for cell, found in zip(asked, suppressed.intervals(questions, workers), strict=True):
        decided[cell] = found.complete
        if found.complete:
            low[cell], high[cell] = total[cell] - found.below, total[cell] + found.above
    return low, high, decided

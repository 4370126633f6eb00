"""Between what anybody can compute suppressed cells to lie: as it is published, and as far as a sentence needs it.

Source: Fischetti and Salazar-González (2003) publish intervals of their own making; here they are the feasibility
intervals of a pattern that was already suppressed, so that they save users the linear programs and tell nobody anything
new.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice.ground.errors import DataError
from sluice.tabular.audit.proven_interval import Need, Question
from sluice.tabular.audit.suppressed_cells import SuppressedCells
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Floats, Integers, Status, Statuses
from sluice.tabular.model.feasibility_interval import feasibility_intervals
from sluice.tabular.model.known_sums import components, computable
from sluice.tabular.rules.intruders import intruders
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule

_NEAR = 1e-6  # relative; a whole number that linear programming missed by its tolerance is that number


@dataclass(frozen=True, eq=False)
class PublishedIntervals:
    """What may stand in place of a suppressed value.

    low, high : shape (c,), whole units of the table, infinite where nothing bounds a cell; NaN for a cell that is not
                suppressed
    failing   : positions of sensitive cells whose interval is narrower than is required: the pattern is not safe
    attempted : how many intervals were to be found
    completed : how many were; the others are as wide as can be
    says      : in words, what an attacker can still learn
    """

    low: Floats
    high: Floats
    failing: Integers
    attempted: int
    completed: int
    says: str

    @property
    def safe(self) -> bool:
        """Whether every interval was found, and none is too narrow for its cell."""
        return self.completed == self.attempted and not len(self.failing)


def published_intervals(
    cells: Cells,
    status: Statuses,
    requirements: Requirements,
    nonnegative: bool = True,
    at_least: int = 0,
    digits: int | None = None,
    workers: int = 1,
) -> PublishedIntervals:
    """The interval of each suppressed cell that follows from the published ones, rounded outward.

    status      : shape (c,); only what it publishes is looked at, so nothing that is hidden can show in an interval
    nonnegative : whether it is known that no total is negative
    at_least    : what a suppressed cell is known to be at least, where no total is negative: a count that is listed is
                  not empty
    digits      : significant digits of the ends, 1 or more; whole units when not given
    raises      : DataError for digits below 1
    cost        : two linear programs for each suppressed cell
    """
    if digits is not None and digits < 1:
        raise DataError(f"digits of published_intervals must be 1 or more; got {digits}.")
    value = np.where(status == Status.PUBLISHED, cells.total, np.nan)
    which = np.flatnonzero((status == Status.PRIMARY) | (status == Status.SECONDARY))
    least, most = np.full(len(cells), 0.0 if nonnegative else -np.inf), np.full(len(cells), np.inf)
    if nonnegative:
        least[which] = at_least
    found_low, found_high = feasibility_intervals(cells.equations, value, which, least, most, workers)
    known = ~(np.isnan(found_low) | np.isnan(found_high))
    found_low, found_high = np.where(known, found_low, least[which]), np.where(known, found_high, np.inf)
    low, high = np.full(len(cells), np.nan), np.full(len(cells), np.nan)
    low[which], high[which] = 0.0 - _outward(-found_low, digits), _outward(found_high, digits)
    # Compared before they are rounded: the rounding hides nothing from those who solve the programs themselves.
    total, slack = cells.total[which], _NEAR * np.maximum(1, np.abs(cells.total[which]))
    narrow = requirements.sensitive[which] & (
        (found_low > total - requirements.lower[which] + slack)
        | (found_high < total + requirements.upper[which] - slack)
        | (found_high - found_low < requirements.sliding[which] - slack)
    )
    return PublishedIntervals(low, high, which[narrow], len(which), int(known.sum()), _says(digits))


def _outward(number: Floats, digits: int | None) -> Floats:
    """The least whole number, or number of so many digits, that is not below."""
    whole = np.where(np.isfinite(number), np.rint(number), 0)
    near = np.abs(number - whole) <= _NEAR * np.maximum(1, np.abs(whole))
    up = np.where(near, whole, np.ceil(number))
    if digits is not None:
        size = np.where(np.isfinite(up), np.abs(up), 0)
        step = 10.0 ** np.maximum(np.floor(np.log10(np.maximum(size, 1))) + 1 - digits, 0)
        up = np.where(np.isfinite(up), np.ceil(up / step) * step, up)
    return up


def _says(digits: int | None) -> str:
    ends = "whole units" if digits is None else f"{digits} significant digit{'' if digits == 1 else 's'}"
    return (
        "In place of each suppressed value stands the interval that anybody can compute from the published cells and "
        f"their sums, rounded outward to {ends}. It tells an attacker nothing that the suppressed table does not tell; "
        "an attacker who also knows contributions to a cell can narrow it as before."
    )


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

    The audit stops as soon as enough is proven for what the rules ask, so its proven bounds are no interval that
    somebody computes. Here each cell is asked how far above its value it must be possible for a sentence to be untrue:
    what comes is wide enough for that, or the end of the interval itself.

    doubt   : shape (c,), how far above its value a suppressed cell must be possible to be of no interest; below 0: it
              is of none, and nothing is asked of it
    returns : the value itself where the cell is published or follows; 0 and infinity where it is of no interest, or
              nothing was decided. Else an interval that is at least so wide above and not a point, or if there is none,
              the true one in whole units
    cost    : see `SuppressedCells.intervals`, for each suppressed cell of interest
    """
    reader = intruders(cells, requirements, rules, assumptions)[0]
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

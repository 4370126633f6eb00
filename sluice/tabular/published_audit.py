"""Audit a published table from itself alone: which suppressed cells does it give away?

Without the true values nobody can say whether an interval is wide enough for a rule. What can be said is which cells
follow exactly, and which intervals are narrow beside the values that they hold.

Source: Hundepool et al., "Statistical Disclosure Control" (Wiley 2012), section 4.3, the feasibility intervals.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sluice.errors import DataError
from sluice.tabular.cells import Booleans
from sluice.tabular.feasibility import Floats, feasibility_intervals
from sluice.tabular.known_sums import Indices


@dataclass(frozen=True, eq=False)
class PublishedAudit:
    """What a published table tells of its suppressed cells.

    asked     : positions of the cells that were looked at
    lower     : of each of them the least that it can be; NaN where that was not decided
    upper     : and the most
    exact     : positions of those that can be computed
    narrow    : positions of primary ones whose interval is too narrow, the exact ones among them left out
    undecided : positions of those for which the solver did not finish
    """

    asked: Indices
    lower: Floats
    upper: Floats
    exact: Indices
    narrow: Indices
    undecided: Indices

    @property
    def safe(self) -> bool:
        """Every cell that was asked about was decided and stays open."""
        return not (len(self.exact) or len(self.narrow) or len(self.undecided))


def audit_published(
    equations: csr_array,
    value: Floats,
    primary: Booleans | None = None,
    width_percent: float = 10,
    unit: float = 1,
    nonnegative: bool = True,
    only_primary: bool = False,
    workers: int = 1,
) -> PublishedAudit:
    """The intervals of the suppressed cells, and which of them are too narrow.

    equations     : shape (e, c), +1 at a sum and -1 at its parts
    value         : shape (c,), NaN where it is suppressed
    primary       : shape (c,), the suppressed cells that must stay open; none when not known
    width_percent : how wide their intervals must be, of the interval's middle
    unit          : of the last decimal of the values; an interval narrower than half of it is one value
    only_primary  : leave the other suppressed cells out, to save time
    raises        : DataError for a percentage out of bounds; TotalsDoNotAddError when the values contradict each other
    cost          : two linear programmes for each cell that is looked at
    """
    if not 0 < width_percent <= 200:
        raise DataError(f"width_percent must be above 0 and at most 200; got {width_percent:g}.")
    hidden = np.isnan(value)
    primary = np.zeros(len(hidden), dtype=bool) if primary is None else primary & hidden
    asked = np.flatnonzero(primary if only_primary else hidden)
    bounds = np.full(len(hidden), 0.0 if nonnegative else -np.inf), np.full(len(hidden), np.inf)
    lower, upper = feasibility_intervals(equations, value, asked, *bounds, workers)
    undecided = np.isnan(lower) | np.isnan(upper)
    width = np.where(undecided, np.inf, upper - np.where(np.isneginf(lower), -np.finfo(float).max, lower))
    exact = width < unit / 2
    middle = np.abs(np.where(np.isfinite(width) & np.isfinite(upper), (lower + upper) / 2, 0.0))
    narrow = primary[asked] & ~exact & (width < width_percent / 100 * middle)
    return PublishedAudit(asked, lower, upper, asked[exact], asked[narrow], asked[undecided])

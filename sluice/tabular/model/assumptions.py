"""What an attacker on suppressed cells is assumed to know and to be able to do."""

from dataclasses import dataclass, field
from typing import get_args

import numpy as np

from sluice.ground.errors import DataError
from sluice.tabular.model.cells import Booleans, Cells, Floats
from sluice.tabular.model.measure import Counts


@dataclass(frozen=True)
class Assumptions:
    """Every attacker knows all published cells and that parts add up to their sums; beyond that:

    nonnegative  : that no contribution is negative
    known_within : each suppressed cell to within so many percent of its value, beforehand; None: nothing
    coalition    : how many contributors pool their knowledge: 0, attackers know no contribution; 1, each sole
                   contributor of a cell knows its value; 2 or more, so many of them together
    unions       : which suppressed cells add up to a known sum, and so whether that union is sensitive itself
    zeros_known  : which cells, and whose contributions, are zero; of a sensitive cell of zeros it is the secret, and
                   nobody is assumed to know it
    counts       : that a cell is a number of records, 'contributors' where each is a contributor of its own and
                   'records' where one may have several; None for a magnitude. See `sluice.tabular.rules.intruders`
    own_parts    : each contributor among the largest that the cells keep its own part of every cell, so that a cell is
                   at least as large, and coalitions theirs together; False: only who is alone in a cell uses what it
                   knows. Nothing where coalition is 0, or contributions may be negative
    statuses     : which suppressed cells of a magnitude are sensitive, because the files distinguish primary from
                   secondary: a contributor to one that is not knows more than its own part, see `known_parts`. Of
                   coalitions it is not played
    beforehand   : from what to what each cell is known to be, from elsewhere, in whole units of the table and infinite
                   for no end; shapes (c,). None: nothing. The truth must be between them
    """

    nonnegative: bool = True
    known_within: float | None = None
    coalition: int = 1
    unions: bool = True
    zeros_known: bool = True
    counts: Counts | None = None
    own_parts: bool = True
    statuses: bool = False
    beforehand: tuple[Floats, Floats] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.known_within is not None and not 0 < self.known_within <= 100:
            raise DataError(f"known_within must be above 0 and at most 100, in percent; got {self.known_within:g}.")
        if self.coalition < 0:
            raise DataError(f"coalition must be 0 or more contributors; got {self.coalition}.")
        if self.counts is not None and self.counts not in get_args(Counts):
            raise DataError(f"counts must be None, records or contributors; got '{self.counts}'.")

    def bounds(self, cells: Cells, sensitive: Booleans) -> tuple[Floats, Floats]:
        """What an attacker believes possible of each cell beforehand, from and to; shapes (c,), in units.

        sensitive : shape (c,), the cells that rules or people protect
        """
        total = cells.total.astype(np.float64)
        lower = np.zeros(len(cells)) if self.nonnegative else np.full(len(cells), -np.inf)
        upper = np.full(len(cells), np.inf)
        if self.known_within is not None:
            within = np.abs(total) * self.known_within / 100
            lower, upper = np.maximum(lower, total - within), total + within
        if self.beforehand is not None:
            if len(self.beforehand[0]) != len(cells):
                raise DataError(
                    f"bounds known beforehand must be given of each of {len(cells)} cells; got "
                    f"{len(self.beforehand[0])}."
                )
            lower, upper = np.maximum(lower, self.beforehand[0]), np.minimum(upper, self.beforehand[1])
        if self.zeros_known:
            # contributions that cancel each other out are no known zero
            zero = ~sensitive & (cells.contributions.total == 0)
            lower, upper = np.where(zero, 0.0, lower), np.where(zero, 0.0, upper)
        return lower, upper

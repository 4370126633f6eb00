"""Minimum frequency: a cell with fewer than n contributors is sensitive.

Source: Torra (2013), "Disclosure problems": the single person of a cell is disclosed to everybody, each of
two persons to the other. The rule itself names no protection level; a stated share of the largest contribution is asked
for, which with 10 percent is what the p% rule asks of such a cell at p = 10.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sluice.tabular.model.cells import Booleans, Contributions, Integers
from sluice.tabular.rules.contributions import Values, one_cell, percentage, shortfall, sum_of_largest, whole
from sluice.tabular.rules.sensitivity import SensitivityRule


@dataclass(frozen=True)
class MinimumFrequency(SensitivityRule):
    """A cell has at least n contributors; `protection_percent` of the largest contribution must stay open.

    A contributor of 0 counts as one, unless `zeros_safe`: then a cell of which all contributors report 0 is safe.
    """

    rule: ClassVar[str] = "minimum_frequency"
    n: int
    protection_percent: float = 10
    zeros_safe: bool = False

    def __post_init__(self) -> None:
        whole(self.n, "n", self.rule)
        percentage(self.protection_percent, "protection_percent", self.rule)

    @property
    def largest_needed(self) -> int:
        return max(self.n - 1, 1)  # all of a sensitive cell, so that one's own can be taken out of it

    def sensitive(self, contributions: Contributions) -> Booleans:
        return self._fewer_than(self.n, contributions)

    def protection(self, contributions: Contributions, outsider: bool = False) -> Integers:
        share = percentage(self.protection_percent, "protection_percent", self.rule)
        first = sum_of_largest(contributions, 1)
        level = np.maximum(shortfall(share, first, np.zeros_like(first)), 1)
        # Who is not among the contributors learns as little from n - 1 of them as one of n learns from the others.
        return np.where(self._fewer_than(self.n - outsider, contributions), level, 0)

    def _fewer_than(self, n: int, contributions: Contributions) -> Booleans:
        fewer: Booleans = (contributions.contributors > 0) & (contributions.contributors < n)
        return fewer & (sum_of_largest(contributions, 1) != 0) if self.zeros_safe else fewer


def minimum_frequency(contributions: Values, n: int) -> bool:
    """True when the cell is sensitive: it has contributors, but fewer than n.

    contributions : shape (c,), one entry a contributor, 0 or more; a contributor of 0 counts. No entry at all is an
                    empty cell, which speaks of nobody and is safe
    raises        : DataError if n < 1 or a contribution is negative or not finite
    """
    return bool(MinimumFrequency(n).sensitive(one_cell(contributions, "minimum_frequency"))[0])

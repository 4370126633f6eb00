"""Minimum frequency: how many contribute to a cell.

Source: Torra (2013), "Disclosure problems"; Hundepool and others (2012), section 4.2.

The single person of a cell is disclosed to everybody, each of two persons to the other. The rule itself names no
protection level; a stated share of the largest contribution is asked for, which with 10 percent is what the p% rule
asks of such a cell at p = 10. A contributor of 0 counts as one, unless `zeros_safe`: then a cell of which all
contributors report 0 is safe.
"""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sluice.ground.document_parts import Percent
from sluice.tabular.model.cells import Booleans, Contributions, Integers
from sluice.tabular.rules.contributions import Values, one_cell, percentage, shortfall, sum_of_largest, whole
from sluice.tabular.rules.sensitivity import SensitivityRule


class MinimumFrequency(SensitivityRule):
    """A cell has at least n contributors."""

    rule: Literal["minimum_frequency"] = "minimum_frequency"
    example: ClassVar[str] = "{rule: minimum_frequency, n: 3}"
    advice: ClassVar[str] = (
        "Cells with too few contributors: merge rare categories or areas in the table's dimensions, or let the "
        "protection suppress these cells with others that keep the totals from giving them back."
    )
    n: int = Field(ge=2, description="smallest number of contributors that is published")
    protection_percent: Percent = Field(
        default=10, description="percent of the largest contribution by which a suppressed total must stay uncertain"
    )
    zeros_safe: bool = Field(default=False, description="a cell whose contributors all report 0 is safe")

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

    def describe(self) -> str:
        but = ", unless all of them report 0" if self.zeros_safe else ""
        return f"A cell to which fewer than {self.n} contribute is not published{but}."


def minimum_frequency(contributions: Values, n: int) -> bool:
    """True when the cell is sensitive: it has contributors, but fewer than n.

    contributions : shape (c,), one entry a contributor, 0 or more; a contributor of 0 counts. No entry at all is an
                    empty cell, which speaks of nobody and is safe
    raises        : DataError if n < 1 or a contribution is negative or not finite
    """
    rule = MinimumFrequency.model_construct(n=whole(n, "n", "minimum_frequency"))
    return bool(rule.sensitive(one_cell(contributions, "minimum_frequency"))[0])

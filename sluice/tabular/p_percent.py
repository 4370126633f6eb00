"""The p% rule: a cell is sensitive when its second largest contributor can come within p percent of its largest.

Source: 004_1eece6b9d3791e64.txt, "Detection of sensitive cells (II)". Differs from its example, which compares with
half the cell's total (181.5) where the rule's own words ask for half the largest contribution (175).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sluice.errors import DataError
from sluice.tabular import cells
from sluice.tabular.contributions import Contributions, exceeds, largest_first
from sluice.tabular.sensitivity import SensitivityRule


@dataclass(frozen=True)
class PPercent(SensitivityRule):
    """No contributor can compute another's contribution to within p percent."""

    rule: ClassVar[str] = "p_percent"
    p: float

    @property
    def largest_needed(self) -> int:
        return 2

    def sensitive(self, contributions: cells.Contributions) -> cells.Booleans:
        return self.protection(contributions) > 0

    def protection(self, contributions: cells.Contributions, outsider: bool = False) -> cells.Integers:
        p = Fraction(repr(float(self.p))) / 100
        first = contributions.largest[:, 0]
        rest = contributions.total - first - (0 if outsider else contributions.largest[:, 1])
        return np.maximum(-((rest * p.denominator - first * p.numerator) // p.denominator), 0)  # whole numbers: exact


def p_percent(contributions: Contributions, p: float) -> bool:
    """True when the cell is sensitive: total - x1 - x2 < p / 100 * x1, x1 and x2 being the two largest contributions.

    contributions : shape (c,), 0 or more, in any order
    p             : percent, from 1 to 100
    raises        : DataError if p is out of bounds or a contribution is negative or not finite
    cost          : O(c log c); near the boundary exact fractions decide

    Exactly on the boundary is safe. One or two contributors are always sensitive, unless all contribute 0: of a cell
    of zeros the rule says nothing, although its total tells every contribution.
    """
    if not 1 <= p <= 100:
        raise DataError(f"p of p_percent must be from 1 to 100, in percent; got {p}. Is it a share? Use {100 * p:g}.")
    values = largest_first(contributions, "p_percent")
    return exceeds((p, values[:1]), (100, values[2:]))

"""The (n, k) rule, dominance: a cell whose n largest contributors hold more than k percent of it is sensitive.

Source: Torra (2013), "Detection of sensitive cells (I)". As in tau-ARGUS, exactly k percent is safe. The
protection level is that of Hundepool and others (2012), section 4.3: 100 / k times the sum of the n largest, less the
total. A policy may hold several pairs (n, k); each is a rule.
"""

from dataclasses import dataclass
from typing import ClassVar

from sluice.tabular.model.cells import Booleans, Contributions, Integers
from sluice.tabular.rules.contributions import Values, one_cell, percentage, shortfall, sum_of_largest, whole
from sluice.tabular.rules.sensitivity import SensitivityRule


@dataclass(frozen=True)
class Dominance(SensitivityRule):
    """The n largest contributors hold at most k percent of a cell."""

    rule: ClassVar[str] = "dominance"
    n: int
    k: float

    def __post_init__(self) -> None:
        whole(self.n, "n", self.rule)
        percentage(self.k, "k", self.rule)

    @property
    def largest_needed(self) -> int:
        return self.n

    def sensitive(self, contributions: Contributions) -> Booleans:
        return self.protection(contributions) > 0

    def protection(self, contributions: Contributions, outsider: bool = False) -> Integers:
        # One of the n is the attacker; who contributes nothing is left with n - 1 of them.
        largest = sum_of_largest(contributions, max(self.n - outsider, 1))
        return shortfall(1 / percentage(self.k, "k", self.rule), largest, contributions.total)


def dominance(contributions: Values, n: int, k: float) -> bool:
    """True when the cell is sensitive: its n largest contributions are together more than k percent of its total.

    contributions : shape (c,), 0 or more, in any order
    n, k          : 1 or more; percent, from 1 to 100
    raises        : DataError if n or k is out of bounds or a contribution is negative or not finite

    A cell of at most n contributors is sensitive as soon as its total is positive and k is below 100.
    """
    return bool(Dominance(n, k).sensitive(one_cell(contributions, "dominance"))[0])

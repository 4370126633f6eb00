"""The (n,k)-dominance rule: how much of a cell its largest contributors hold.

Source: Torra (2013), "Detection of sensitive cells (I)"; Hundepool and others (2012), section 4.3.

As in tau-ARGUS, exactly k percent is safe. The protection level is 100 / k times the sum of the n largest, less the
total. A policy may hold several pairs (n, k); each is a rule.
"""

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from sluice.ground.document_parts import Percent
from sluice.tabular.model.cells import Contributions, Integers
from sluice.tabular.rules.contributions import Values, one_cell, percentage, shortfall, sum_of_largest, whole
from sluice.tabular.rules.sensitivity import SensitivityRule


class Dominance(SensitivityRule):
    """The n largest contributors hold at most k percent of a cell."""

    rule: Literal["dominance"] = "dominance"
    example: ClassVar[str] = "{rule: dominance, n: 1, k: 75}"
    largest: ClassVar[Mapping[str, float]] = {"k": 100.0}  # percent of the cell
    advice: ClassVar[str] = (
        "A few large contributors make up these cells: merge them with categories that have contributors of like size, "
        "suppress them, or ask the dominating contributor for consent and record a waiver."
    )
    n: int = Field(ge=1)
    k: Percent = Field(description="percent")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.n > self.k:
            raise ValueError(
                f"n is a number of contributors and k a percentage, such as 2 and 85; got n {self.n} and k {self.k:g}. "
                "Are they swapped?"
            )
        return self

    @property
    def largest_needed(self) -> int:
        return self.n

    def protection(self, contributions: Contributions, outsider: bool = False) -> Integers:
        # One of the n is the attacker; who contributes nothing is left with n - 1 of them.
        largest = sum_of_largest(contributions, max(self.n - outsider, 1))
        return shortfall(1 / percentage(self.k, "k", self.rule), largest, contributions.total)

    def describe(self) -> str:
        who = "largest contributor holds" if self.n == 1 else f"{self.n} largest contributors hold"
        return f"A cell is not published when its {who} more than {self.k:g} % of it."


def dominance(contributions: Values, n: int, k: float) -> bool:
    """True when the cell is sensitive: its n largest contributions are together more than k percent of its total.

    contributions : shape (c,), 0 or more, in any order
    n, k          : 1 or more; percent, from 1 to 100
    raises        : DataError if n or k is out of bounds or a contribution is negative or not finite

    A cell of at most n contributors is sensitive as soon as its total is positive and k is below 100.
    """
    rule = Dominance.model_construct(n=whole(n, "n", "dominance"), k=k)
    return bool(rule.sensitive(one_cell(contributions, "dominance"))[0])

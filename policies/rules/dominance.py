"""The (n,k)-dominance rule: how much of a cell its largest contributors hold.

Source: Torra (2013), "Detection of sensitive cells (I)"; Hundepool and others (2012), section 4.3.
"""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from policies.rules.table_rule import TableRule
from sluice.ground.document_parts import Percent
from sluice.tabular.rules import dominance
from sluice.tabular.rules.sensitivity import SensitivityRule


class Dominance(TableRule):
    """The n largest contributors hold at most k percent of a cell."""

    rule: Literal["dominance"] = "dominance"
    example: ClassVar[str] = "{rule: dominance, n: 1, k: 75}"
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

    def sensitivity(self) -> SensitivityRule:
        return dominance.Dominance(self.n, self.k)

    def describe(self) -> str:
        who = "largest contributor holds" if self.n == 1 else f"{self.n} largest contributors hold"
        return f"A cell is not published when its {who} more than {self.k:g} % of it."

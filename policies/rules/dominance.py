"""The (n,k)-dominance rule: how much of a cell its largest contributors hold."""

from typing import Literal

from pydantic import Field

from policies.rules.rule import Percent
from policies.rules.table_rule import TableRule
from sluice.tabular.rules import dominance
from sluice.tabular.rules.sensitivity import SensitivityRule


class Dominance(TableRule):
    """The n largest contributors hold at most k percent of a cell."""

    rule: Literal["dominance"] = "dominance"
    n: int = Field(ge=1)
    k: Percent = Field(description="percent")

    def sensitivity(self) -> SensitivityRule:
        return dominance.Dominance(self.n, self.k)

    def describe(self) -> str:
        who = "largest contributor holds" if self.n == 1 else f"{self.n} largest contributors hold"
        return f"A cell is not published when its {who} more than {self.k:g} % of it."

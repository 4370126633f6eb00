"""Rules on one cell of a table, given the contributions that it adds up.

Shown a file of records they answer `UNKNOWN`, so a policy written for tables lets no file of records out.
"""

from abc import abstractmethod
from typing import Literal

import pandas as pd
from pydantic import Field

from policies.rule import Percent, Rule
from sluice.tabular import dominance, minimum_frequency, p_percent
from sluice.tabular.contributions import Contributions
from sluice.variables import Variables
from sluice.verdict import Finding


class TableRule(Rule):
    """A rule on one cell of a table: is its value sensitive, given the contributions that it adds up?"""

    @abstractmethod
    def is_sensitive(self, contributions: Contributions) -> bool:
        """True when the cell may not be published. Raises DataError unless all contributions are finite and >= 0."""

    def find(self, frame: pd.DataFrame, variables: Variables, stage: str, unit: str = "records") -> list[Finding]:
        return [self.unknown(stage, f"The rule {self.rule} is for the cells of a table, not for {unit}.", len(frame))]


class MinimumFrequency(TableRule):
    """A cell has at least n contributors."""

    rule: Literal["minimum_frequency"] = "minimum_frequency"
    n: int = Field(ge=2, description="smallest number of contributors that is published")

    def is_sensitive(self, contributions: Contributions) -> bool:
        return minimum_frequency.minimum_frequency(contributions, self.n)

    def describe(self) -> str:
        return f"A cell to which fewer than {self.n} contribute is not published."


class Dominance(TableRule):
    """The n largest contributors hold at most k percent of a cell."""

    rule: Literal["dominance"] = "dominance"
    n: int = Field(ge=1)
    k: Percent = Field(description="percent")

    def is_sensitive(self, contributions: Contributions) -> bool:
        return dominance.dominance(contributions, self.n, self.k)

    def describe(self) -> str:
        who = "largest contributor holds" if self.n == 1 else f"{self.n} largest contributors hold"
        return f"A cell is not published when its {who} more than {self.k:g} % of it."


class PPercent(TableRule):
    """No contributor can compute another's contribution to within p percent."""

    rule: Literal["p_percent"] = "p_percent"
    p: Percent = Field(description="percent")

    def is_sensitive(self, contributions: Contributions) -> bool:
        return p_percent.p_percent(contributions, self.p)

    def describe(self) -> str:
        return (
            "A cell is not published when its second largest contributor could compute the largest contribution to "
            f"within {self.p:g} %."
        )

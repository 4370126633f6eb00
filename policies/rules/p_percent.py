"""The p% rule: how nearly a contributor can compute another's contribution.

Source: Torra (2013), "Detection of sensitive cells (II)"; Hundepool and others (2012), sections 4.2 and 4.3.
"""

from typing import ClassVar, Literal

from pydantic import Field

from policies.rules.table_rule import TableRule, attackers
from sluice.ground.document_parts import Percent
from sluice.tabular.rules import p_percent
from sluice.tabular.rules.sensitivity import SensitivityRule


class PPercent(TableRule):
    """No contributor can compute another's contribution to within p percent."""

    rule: Literal["p_percent"] = "p_percent"
    example: ClassVar[str] = "{rule: p_percent, p: 10}"
    advice: ClassVar[str] = (
        "A contributor could compute a competitor's contribution too nearly: give the cell more small contributors by "
        "merging categories, or suppress it and enough others that its feasibility interval is wide."
    )
    p: Percent = Field(description="percent")
    coalition: int = Field(default=1, ge=1, description="how many contributors pool what they know")

    def sensitivity(self) -> SensitivityRule:
        return p_percent.PPercent(self.p, self.coalition)

    def describe(self) -> str:
        return (
            f"A cell is not published when {attackers(self.coalition)} could compute the largest contribution to "
            f"within {self.p:g} %."
        )

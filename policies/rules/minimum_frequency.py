"""Minimum frequency: how many contribute to a cell.

Source: Torra (2013), "Disclosure problems"; Hundepool and others (2012), section 4.2.
"""

from typing import ClassVar, Literal

from pydantic import Field

from policies.rules.table_rule import TableRule
from sluice.ground.document_parts import Percent
from sluice.tabular.rules import minimum_frequency
from sluice.tabular.rules.sensitivity import SensitivityRule


class MinimumFrequency(TableRule):
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
    zeros_safe: bool = Field(default=False, description="a cell is safe when all who contribute report 0")

    def sensitivity(self) -> SensitivityRule:
        return minimum_frequency.MinimumFrequency(self.n, self.protection_percent, self.zeros_safe)

    def describe(self) -> str:
        but = ", unless all of them report 0" if self.zeros_safe else ""
        return f"A cell to which fewer than {self.n} contribute is not published{but}."

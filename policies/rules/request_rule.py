"""The request rule: contributors who asked for protection.

Source: Hundepool and others (2012), section 4.2.
"""

from typing import ClassVar, Literal

from pydantic import Field

from policies.rules.table_rule import TableRule
from sluice.ground.document_parts import Percent
from sluice.tabular.rules import request_rule
from sluice.tabular.rules.sensitivity import SensitivityRule


class RequestRule(TableRule):
    """No contributor who asked for protection holds more than k percent of a cell."""

    rule: Literal["request_rule"] = "request_rule"
    example: ClassVar[str] = "{rule: request_rule, k: 70}"
    advice: ClassVar[str] = (
        "A contributor who asked for protection holds too much of the cell: suppress it with complements, or merge it "
        "with a category in which the contributor weighs less. Only the contributor can lift the request."
    )
    k: Percent = Field(description="percent")

    def sensitivity(self) -> SensitivityRule:
        return request_rule.RequestRule(self.k)

    def describe(self) -> str:
        return f"A cell is not published when a contributor who asked for it holds more than {self.k:g} % of it."

"""Zero cells: a total of 0 gives every contribution away.

Source: Hundepool and others (2012), section 4.2; tau-ARGUS calls it "zero unsafe".
"""

from typing import ClassVar, Literal

from pydantic import Field

from policies.rules.table_rule import TableRule
from sluice.tabular.rules import zero_cells
from sluice.tabular.rules.sensitivity import SensitivityRule


class ZeroCells(TableRule):
    """A cell of zeros is not published, because its total gives every contribution away."""

    rule: Literal["zero_cells"] = "zero_cells"
    example: ClassVar[str] = "{rule: zero_cells}"
    advice: ClassVar[str] = (
        "A published zero says that everybody in the cell reported nothing: merge the cell with a neighbouring "
        "category, suppress it, or take this rule out where zeros are public knowledge."
    )
    protection_units: int = Field(
        default=1, ge=1, description="how large an attacker must believe it, in units of the measure's last decimal"
    )

    def sensitivity(self) -> SensitivityRule:
        return zero_cells.ZeroCells(self.protection_units)

    def describe(self) -> str:
        return "A cell is not published when all who contribute to it report 0."

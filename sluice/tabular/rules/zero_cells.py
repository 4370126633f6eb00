"""Zero cells: a total of 0 gives every contribution away.

Source: Hundepool and others (2012), section 4.2; tau-ARGUS calls it "zero unsafe".

The other rules speak of shares and say nothing of a cell of zeros. Without this rule such a cell is safe by them.
"""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sluice.tabular.model.cells import Booleans, Contributions, Integers
from sluice.tabular.rules.contributions import sum_of_largest
from sluice.tabular.rules.sensitivity import SensitivityRule


class ZeroCells(SensitivityRule):
    """A cell of zeros is not published, because its total reveals every contribution."""

    rule: Literal["zero_cells"] = "zero_cells"
    example: ClassVar[str] = "{rule: zero_cells}"
    advice: ClassVar[str] = (
        "A published zero says that everybody in the cell reported nothing: merge the cell with a neighbouring "
        "category, suppress it, or take this rule out where zeros are public knowledge."
    )
    protection_units: int = Field(
        default=1, ge=1, description="how large it must remain possible, in units of the measure's last decimal"
    )

    @property
    def largest_needed(self) -> int:
        return 1

    def sensitive(self, contributions: Contributions) -> Booleans:
        of_zeros: Booleans = sum_of_largest(contributions, 1) == 0
        return of_zeros & (contributions.contributors > 0)

    def protection(self, contributions: Contributions, outsider: bool = False) -> Integers:
        return np.where(self.sensitive(contributions), self.protection_units, 0)

    def describe(self) -> str:
        return "A cell is not published when all who contribute to it report 0."

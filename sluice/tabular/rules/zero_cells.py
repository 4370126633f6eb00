"""Zero cells: a cell whose contributors all report 0 is sensitive, because its total tells every contribution.

Source: Hundepool and others (2012), section 4.2; tau-ARGUS calls it "zero unsafe". The other rules speak of shares and
say nothing of a cell of zeros. Without this rule such a cell is safe by them.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sluice.tabular.model.cells import Booleans, Contributions, Integers
from sluice.tabular.rules.contributions import sum_of_largest, whole
from sluice.tabular.rules.sensitivity import SensitivityRule


@dataclass(frozen=True)
class ZeroCells(SensitivityRule):
    """No cell of zeros is published; an attacker must believe up to `protection_units` possible."""

    rule: ClassVar[str] = "zero_cells"
    protection_units: int = 1

    def __post_init__(self) -> None:
        whole(self.protection_units, "protection_units", self.rule)

    @property
    def largest_needed(self) -> int:
        return 1

    def sensitive(self, contributions: Contributions) -> Booleans:
        of_zeros: Booleans = sum_of_largest(contributions, 1) == 0
        return of_zeros & (contributions.contributors > 0)

    def protection(self, contributions: Contributions, outsider: bool = False) -> Integers:
        return np.where(self.sensitive(contributions), self.protection_units, 0)

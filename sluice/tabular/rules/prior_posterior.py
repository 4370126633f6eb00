"""The prior-posterior rule (p, q): nobody who knows every contribution to within q percent may get to within p.

Source: Hundepool and others (2012), sections 4.2 and 4.3: sensitive when q / 100 (X - x1 - x2) < p / 100 x1, protection
level p / q x1 - (X - x1 - x2). With q = 100, when an attacker knows only that contributions are not negative, it is the
p% rule.
"""

from dataclasses import dataclass
from typing import ClassVar

from sluice.ground.errors import DataError
from sluice.tabular.model.cells import Booleans, Contributions, Integers
from sluice.tabular.rules.contributions import percentage, whole
from sluice.tabular.rules.p_percent import protection_of_largest
from sluice.tabular.rules.sensitivity import SensitivityRule


@dataclass(frozen=True)
class PriorPosterior(SensitivityRule):
    """Who knows each contribution to within q percent beforehand cannot tell one to within p percent afterwards."""

    rule: ClassVar[str] = "prior_posterior"
    p: float
    q: float
    coalition: int = 1

    def __post_init__(self) -> None:
        if percentage(self.p, "p", self.rule) >= percentage(self.q, "q", self.rule):
            raise DataError(f"p of {self.rule} must be below q, the prior knowledge; got p {self.p} and q {self.q}.")
        whole(self.coalition, "coalition", self.rule)

    @property
    def largest_needed(self) -> int:
        return 1 + self.coalition

    def sensitive(self, contributions: Contributions) -> Booleans:
        return self.protection(contributions) > 0

    def protection(self, contributions: Contributions, outsider: bool = False) -> Integers:
        share = percentage(self.p, "p", self.rule) / percentage(self.q, "q", self.rule)
        return protection_of_largest(share, contributions, self.coalition - outsider)

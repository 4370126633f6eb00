"""The prior-posterior (p,q) rule: what a contributor learns beyond what everybody knew.

Source: Hundepool and others (2012), sections 4.2 and 4.3.

Sensitive when q / 100 (X - x1 - x2) < p / 100 x1, protection level p / q x1 - (X - x1 - x2). With q = 100, when an
attacker knows only that contributions are not negative, it is the p% rule.
"""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from sluice.ground.document_parts import Percent
from sluice.tabular.model.cells import Booleans, Contributions, Integers
from sluice.tabular.rules.contributions import percentage
from sluice.tabular.rules.p_percent import attackers, protection_of_largest
from sluice.tabular.rules.sensitivity import SensitivityRule


class PriorPosterior(SensitivityRule):
    """Who knows each contribution to within q percent beforehand cannot compute one to within p percent afterwards."""

    rule: Literal["prior_posterior"] = "prior_posterior"
    example: ClassVar[str] = "{rule: prior_posterior, p: 10, q: 50}"
    advice: ClassVar[str] = (
        "Together with what everybody knows beforehand, the cell gives its largest contribution away: merge categories "
        "until the other contributors vary enough, or suppress the cell; check that q is what competitors can know."
    )
    p: Percent = Field(description="percent, afterwards")
    q: Percent = Field(description="percent, beforehand; above p")
    coalition: int = Field(default=1, ge=1, description="how many contributors pool what they know")

    @model_validator(mode="after")
    def _learns(self) -> Self:
        if self.p >= self.q:
            raise ValueError(f"p must be below q, the prior knowledge; got p {self.p:g} and q {self.q:g}")
        return self

    @property
    def largest_needed(self) -> int:
        return 1 + self.coalition

    def sensitive(self, contributions: Contributions) -> Booleans:
        return self.protection(contributions) > 0

    def protection(self, contributions: Contributions, outsider: bool = False) -> Integers:
        share = percentage(self.p, "p", self.rule) / percentage(self.q, "q", self.rule)
        return protection_of_largest(share, contributions, self.coalition - outsider)

    def describe(self) -> str:
        return (
            f"A cell is not published when {attackers(self.coalition)}, knowing every other contribution to within "
            f"{self.q:g} % beforehand, could compute the largest to within {self.p:g} %."
        )

"""The prior-posterior (p,q) rule: what a contributor learns beyond what everybody knew.

Source: Hundepool and others (2012), sections 4.2 and 4.3.
"""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from policies.rules.table_rule import TableRule, attackers
from sluice.ground.document_parts import Percent
from sluice.tabular.rules import prior_posterior
from sluice.tabular.rules.sensitivity import SensitivityRule


class PriorPosterior(TableRule):
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

    def sensitivity(self) -> SensitivityRule:
        return prior_posterior.PriorPosterior(self.p, self.q, self.coalition)

    def describe(self) -> str:
        return (
            f"A cell is not published when {attackers(self.coalition)}, knowing every other contribution to within "
            f"{self.q:g} % beforehand, could compute the largest to within {self.p:g} %."
        )

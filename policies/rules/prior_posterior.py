"""The prior-posterior (p,q) rule: what a contributor learns beyond what everybody knew."""

from typing import Literal, Self

from pydantic import Field, model_validator

from policies.rules.rule import Percent
from policies.rules.table_rule import TableRule, attackers
from sluice.tabular.rules import prior_posterior
from sluice.tabular.rules.sensitivity import SensitivityRule


class PriorPosterior(TableRule):
    """Who knows each contribution to within q percent beforehand cannot tell one to within p percent afterwards."""

    rule: Literal["prior_posterior"] = "prior_posterior"
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

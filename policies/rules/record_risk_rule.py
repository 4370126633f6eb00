"""RecordRiskRule: limits on the highest and on the mean of one risk a record."""

from abc import abstractmethod
from typing import Self

import pandas as pd
from pydantic import Field, model_validator

from policies.rules.keyed_rule import PositiveShare, refuse_no_limit
from policies.rules.population_estimate import PopulationEstimate
from sluice.ground.sentence import Sentences
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding
from sluice.risk.population import individual_risk

_SAYS = Sentences(
    "record_risk",
    highest="Among all {unit}, the one most at risk is {found} with a chance of {chance:percent}",
    expected="{share:percent} of the {unit} are expected to be {found}",
)


class RecordRiskRule(PopulationEstimate):
    """A rule on one risk a record, with a limit on the highest and one on the mean."""

    highest_at_most: PositiveShare | None = Field(default=None, description="chance for the record most at risk")
    expected_at_most: PositiveShare | None = Field(
        default=None, description="expected share of the records that are named rightly"
    )

    @model_validator(mode="after")
    def _has_a_limit(self) -> Self:
        refuse_no_limit(self.rule, self.highest_at_most, self.expected_at_most)
        return self

    def estimate(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str
    ) -> list[Finding]:
        risks = self.risks(frame, variables, keys)
        findings, scope = [], ", ".join(keys)
        if (limit := self.highest_at_most) is not None:
            value = float(risks.max())
            says = _SAYS.highest(unit=unit, found=self.found, chance=value)
            findings.append(self.limited(value, limit, frame, says, stage, f"highest by {scope}"))
        if (limit := self.expected_at_most) is not None:
            value = individual_risk.expected_share(risks).value
            says = _SAYS.expected(share=value, unit=unit, found=self.found)
            findings.append(self.limited(value, limit, frame, says, stage, f"expected by {scope}"))
        return findings

    def describe(self) -> str:
        limits = []
        if self.highest_at_most is not None:
            limits.append(f"with a chance of at most {100 * self.highest_at_most:.3g} % for the record most at risk")
        if self.expected_at_most is not None:
            limits.append(f"for at most {100 * self.expected_at_most:.3g} % of all records on average")
        return f"A record is {self.found} {', and '.join(limits)}."

    @property
    @abstractmethod
    def found(self) -> str:
        """What happens to a record, in words."""

"""Reidentification risk of the prosecutor, the journalist and the marketer.

Source: El Emam (2013), chapter 16; Dankar and El Emam (2010).
"""

from math import isclose
from typing import ClassVar, Literal, Self

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, model_validator

from policies.rules.frequency_rule import key_frequencies
from policies.rules.keyed_rule import PositiveShare, refuse_no_limit
from policies.rules.population_rule import PopulationRule
from sluice.generalization.models.privacy_model import PrivacyModel
from sluice.generalization.models.reidentification_risk import AverageRisk, HighestRisk
from sluice.ground.document_parts import Share
from sluice.ground.rule import Background
from sluice.ground.sentence import Sentences
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding
from sluice.risk.population import reidentification_risk

_WHO = "A {model} who knows {keys:listed}"
_SAYS = Sentences(
    "reidentification_risk",
    highest=f"{_WHO} names the record most at risk with a chance of {{chance:percent}}",
    average=f"{_WHO} is expected to name {{share:percent}} of the {{unit}} rightly",
    records_above=f"{_WHO} names {{share:percent}} of the {{unit}} with a chance above {{above:percent}}",
)


class RecordsAbove(BaseModel):
    """A chance of re-identification, and the share of the records that may exceed it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    risk: PositiveShare = Field(description="chance of re-identification, more than 0")
    at_most: Share = Field(description="share of the records, not percent")


class ReidentificationRisk(PopulationRule):
    """The chance that an intruder of a stated kind names records rightly."""

    rule: Literal["reidentification_risk"] = "reidentification_risk"
    example: ClassVar[str] = "{rule: reidentification_risk, model: prosecutor, highest_at_most: 0.2}"
    advice: ClassVar[str] = (
        "For the highest chance, recode or suppress the smallest groups; for the average, coarsen the quasi-"
        "identifiers of everybody. Releasing a sample helps against the journalist and the marketer, never against the "
        "prosecutor."
    )
    model: Literal["prosecutor", "journalist", "marketer"] = Field(
        description="who knows that the person is in the file; who looks in the population; who links the whole file"
    )
    highest_at_most: PositiveShare | None = Field(default=None, description="chance for the record most at risk")
    average_at_most: PositiveShare | None = Field(default=None, description="mean chance, or expected share of records")
    records_above: RecordsAbove | None = None
    population: str | None = Field(
        default=None, min_length=1, description="path of a CSV as for k_map; for the journalist and the marketer"
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        refuse_no_limit(self.rule, self.highest_at_most, self.average_at_most, self.records_above)
        if (self.model == "prosecutor") != (self.population is None):
            raise ValueError("population is needed for the journalist and the marketer, and not used by the prosecutor")
        if self.model == "marketer" and (self.highest_at_most is not None or self.records_above is not None):
            raise ValueError("the marketer counts right links alone: give average_at_most and no other limit")
        return self

    def judge(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str, background: Background
    ) -> list[Finding]:
        in_file = key_frequencies(frame, variables, keys, self.missing_matches, background)
        if self.population is None:
            risk = reidentification_risk.prosecutor_risk(in_file)
        else:
            risk = reidentification_risk.journalist_risk(
                in_file, self.in_population(self.population, frame, variables, keys, background)
            )
        scope, who = ", ".join(keys), {"model": self.model, "keys": keys}
        findings = []
        if (limit := self.highest_at_most) is not None:
            value = risk.highest.value
            says = _SAYS.highest(**who, chance=value)
            findings.append(self.limited(value, limit, frame, says, stage, f"highest by {scope}"))
        if (limit := self.average_at_most) is not None:
            value = risk.average.value
            if isclose(value, limit, rel_tol=1e-9):  # a mean of quotients: a limit that is met exactly is met
                value = limit
            says = _SAYS.average(**who, share=value, unit=unit)
            findings.append(self.limited(value, limit, frame, says, stage, f"average by {scope}"))
        if (above := self.records_above) is not None:
            value = risk.records_above(above.risk).value
            says = _SAYS.records_above(**who, share=value, unit=unit, above=above.risk)
            findings.append(self.limited(value, above.at_most, frame, says, stage, f"records above by {scope}"))
        return findings

    def models(self, variables: Variables) -> list[tuple[str, PrivacyModel | None]]:
        if self.columns is not None or self.model != "prosecutor" or self.records_above is not None:
            return [(self.rule, None)]
        highest = [] if self.highest_at_most is None else [HighestRisk(self.highest_at_most)]
        average = [] if self.average_at_most is None else [AverageRisk(self.average_at_most)]
        return [(self.rule, model) for model in (*highest, *average)]

    def describe(self) -> str:
        limits = []
        if self.highest_at_most is not None:
            limits.append(f"at most {100 * self.highest_at_most:.3g} % for the record most at risk")
        if self.average_at_most is not None:
            limits.append(f"at most {100 * self.average_at_most:.3g} % on average")
        if (above := self.records_above) is not None:
            limits.append(f"above {100 * above.risk:.3g} % for at most {100 * above.at_most:.3g} % of the records")
        return f"The chance that a {self.model} names a record rightly is {', and '.join(limits)}."

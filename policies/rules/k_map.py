"""k-map: how many people of the population fit each record.

Source: Desfontaines (2020), section 2.1.1; Sweeney (2002).
"""

from typing import ClassVar, Literal

import pandas as pd
from pydantic import Field

from policies.rules.population_rule import PopulationRule
from sluice.ground.rule import Background
from sluice.ground.sentence import Sentences
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding
from sluice.risk.population import k_map

_SAYS = Sentences(
    "k_map",
    kept="All {unit} share {keys:listed} with enough people of the population",
    too_few="{below:percent} of the {unit} share {keys:listed} with too few people of the population",
    fit_nobody=", and {nobody:percent} with none at all, so that the list is not one of everybody",
    asked="; the policy asks that at least {k:,} people fit every record.",
)


class KMap(PopulationRule):
    """Every record fits at least k people of a population."""

    rule: Literal["k_map"] = "k_map"
    example: ClassVar[str] = "{rule: k_map, k: 2, population: population.csv}"
    advice: ClassVar[str] = (
        "Recode the quasi-identifiers until enough people of the population list fit each record. If records fit "
        "nobody, the list is not in the released categories or does not cover the survey: mend the list first."
    )
    k: int = Field(ge=2, description="people of the population")
    population: str = Field(min_length=1, description="path of a CSV: the key columns in released categories [, count]")

    def judge(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str, background: Background
    ) -> list[Finding]:
        frequencies = self.in_population(self.population, frame, variables, keys, background)
        observed = k_map.k_map(frequencies).value
        below, nobody = float((frequencies < self.k).mean()), float((frequencies == 0).mean())
        says = _SAYS.kept(unit=unit, keys=keys)
        if observed < self.k:
            says = _SAYS.too_few(below=below, unit=unit, keys=keys)
        if nobody:
            says += _SAYS.fit_nobody(nobody=nobody)
        says += _SAYS.asked(k=self.k)
        return [self.finding(observed >= self.k, observed, self.k, len(frame), says, stage, ", ".join(keys))]

    def describe(self) -> str:
        return f"At least {self.k:,} people of the population in {self.population} fit every record (k-map)."

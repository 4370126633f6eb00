"""Population uniques: how many people are alone in the population with their key values.

Source: Dankar, El Emam, Neisa and Roffey (2012), who choose among the estimators of Hoshino (2001), Zayatz (1991) and
Chen and Keller-McNulty (1998).
"""

from typing import ClassVar, Literal, Self

import pandas as pd
from pydantic import Field, model_validator

from policies.rules.keyed_rule import PositiveShare
from policies.rules.population_estimate import PopulationEstimate
from sluice.generalization.models.population_uniques import PopulationUniques as PopulationUniquesModel
from sluice.generalization.models.privacy_model import PrivacyModel
from sluice.ground.document_parts import Share
from sluice.ground.sentence import Sentences
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.classes.equivalence_classes import classes_of
from sluice.risk.population import individual_risk, population_uniques

_FEW = 0.001  # of the population: from a smaller sample every estimate of uniques is a guess that a person must weigh
_ESTIMATORS = {
    "dankar": "decision rule of Dankar",
    "pitman": "estimator of Pitman",
    "zayatz": "estimator of Zayatz",
    "snb": "slide negative binomial",
}


_SAYS = Sentences(
    "population_uniques",
    unique="By the {estimator}, {share:percent} of the population are alone with their combination of {keys:listed}, "
    "and so are as many of the {unit}",
    small_sample=" Less than one person in {one_in:,} is in the file: a person must decide.",
)


class PopulationUniques(PopulationEstimate):
    """At most a share of the population, and of the records, is alone in the population with its key values."""

    rule: Literal["population_uniques"] = "population_uniques"
    example: ClassVar[str] = "{rule: population_uniques, at_most: 0.05, sampling_fraction: 0.1}"
    advice: ClassVar[str] = (
        "Too many people are estimated to be alone in the population: release a smaller sample of the records, or "
        "recode the quasi-identifiers until fewer sample uniques are left to extrapolate from."
    )
    at_most: Share = Field(lt=1, description="share of the population, not percent")
    estimator: population_uniques.Estimator = Field(
        default="dankar", description="dankar chooses among the others by the sampling fraction"
    )
    population: int | None = Field(default=None, ge=1, description="people in the population")
    sampling_fraction: PositiveShare | None = Field(default=None, description="records by people of the population")

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if self.population is not None and self.sampling_fraction is not None:
            raise ValueError("give population or sampling_fraction, not both; with neither the weights are summed up")
        return self

    @property
    def uses_weights(self) -> bool:
        return self.population is None and self.sampling_fraction is None

    def estimate(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str
    ) -> list[Finding]:
        classes = classes_of(frame, keys)
        if self.population is not None:
            people = float(self.population)
        elif self.sampling_fraction is not None:
            people = len(frame) / self.sampling_fraction
        else:
            people = float(individual_risk.estimated_population(classes, self.weights(frame, variables)).sum())
        measured, used = population_uniques.population_uniques(classes.sizes, people, self.estimator)
        says = _SAYS.unique(estimator=_ESTIMATORS[used], share=measured.value, keys=keys, unit=unit)
        limit = self.at_most
        finding = self.limited(measured.value, limit, frame, says, stage, f"{used} by {', '.join(keys)}")
        if finding.verdict is Verdict.PASS and len(frame) < _FEW * people and (classes.sizes == 1).any():
            return [
                finding.adding(_SAYS.small_sample(one_in=round(1 / _FEW))).model_copy(
                    update={"verdict": Verdict.REVIEW}
                )
            ]
        return [finding]

    def models(self, variables: Variables) -> list[tuple[str, PrivacyModel | None]]:
        if self.columns is not None or self.population is None:
            return [(self.rule, None)]
        return [(self.rule, PopulationUniquesModel(self.at_most, self.population, self.estimator))]

    def describe(self) -> str:
        return (
            f"At most an estimated {100 * self.at_most:.3g} % of the population are alone with their "
            f"quasi-identifiers ({_ESTIMATORS[self.estimator]})."
        )

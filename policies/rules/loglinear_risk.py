"""Risk under a log-linear model: are the sample uniques alone in the population, too?

Source: Skinner and Shlomo (2008).
"""

from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from policies.rules.keyed_rule import PositiveShare, refuse_no_limit
from policies.rules.population_estimate import PopulationEstimate
from sluice.ground.document_parts import Share
from sluice.ground.sentence import Sentences
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding
from sluice.risk.classes.equivalence_classes import category_codes
from sluice.risk.population import loglinear_risk

_SAYS = Sentences(
    "loglinear_risk",
    uniques="By a {model}, {share:percent} of the {unit} are alone in the population with their keys",
    guesses="By a {model}, {share:percent} of the {unit} are unique in the file and guessed rightly",
)


class LoglinearRisk(PopulationEstimate):
    """Few sample uniques are alone in the population, or named rightly, under a log-linear model of the keys."""

    rule: Literal["loglinear_risk"] = "loglinear_risk"
    example: ClassVar[str] = "{rule: loglinear_risk, guesses_at_most: 0.05, sampling_fraction: 0.1}"
    advice: ClassVar[str] = (
        "The sample uniques are likely to be population uniques: recode the keys whose combination the model finds "
        "rare, or suppress one key of the sample uniques."
    )
    uniques_at_most: Share | None = Field(default=None, description="tau 1 by the records: alone in the population")
    guesses_at_most: Share | None = Field(default=None, description="tau 2 by the records: uniques named rightly")
    interactions: Literal["none", "selected"] = Field(
        default="selected", description="of two keys in the model: none, or those that it needs"
    )
    sampling_fraction: PositiveShare | None = Field(
        default=None, description="records by people of the population; one by the record's weight, when not given"
    )

    @model_validator(mode="after")
    def _has_a_limit(self) -> Self:
        refuse_no_limit(self.rule, self.uniques_at_most, self.guesses_at_most)
        return self

    @property
    def uses_weights(self) -> bool:
        return self.sampling_fraction is None

    def estimate(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str
    ) -> list[Finding]:
        # A weight below 1 stands for the record itself.
        fraction = self.sampling_fraction or 1 / np.fmax(self.weights(frame, variables), 1)
        codes = [category_codes(frame[name]) for name in keys]
        measured = loglinear_risk.loglinear_risk(codes, fraction, self.interactions)
        findings, scope = [], ", ".join(keys)
        how = f"log-linear model{fewer(measured)}"
        if (limit := self.uniques_at_most) is not None:
            value = measured.population_uniques.value
            says = _SAYS.uniques(model=how, share=value, unit=unit)
            findings.append(self.limited(value, limit, frame, says, stage, f"uniques by {scope}"))
        if (limit := self.guesses_at_most) is not None:
            value = measured.correct_guesses.value
            says = _SAYS.guesses(model=how, share=value, unit=unit)
            findings.append(self.limited(value, limit, frame, says, stage, f"guesses by {scope}"))
        return findings

    def describe(self) -> str:
        limits = []
        if self.uniques_at_most is not None:
            limits.append(f"at most {100 * self.uniques_at_most:.3g} % of the records are alone in the population")
        if self.guesses_at_most is not None:
            limits.append(f"at most {100 * self.guesses_at_most:.3g} % are unique in the file and guessed rightly")
        return f"By a log-linear model of the keys, {', and '.join(limits)}."


def fewer(measured: loglinear_risk.LoglinearRisk) -> str:
    """Words on a model that has fewer interactions than it needs, to follow 'a log-linear model'."""
    return f" that tells rather too much, because {measured.lacking}" if measured.lacking else ""

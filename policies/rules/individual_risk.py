"""Individual risk: the chance that a record is named rightly, by its sampling weight.

Source: Benedetti and Franconi (1998); Franconi and Polettini (2004), section 3.
"""

from typing import ClassVar, Literal

import numpy as np
import pandas as pd

from policies.rules.loglinear_risk import fewer
from policies.rules.record_risk_rule import RecordRiskRule
from sluice.ground.sentence import Sentence
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.classes.equivalence_classes import category_codes, classes_of
from sluice.risk.population.loglinear_risk import loglinear_risk

_BY_MODEL = Sentence(
    "individual_risk.by_model",
    " Where many records are alone with their keys, as {alone:percent} are here, this figure tells half of the risk "
    "and less; by a {model}, {share:percent} of the {unit} are unique in the file and named rightly.",
)


class IndividualRisk(RecordRiskRule):
    """The chance that a record is named rightly by who looks it up in the population, by its sampling weight.

    It says too little where most records are alone with their keys: half of the risk and less. So the expected share is
    held to its limit by a log-linear model of the keys as well, and the finding gives both figures.
    """

    rule: Literal["individual_risk"] = "individual_risk"
    example: ClassVar[str] = "{rule: individual_risk, highest_at_most: 0.5}"
    advice: ClassVar[str] = (
        "Suppress a key locally for the records most at risk; where the mean is too high, recode the keys. A record "
        "with a sampling weight near 1 stands for nobody else and needs it most."
    )

    @property
    def found(self) -> str:
        return "named rightly by who looks it up in the population"

    def estimate(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str
    ) -> list[Finding]:
        findings = super().estimate(frame, variables, keys, stage, unit)
        if self.expected_at_most is None:
            return findings
        *others, expected = findings
        alone = float((classes_of(frame, keys).frequencies == 1).mean())
        fractions = 1 / np.fmax(self.weights(frame, variables), 1)
        model = loglinear_risk([category_codes(frame[name]) for name in keys], fractions)
        guessed = model.correct_guesses.value
        says = _BY_MODEL(alone=alone, model=f"log-linear model{fewer(model)}", share=guessed, unit=unit)
        worst = max(guessed, expected.observed or 0.0)
        verdict = Verdict.PASS if worst <= self.expected_at_most else Verdict.FAIL
        return [*others, expected.adding(says).model_copy(update={"observed": worst, "verdict": verdict})]

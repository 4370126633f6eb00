"""Delta-presence: how sure anybody can be that a person is in the file.

Source: Nergiz, Atzori and Clifton (2007), Definition 2; Desfontaines (2020), "Limits of k-anonymity", for the concern.
"""

from typing import ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from policies.rules.population_rule import PopulationRule
from sluice.generalization.models.privacy_model import ROUNDING
from sluice.ground.document_parts import Share
from sluice.ground.rule import AnyOf, Background, Need
from sluice.ground.sentence import Sentences
from sluice.ground.variables import Role, Variables, with_role
from sluice.ground.verdict import Finding
from sluice.risk.classes import delta_presence
from sluice.risk.classes.crowds import agreeing
from sluice.risk.classes.equivalence_classes import classes_of
from sluice.risk.people import once_a_person

_SAYS = Sentences(
    "delta_presence",
    no_population="The population is not known: name its list, or one variable with sampling weights (and a missing "
    "key as a category).",
    present="Among the people with one combination of {keys:listed}, {by}, up to {share:percent} are in the file: an "
    "intruder can be that sure that a person is in it; the policy allows {limit:percent}.",
)


class DeltaPresence(PopulationRule):
    """Nobody can be nearly sure that a person is in the file."""

    rule: Literal["delta_presence"] = "delta_presence"
    example: ClassVar[str] = "{rule: delta_presence, at_most: 0.9, population: population.csv}"
    advice: ClassVar[str] = (
        "Nearly everybody of one kind is in the file: release a random sample of the records, or recode the quasi-"
        "identifiers so that each combination also fits people who took no part."
    )
    needs: ClassVar[str] = (
        "Name a population list in the rule, or declare one variable with sampling weights; these allow no "
        "missing_matches: any."
    )
    at_most: Share = Field(gt=0, lt=1, description="largest allowed chance that a person is in the file (delta max)")
    population: str | None = Field(
        default=None,
        min_length=1,
        description="path of a CSV as for k_map; when not given, sampling weights estimate the population",
    )

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return super().requires if self.population else (*super().requires, (Need.WEIGHT, Need.POPULATION))

    def judge(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str, background: Background
    ) -> list[Finding]:
        frame = once_a_person(frame, variables, keys)
        if self.population is not None:
            any_value = self.missing_matches == "any"
            inside = agreeing(frame, keys) if any_value else classes_of(frame, keys).frequencies
            people = self.in_population(self.population, frame, variables, keys, background)
            observed = float(delta_presence.presence(inside, people).max())
        else:
            weights = with_role(variables, Role.WEIGHT)
            if len(weights) != 1 or self.missing_matches == "any":
                return [self.unknown(stage, _SAYS.no_population(), len(frame))]
            weight = frame[weights[0]].to_numpy(dtype=np.float64, na_value=np.nan)
            observed = float(delta_presence.estimated_presence(classes_of(frame, keys), weight).max())
        by = "by the sampling weights" if self.population is None else "in the population"
        says = _SAYS.present(keys=keys, by=by, share=observed, limit=self.at_most)
        passes = observed <= self.at_most + ROUNDING
        return [self.finding(passes, observed, self.at_most, len(frame), says, stage, ", ".join(keys))]

    def describe(self) -> str:
        return f"Nobody is in the file with a chance above {100 * self.at_most:.3g} % (delta-presence)."

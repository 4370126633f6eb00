"""Attribute risk: what each variable by itself tells of whose record it is.

Source: Yamazoe and Omote (2021), section 2.4, equation (1), after Ito, Kikuchi and Nakagawa (2019).
"""

from typing import ClassVar, Literal

import pandas as pd
from pydantic import Field

from policies.rules.keyed_rule import KeyedRule, PositiveShare
from sluice.ground.rule import Background
from sluice.ground.sentence import Sentence
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding
from sluice.risk.people import people_of
from sluice.risk.population.attribute_risk import attribute_risk

_ALL_MISSING = Sentence("all_missing", "All values of {name} are missing.")
_KNOWN = Sentence(
    "attribute_risk.known",
    "An intruder who sees a value of {name:word} knows whose it is with a chance of {chance:.3g}",
)


class AttributeRisk(KeyedRule):
    """No variable by itself tells whose record it is: its values are few compared with the people who hold them.

    It ranks variables by what they give away, and is meant for the original: of a perturbed file it says nothing.
    """

    rule: Literal["attribute_risk"] = "attribute_risk"
    example: ClassVar[str] = "{rule: attribute_risk, at_most: 0.1}"
    advice: ClassVar[str] = (
        "One variable nearly identifies people by itself: group its values, top-code its rare large ones, or remove "
        "it. The finding's scope names it."
    )
    at_most: PositiveShare = Field(
        description="chance, from 0 to 1, that an intruder who sees a record's value knows by it whose it is"
    )

    def judge(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str, background: Background
    ) -> list[Finding]:
        found, people = [], people_of(frame, variables)
        for name in keys:
            measured = attribute_risk(frame[name], people)
            if not measured.completed:
                found.append(self.unknown(stage, _ALL_MISSING(name=name), len(frame)))
                continue
            says = _KNOWN(name=name, chance=measured.value)
            limited = self.limited(measured.value, self.at_most, frame, says, stage, name)
            found.append(limited.model_copy(update={"completed": measured.completed}))
        return found

    def describe(self) -> str:
        return f"No variable alone tells whose record it is with a chance above {100 * self.at_most:.3g} %."

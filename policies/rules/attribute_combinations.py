"""Attribute combinations: sets of a few keys that make many records rare.

Source: Prasser, Eicher, Spengler, Bild and Kuhn (2020), section on population uniqueness; Hundepool and others (2012),
section 3.4.2, for the threshold on the combinations of a few keys.
"""

from typing import ClassVar, Literal

import pandas as pd
from pydantic import Field

from policies.rules.keyed_rule import KeyedRule
from sluice.ground.document_parts import Share
from sluice.ground.rule import Background
from sluice.ground.sentence import Sentences
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding
from sluice.risk.classes import attribute_combinations
from sluice.risk.classes.equivalence_classes import category_codes
from sluice.risk.people import people_of

_SAYS = Sentences(
    "attribute_combinations",
    rare="An intruder who knows up to {size:,} of {keys:listed} puts {share:percent} of the {unit} in a group of fewer "
    "than {k:,}",
    worst=", and most with {worst:listed}",
    limit="; the policy allows {limit:percent}.",
)


class AttributeCombinations(KeyedRule):
    """No set of a few keys makes many records rare. A missing key is a category of its own."""

    rule: Literal["attribute_combinations"] = "attribute_combinations"
    example: ClassVar[str] = "{rule: attribute_combinations, size: 2, k: 2, at_most: 0.1}"
    advice: ClassVar[str] = (
        "The combination that the finding names makes most records rare: recode one of its variables, best the one "
        "that other rare combinations share."
    )
    size: int = Field(default=3, ge=1, description="most keys that an intruder knows")
    k: int = Field(default=2, ge=2, description="a combination with fewer records is rare; 2: with one")
    at_most: Share = Field(default=0, lt=1, description="share of the records, not percent, for the worst set of keys")

    def judge(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str, background: Background
    ) -> list[Finding]:
        found = attribute_combinations.attribute_combinations(
            [category_codes(frame[name]) for name in keys], self.size, self.k, people_of(frame, variables)
        )
        observed, worst = found.share_below.value, [keys[at] for at in found.sets[found.worst()]]
        says = _SAYS.rare(size=self.size, keys=keys, share=observed, unit=unit, k=self.k)
        says += (_SAYS.worst(worst=worst) if observed else ()) + _SAYS.limit(limit=self.at_most)
        return [
            self.finding(observed <= self.at_most, observed, self.at_most, len(frame), says, stage, ", ".join(keys))
        ]

    def describe(self) -> str:
        return (
            f"No set of up to {self.size:,} quasi-identifiers puts more than {100 * self.at_most:.3g} % of the records "
            f"in a group of fewer than {self.k:,} (attribute combinations)."
        )

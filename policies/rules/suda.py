"""SUDA: records that few keys single out.

Source: Elliot, Manning, Mayes, Gurd and Bane (2005); Manning, Haglin and Keane (2008); the scores are those of
sdcMicro's suda2 (Templ, Meindl, Kowarik and others).
"""

from typing import ClassVar, Literal

import pandas as pd
from pydantic import Field

from policies.rules.keyed_rule import KeyedRule, PositiveShare
from sluice.ground.document_parts import Share
from sluice.ground.rule import Background
from sluice.ground.sentence import Sentence
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding
from sluice.risk.classes import suda
from sluice.risk.classes.equivalence_classes import category_codes
from sluice.risk.people import people_of

_AT_RISK = Sentence(
    "suda.at_risk",
    "{share:percent} of the {unit} are singled out by so few of {keys:listed} that a match would be right with a "
    "chance above {above:percent}; the policy allows {limit:percent}.",
)


class Suda(KeyedRule):
    """Few records are singled out by few keys. A missing key is a category of its own."""

    rule: Literal["suda"] = "suda"
    example: ClassVar[str] = "{rule: suda, sampling_fraction: 0.1, above: 0.5, at_most: 0.05}"
    advice: ClassVar[str] = (
        "A few keys single these records out: recode the keys that occur most in small unique combinations, or "
        "suppress just those cells, first in the records that have most of them."
    )
    size: int = Field(default=3, ge=1, description="most keys that an intruder needs to single a record out")
    sampling_fraction: PositiveShare = Field(description="records per person of the population, more than 0")
    above: Share = Field(description="chance of a right match (DIS-SUDA score) above which a record is at risk")
    at_most: Share = Field(default=0, lt=1, description="share of the records that may be at risk, not percent")

    def judge(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str, background: Background
    ) -> list[Finding]:
        scores = suda.suda([category_codes(frame[name]) for name in keys], self.size, people_of(frame, variables))
        measured = scores.share_at_risk(self.above, self.sampling_fraction)
        says = _AT_RISK(share=measured.value, unit=unit, keys=keys, above=self.above, limit=self.at_most)
        passes = measured.value <= self.at_most
        return [self.finding(passes, measured.value, self.at_most, len(frame), says, stage, ", ".join(keys))]

    def describe(self) -> str:
        return (
            f"At most {100 * self.at_most:.3g} % of the records are singled out by up to {self.size} keys with a "
            f"chance of a right match above {100 * self.above:.3g} % (SUDA)."
        )

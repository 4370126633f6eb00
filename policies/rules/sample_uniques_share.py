"""Sample uniques: how many records are alone with their combination of key values.

Source: Desfontaines (2020), section 2.1.1.
"""

from typing import ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from policies.rules.behind import Behind
from policies.rules.frequency_rule import FrequencyRule, alone_with, missing_note, people_note
from policies.rules.rule import Share
from sluice.arrays import BoolArray
from sluice.risk.classes import sample_uniques
from sluice.variables import Variables
from sluice.verdict import Finding


class SampleUniquesShare(FrequencyRule):
    """At most a share of the records is alone with its combination of key values."""

    rule: Literal["sample_uniques_share"] = "sample_uniques_share"
    example: ClassVar[str] = "{rule: sample_uniques_share, at_most: 0.01}"
    advice: ClassVar[str] = (
        "Recode the quasi-identifier with the most categories first, since it makes most records unique; suppress a "
        "key of the unique records that remain."
    )
    at_most: Share = Field(lt=1, description="share of the records, not percent")

    def judge(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str, behind: Behind
    ) -> list[Finding]:
        frequencies = self.frequencies(frame, variables, keys, behind)
        n, observed = len(frame), sample_uniques.sample_uniques_share(frequencies)
        alone = alone_with(sample_uniques.sample_uniques(frequencies), n, unit, keys)
        says = (
            f"{alone} ({100 * observed:.3g} %); the policy allows at most {100 * self.at_most:.3g} %"
            f"{missing_note(self.missing_matches)}.{people_note(frame, variables)}"
        )
        return [self.finding(observed <= self.at_most, observed, self.at_most, n, says, stage, ", ".join(keys))]

    def failing(self, frame: pd.DataFrame, variables: Variables, keys: list[str], behind: Behind) -> BoolArray:
        return np.asarray(self.frequencies(frame, variables, keys, behind) == 1, dtype=np.bool_)

    def describe(self) -> str:
        return f"At most {100 * self.at_most:.3g} % of the records are alone with their combination of {self.of_what}."

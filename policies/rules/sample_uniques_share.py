"""Sample uniques: how many records are alone with their combination of key values.

Source: Desfontaines (2020), section 2.1.1.
"""

from typing import ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from policies.rules.frequency_rule import ALONE, FrequencyRule, missing_note, people_note
from sluice.generalization.models.k_anonymity import KAnonymity
from sluice.generalization.models.privacy_model import PrivacyModel
from sluice.generalization.models.sample_uniques import SampleUniques
from sluice.ground.arrays import BoolArray
from sluice.ground.document_parts import Share
from sluice.ground.rule import Background
from sluice.ground.sentence import END, Sentence
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding
from sluice.risk.classes import sample_uniques

_LIMIT = Sentence("sample_uniques_share.limit", " ({observed:percent}); the policy allows at most {limit:percent}")


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
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str, background: Background
    ) -> list[Finding]:
        frequencies = self.frequencies(frame, variables, keys, background)
        n, observed = len(frame), sample_uniques.sample_uniques_share(frequencies)
        says = ALONE(alone=sample_uniques.sample_uniques(frequencies), n=n, unit=unit, keys=keys)
        says += _LIMIT(observed=observed, limit=self.at_most) + missing_note(self.missing_matches) + END()
        says += people_note(frame, variables)
        return [self.finding(observed <= self.at_most, observed, self.at_most, n, says, stage, ", ".join(keys))]

    def failing(self, frame: pd.DataFrame, variables: Variables, keys: list[str], background: Background) -> BoolArray:
        return np.asarray(self.frequencies(frame, variables, keys, background) == 1, dtype=np.bool_)

    def models(self, variables: Variables) -> list[tuple[str, PrivacyModel | None]]:
        if self.columns is not None:
            return [(self.rule, None)]
        return [(self.rule, SampleUniques(self.at_most) if self.at_most else KAnonymity(2))]

    def describe(self) -> str:
        return f"At most {100 * self.at_most:.3g} % of the records are alone with their combination of {self.of_what}."

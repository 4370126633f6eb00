"""Sample uniques: how many records are alone with their combination of key values.

Source: Desfontaines (2020), section 2.1.1.

They are what made the attack on the hospital data possible, of which the source tells.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.document_parts import Share
from sluice.ground.errors import DataError
from sluice.ground.sentence import END, Sentence, percent
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding
from sluice.risk.classes.k_anonymity import KAnonymityModel
from sluice.risk.classes.microdata_rule import ALONE, FrequencyRule, KeyedRecords
from sluice.risk.classes.privacy_model import FileModel, PrivacyModel, ReleasedFile

_LIMIT = Sentence("sample_uniques_share.limit", " ({observed:percent}); the policy allows at most {limit:percent}")


def sample_uniques(frequencies: IntArray) -> int:
    """The number of records whose combination occurs once in the file. Higher is worse.

    frequencies : shape (n,), for each record the number of records that share its combination of keys
    """
    return int((frequencies == 1).sum())


def sample_uniques_share(frequencies: IntArray) -> float:
    """Sample uniques relative to all records of the file, 0 to 1. Raises DataError if there is no record."""
    if not len(frequencies):
        raise DataError("the share of sample uniques needs at least one record; got none.")
    return sample_uniques(frequencies) / len(frequencies)


@dataclass(frozen=True)
class SampleUniques(FileModel):
    """most : share of the records of the file that are alone, 0 to 1; monotone, for a united class has two or more"""

    most: float

    def figure(self, file: ReleasedFile) -> float:
        records = file.class_sizes
        return int(records[file.class_members == 1].sum()) / int(records.sum())

    def describe(self) -> str:
        return f"sample uniques of at most {self.most:.4g} of the records"


class SampleUniquesShare(FrequencyRule):
    """At most a share of the records is alone with its combination of key values."""

    rule: Literal["sample_uniques_share"] = "sample_uniques_share"
    example: ClassVar[str] = "{rule: sample_uniques_share, at_most: 0.01}"
    advice: ClassVar[str] = (
        "Recode the quasi-identifier with the most categories first, since it makes most records unique; suppress a "
        "key of the unique records that remain."
    )
    at_most: Share = Field(lt=1, description="share of the records, not percent")

    def judge(self, file: KeyedRecords) -> list[Finding]:
        frequencies = file.frequencies(self.missing_matches)
        observed = sample_uniques_share(frequencies)
        says = ALONE(alone=sample_uniques(frequencies), n=len(file), unit=file.unit, keys=file.keys)
        says += _LIMIT(observed=observed, limit=self.at_most) + self.missing_note + END() + file.people_note
        return [self.finding(file, observed <= self.at_most, observed, self.at_most, says)]

    def failing(self, file: KeyedRecords) -> BoolArray:
        return np.asarray(file.frequencies(self.missing_matches) == 1, dtype=np.bool_)

    def models(self, variables: Variables) -> list[tuple[str, PrivacyModel | None]]:
        if self.columns is not None:
            return [(self.rule, None)]
        return [(self.rule, SampleUniques(self.at_most) if self.at_most else KAnonymityModel(2))]

    def describe(self) -> str:
        return f"At most {percent(self.at_most)} of the records are alone with their combination of {self.of_what}."

"""k-anonymity: in how large a crowd each record stands.

Source: Desfontaines (2020), section 2.1.1, Definition 1; Sweeney (2002).
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.errors import DataError
from sluice.ground.sentence import END, Sentences
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding
from sluice.risk.classes.microdata_rule import ALONE, FrequencyRule, KeyedRecords
from sluice.risk.classes.privacy_model import PrivacyModel, ReleasedFile

_SAYS = Sentences(
    "k_anonymity",
    kept="Every combination of {keys:listed} is shared by at least {observed:,} of the {n:,} {unit}",
    too_few="{below:,} of {n:,} {unit} share their combination of {keys:listed} with too few others",
    some_alone=", and {alone:,} of these {alone:is} alone with it",
    asked="; the policy asks that at least {k:,} share every combination",
)


def k_anonymity(frequencies: IntArray) -> int:
    """The largest k for which the file is k-anonymous: the smallest frequency. Lower is worse.

    frequencies : shape (n,), for each record the number of records that share its combination of keys,
                  as `EquivalenceClasses.frequencies` or `crowds` give it
    raises      : DataError if there is no record
    """
    if not len(frequencies):
        raise DataError("k-anonymity needs at least one record; got none.")
    return int(frequencies.min())


def records_below(frequencies: IntArray, k: int) -> int:
    """How many records share their combination with fewer than k - 1 others. Higher is worse."""
    return int((frequencies < k).sum())


@dataclass(frozen=True)
class KAnonymityModel(PrivacyModel):
    """k : 1 or more."""

    k: int

    def __post_init__(self) -> None:
        if self.k < 1:
            raise DataError(f"k of k-anonymity must be 1 or more; got {self.k}.")

    monotone = True
    monotone_with_suppression = True

    def failing(self, file: ReleasedFile) -> BoolArray:
        return (file.node.members < self.k) & (file.node.sizes > 0)

    def hidden_class_fails(self, file: ReleasedFile) -> bool:
        return file.hidden_class < self.k

    def describe(self) -> str:
        return f"k-anonymity with k = {self.k}"


class KAnonymity(FrequencyRule):
    """Every combination of key values is shared by at least k records."""

    rule: Literal["k_anonymity"] = "k_anonymity"
    example: ClassVar[str] = "{rule: k_anonymity, k: 5}"
    advice: ClassVar[str] = (
        "Recode the quasi-identifiers to wider categories (age bands, larger areas), then let local_suppression with "
        "the same k remove the few combinations that are still rare. Where people have several records, remove the "
        "variable that names them after that step, not before: without it that step counts records."
    )
    k: int = Field(ge=2)

    def judge(self, file: KeyedRecords) -> list[Finding]:
        frequencies = file.frequencies(self.missing_matches)
        n, unit, keys, observed = len(file), file.unit, file.keys, k_anonymity(frequencies)
        below, alone = records_below(frequencies, self.k), records_below(frequencies, 2)
        if observed >= self.k:
            says = _SAYS.kept(keys=keys, observed=observed, n=n, unit=unit)
        elif alone == below:
            says = ALONE(alone=alone, n=n, unit=unit, keys=keys)
        else:
            says = _SAYS.too_few(below=below, n=n, unit=unit, keys=keys) + (
                _SAYS.some_alone(alone=alone) if alone else ()
            )
        says += _SAYS.asked(k=self.k) + self.missing_note + END() + file.people_note
        return [self.finding(file, observed >= self.k, observed, self.k, says)]

    def failing(self, file: KeyedRecords) -> BoolArray:
        return np.asarray(file.frequencies(self.missing_matches) < self.k, dtype=np.bool_)

    def models(self, variables: Variables) -> list[tuple[str, PrivacyModel | None]]:
        return [(self.rule, KAnonymityModel(self.k) if self.columns is None else None)]

    def describe(self) -> str:
        return f"At least {self.k:,} records share every combination of {self.of_what} (k-anonymity)."

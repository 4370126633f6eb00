"""k-map: how many people of the population fit each record.

Source: Desfontaines (2020), section 2.1.1; Sweeney (2002).

Identities are found by linking the file with a list of people, in the released categories: one row a person, or one
row a combination with the number of people. A file satisfies k-map if every record fits at least k people of the list.
Lower is worse. A record that fits nobody has the frequency 0: the list is then not one of everybody, and the record is
not protected by it.

Where there is no list, a search of generalisations can test each class by how many people the population has: El Emam
and Dankar (2008), estimators D3 and D4; Pannekoek (1999) for the Poisson distribution.
"""

from dataclasses import dataclass
from math import exp, expm1
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.errors import DataError
from sluice.ground.sentence import Sentences
from sluice.ground.verdict import Finding
from sluice.risk.classes.microdata_rule import KeyedRecords
from sluice.risk.classes.privacy_model import PrivacyModel, ReleasedFile
from sluice.risk.measurement import Measurement
from sluice.risk.population.population_rule import PopulationRule

_SAYS = Sentences(
    "k_map",
    kept="All {unit} share {keys:listed} with enough people of the population",
    too_few="{below:Percent} of the {unit} share {keys:listed} with too few people of the population",
    fit_nobody=", and {nobody:percent} with none at all, so that the list is not one of everybody",
    asked="; the policy asks that at least {k:,} people fit every record.",
)

Distribution = Literal["poisson", "zero_truncated_poisson"]
"""Of the sampled people of a group of the population; the second takes into account that a group of which nobody was
sampled is not seen in the file. By the first a single record is enough in a small sample, where few of a small group
are sampled at all."""


def k_map(frequencies: IntArray) -> Measurement:
    """The largest k for which the file satisfies k-map: the smallest of the `population_frequencies`."""
    if not len(frequencies):
        raise DataError("k-map needs at least one record; got none.")
    return Measurement(
        value=float(frequencies.min()), attempted=len(frequencies), completed=len(frequencies), worse="lower"
    )


@dataclass(frozen=True)
class KMapModel(PrivacyModel):
    """By a list of the population. k is 1 or more. A suppressed record fits everybody.

    Monotone, with suppression too: a united class fits the people of all its parts.
    """

    k: int

    def __post_init__(self) -> None:
        _refuse(self.k)

    monotone = True
    monotone_with_suppression = True

    def failing(self, file: ReleasedFile) -> BoolArray:
        return (file.node.people < self.k) & (file.node.sizes > 0)

    def hidden_class_fails(self, file: ReleasedFile) -> bool:
        return file.node.everybody < self.k

    def describe(self) -> str:
        return f"k-map with k = {self.k}"


@dataclass(frozen=True)
class EstimatedKMap(PrivacyModel):
    """By a test of each class: with as few records as it has, its group of the population might have fewer than k.

    k            : 1 or more
    population   : how many people it has, of whom the records of the original file are a sample
    significance : chance to take a group of k people for a larger one, more than 0 and less than 1

    Monotone, as k-anonymity is. A suppressed record fits everybody.
    """

    k: int
    population: float
    significance: float = 0.05
    distribution: Distribution = "zero_truncated_poisson"

    def __post_init__(self) -> None:
        _refuse(self.k)
        if not 0 < self.significance < 1:
            raise DataError(
                f"the significance of k-map must be more than 0 and less than 1; got {self.significance:g}."
            )

    monotone = True
    monotone_with_suppression = True

    def fewest(self, records: int) -> int:
        """The records that a class needs when the original file has that many: fewer than k, but in small groups.

        Of a group of k people as many are sampled with a chance of at most `significance`. k records are always enough:
        they are k people of the population. ARX asks for one more than that by the Poisson distribution.

        raises : DataError if the population has fewer people than the file records
        """
        if not records <= self.population < np.inf:
            raise DataError(
                f"the population must have at least the {records:,} records of the file; got {self.population:,.10g}."
            )
        mean = self.k * records / self.population
        chance, rest = exp(-mean), -expm1(-mean)  # of `sampled` records, and of more
        seen = rest if self.distribution == "zero_truncated_poisson" else 1.0
        sampled = 0
        while sampled + 1 < self.k and rest > self.significance * seen:
            sampled += 1
            chance *= mean / sampled
            rest -= chance
        return sampled + 1

    def failing(self, file: ReleasedFile) -> BoolArray:
        return (file.node.members < self.fewest(file.members)) & (file.node.sizes > 0)

    def hidden_class_fails(self, file: ReleasedFile) -> bool:
        return self.population < self.k

    def describe(self) -> str:
        return f"k-map with k = {self.k}, estimated for a population of {self.population:,.10g}"


def _refuse(k: int) -> None:
    if k < 1:
        raise DataError(f"k of k-map must be 1 or more; got {k}.")


class KMap(PopulationRule):
    """Every record fits at least k people of a population."""

    rule: Literal["k_map"] = "k_map"
    example: ClassVar[str] = "{rule: k_map, k: 2, population: population.csv}"
    advice: ClassVar[str] = (
        "Recode the quasi-identifiers until enough people of the population list fit each record. If records fit "
        "nobody, the list is not in the released categories or does not cover the survey: mend the list first."
    )
    k: int = Field(ge=2, description="people of the population")
    population: str = Field(min_length=1, description="path of a CSV: the key columns in released categories [, count]")

    def judge(self, file: KeyedRecords) -> list[Finding]:
        frequencies = self.in_population(self.population, file)
        unit, keys = file.unit, file.keys
        observed = k_map(frequencies).value
        below, nobody = float((frequencies < self.k).mean()), float((frequencies == 0).mean())
        says = _SAYS.kept(unit=unit, keys=keys)
        if observed < self.k:
            says = _SAYS.too_few(below=below, unit=unit, keys=keys)
        if nobody:
            says += _SAYS.fit_nobody(nobody=nobody)
        says += _SAYS.asked(k=self.k)
        return [self.finding(file, observed >= self.k, observed, self.k, says)]

    def describe(self) -> str:
        return f"At least {self.k:,} people of the population in {self.population} fit every record (k-map)."

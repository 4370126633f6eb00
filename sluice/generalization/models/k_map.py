"""k-map of a generalised file: each record fits at least k people of a population.

Sources: Sweeney (2002); Desfontaines (2020), section 2.1.1. Without a list of the people: El Emam and Dankar (2008),
estimators D3 and D4; Pannekoek (1999) for the Poisson distribution.
"""

from dataclasses import dataclass
from math import exp, expm1
from typing import Literal

import numpy as np

from sluice.generalization.models.privacy_model import PrivacyModel, ReleasedFile
from sluice.ground.arrays import BoolArray
from sluice.ground.errors import DataError

Distribution = Literal["poisson", "zero_truncated_poisson"]
"""Of the sampled people of a group of the population; the second takes into account that a group of which nobody was
sampled is not seen in the file. By the first a single record is enough in a small sample, where few of a small group
are sampled at all."""


@dataclass(frozen=True)
class KMap(PrivacyModel):
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
        return (file.node.crowds < self.fewest(file.node.records)) & (file.node.sizes > 0)

    def hidden_class_fails(self, file: ReleasedFile) -> bool:
        return self.population < self.k

    def describe(self) -> str:
        return f"k-map with k = {self.k}, estimated for a population of {self.population:,.10g}"


def _refuse(k: int) -> None:
    if k < 1:
        raise DataError(f"k of k-map must be 1 or more; got {k}.")

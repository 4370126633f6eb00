"""Re-identification risk of the prosecutor, the journalist and the marketer: three intruders, one chance a record.

Source: El Emam (2013), chapter 16; Dankar and El Emam (2010).

- The prosecutor knows that the person is in the file, and picks one of the f records with the person's keys: 1/f.
- The journalist does not care who it is, and picks one of the F people of the population with a record's keys: 1/F.
- The marketer links the whole file to the population, and counts the share of right links: the mean of 1/F.

Higher is worse. A missing key has the meaning that was given to it when the frequencies were counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isclose
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.document_parts import Share
from sluice.ground.errors import DataError
from sluice.ground.sentence import Sentences, percent
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding
from sluice.risk.classes.microdata_rule import KeyedRecords, PositiveShare, refuse_no_limit
from sluice.risk.classes.privacy_model import ROUNDING, Classes, FileModel, PrivacyModel, ReleasedFile
from sluice.risk.measurement import Measurement
from sluice.risk.population.population_rule import PopulationRule

_WHO = "A {model} who knows {keys:listed}"
_SAYS = Sentences(
    "reidentification_risk",
    highest=f"{_WHO} names the record most at risk with a chance of {{chance:percent}}",
    average=f"{_WHO} is expected to name {{share:percent}} of the {{unit}} rightly",
    records_above=f"{_WHO} names {{share:percent}} of the {{unit}} with a chance above {{above:percent}}",
)


@dataclass(frozen=True)
class RecordRisks:
    """The chance that each record is named rightly, and the figures that sum it up."""

    risks: FloatArray  # shape (n,), more than 0 and at most 1

    @property
    def highest(self) -> Measurement:
        """The largest chance of any record."""
        return self._measured(float(self.risks.max()))

    @property
    def average(self) -> Measurement:
        """The expected share of the records that are named rightly; the marketer's figure."""
        return self._measured(float(self.risks.mean()))

    def records_above(self, risk: float) -> Measurement:
        """The share of the records whose chance is above `risk`, 0 to 1. One that equals it is not above."""
        return self._measured(float((self.risks > risk).mean()))

    def _measured(self, value: float) -> Measurement:
        return Measurement(value=value, attempted=len(self.risks), completed=len(self.risks))


def prosecutor_risk(frequencies: IntArray) -> RecordRisks:
    """frequencies : shape (n,), for each record how many records of the file share its combination, at least 1."""
    if not len(frequencies):
        raise DataError("re-identification risk needs at least one record; got none.")
    if frequencies.min() < 1:
        raise DataError("frequencies must be at least 1: a record shares its combination with itself.")
    return RecordRisks(1 / frequencies)


def journalist_risk(frequencies: IntArray, population: IntArray) -> RecordRisks:
    """The marketer's risk too, whose figure is the average.

    frequencies : shape (n,), as for `prosecutor_risk`
    population  : shape (n,), for each record how many people of the population share its combination (see `k_map`);
                  where it tells of fewer people than the file itself, the file is believed
    """
    if len(frequencies) != len(population):
        raise DataError(f"file and population must have one length; got {len(frequencies)} and {len(population)}.")
    return prosecutor_risk(np.maximum(frequencies, population))


Intruder = Literal["prosecutor", "journalist"]
"""prosecutor: knows that the person is in the file, and picks one of its records with the person's keys; journalist:
picks one of the people of the population with a record's keys. The mean chance of the journalist is the marketer's."""


def alike(node: Classes, intruder: Intruder) -> IntArray:
    """Shape (c,), among how many people the intruder picks, at least 1: those of the file, or those of the population;
    where it tells of fewer, the file is believed. Raises DataError for a journalist without a population."""
    crowds = np.maximum(node.members, 1)
    return crowds if intruder == "prosecutor" else np.maximum(crowds, node.people)


@dataclass(frozen=True)
class HighestRisk(PrivacyModel):
    """No record is named with a chance above `most`, more than 0 and up to 1.

    Monotone, with suppression too: in a united class the intruder picks among more people.
    """

    most: float
    intruder: Intruder = "prosecutor"

    def __post_init__(self) -> None:
        if not 0 < self.most <= 1:
            raise DataError(f"the most for the highest risk must be more than 0 and at most 1; got {self.most:g}.")

    monotone = True
    monotone_with_suppression = True

    def failing(self, file: ReleasedFile) -> BoolArray:
        risks = 1 / alike(file.node, self.intruder)
        return np.asarray((risks > self.most + ROUNDING) & (file.node.sizes > 0), dtype=np.bool_)

    def hidden_class_fails(self, file: ReleasedFile) -> bool:
        fits = file.hidden_class if self.intruder == "prosecutor" else max(file.hidden_class, file.node.everybody)
        return 1 / fits > self.most + ROUNDING

    def describe(self) -> str:
        return f"a {self.intruder}'s highest risk of {self.most:.4g}"


@dataclass(frozen=True)
class AverageRisk(FileModel):
    """The expected share of the records that are named rightly is at most `most`, 0 to 1.

    The journalist's is the marketer's risk: the mean of 1/F over the records, F people of the population fitting each.
    Monotone: a united class has no higher a sum of chances than its parts.
    """

    most: float
    intruder: Intruder = "prosecutor"

    def figure(self, file: ReleasedFile) -> float:
        records, fits = file.class_sizes, file.class_members
        if self.intruder != "prosecutor":
            fits = np.maximum(fits, file.class_people)
        return float((records / fits).sum() / records.sum())

    def members(self, node: Classes) -> IntArray:
        return alike(node, self.intruder)

    def describe(self) -> str:
        return f"a {self.intruder}'s average risk of {self.most:.4g}"


class RecordsAbove(BaseModel):
    """A chance of re-identification, and the share of the records that may exceed it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    risk: PositiveShare = Field(description="chance of re-identification, more than 0")
    at_most: Share = Field(description="share of the records, not percent")


class ReidentificationRisk(PopulationRule):
    """The chance that an intruder of a stated kind identifies records."""

    rule: Literal["reidentification_risk"] = "reidentification_risk"
    example: ClassVar[str] = "{rule: reidentification_risk, model: prosecutor, highest_at_most: 0.2}"
    largest: ClassVar[Mapping[str, float]] = dict.fromkeys(
        ("highest_at_most", "average_at_most", "records_above.risk", "records_above.at_most"), 1.0
    )
    advice: ClassVar[str] = (
        "For the highest chance, recode or suppress the smallest groups; for the average, coarsen the quasi-"
        "identifiers of everybody. Releasing a sample helps against the journalist and the marketer, never against the "
        "prosecutor."
    )
    model: Literal["prosecutor", "journalist", "marketer"] = Field(
        description="prosecutor: knows that the person is in the file; journalist: searches the population; marketer: "
        "links the whole file"
    )
    highest_at_most: PositiveShare | None = Field(default=None, description="chance for the record most at risk")
    average_at_most: PositiveShare | None = Field(default=None, description="mean chance, or expected share of records")
    records_above: RecordsAbove | None = None
    population: str | None = Field(
        default=None, min_length=1, description="path of a CSV as for k_map; for the journalist and the marketer"
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        refuse_no_limit(self.rule, self.highest_at_most, self.average_at_most, self.records_above)
        if (self.model == "prosecutor") != (self.population is None):
            raise ValueError("population is needed for the journalist and the marketer, and not used by the prosecutor")
        if self.model == "marketer" and (self.highest_at_most is not None or self.records_above is not None):
            raise ValueError("the marketer counts right links alone: give average_at_most and no other limit")
        return self

    def judge(self, file: KeyedRecords) -> list[Finding]:
        in_file = file.frequencies(self.missing_matches)
        if self.population is None:
            risk = prosecutor_risk(in_file)
        else:
            risk = journalist_risk(in_file, self.in_population(self.population, file))
        by, who = f"by {file.scope}", {"model": self.model, "keys": file.keys}
        highest, average, limit = risk.highest.value, risk.average.value, self.average_at_most
        if limit is not None and isclose(average, limit, rel_tol=1e-9):  # a mean of quotients that is met exactly
            average = limit
        findings = [
            *self.limited(file, f"highest {by}", highest, self.highest_at_most, _SAYS.highest(**who, chance=highest)),
            *self.limited(file, f"average {by}", average, limit, _SAYS.average(**who, share=average, unit=file.unit)),
        ]
        if (above := self.records_above) is None:
            return findings
        share = risk.records_above(above.risk).value
        says = _SAYS.records_above(**who, share=share, unit=file.unit, above=above.risk)
        return [*findings, *self.limited(file, f"records above {by}", share, above.at_most, says)]

    def models(self, variables: Variables) -> list[tuple[str, PrivacyModel | None]]:
        if self.columns is not None or self.model != "prosecutor" or self.records_above is not None:
            return [(self.rule, None)]
        highest = [] if self.highest_at_most is None else [HighestRisk(self.highest_at_most)]
        average = [] if self.average_at_most is None else [AverageRisk(self.average_at_most)]
        return [(self.rule, model) for model in (*highest, *average)]

    def describe(self) -> str:
        limits = []
        if self.highest_at_most is not None:
            limits.append(f"at most {percent(self.highest_at_most)} for the record most at risk")
        if self.average_at_most is not None:
            limits.append(f"at most {percent(self.average_at_most)} on average")
        if (above := self.records_above) is not None:
            limits.append(f"above {percent(above.risk)} for at most {percent(above.at_most)} of the records")
        return f"The chance that a {self.model} names a record rightly is {', and '.join(limits)}."

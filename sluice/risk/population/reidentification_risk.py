"""Re-identification risk of the prosecutor, the journalist and the marketer: three intruders, one chance a record.

Source: El Emam (2013), chapter 16; Dankar and El Emam (2010).

- The prosecutor knows that the person is in the file, and picks one of the f records with the person's keys: 1/f.
- The journalist does not care who it is, and picks one of the F people of the population with a record's keys: 1/F.
- The marketer links the whole file to the population, and counts the share of right links: the mean of 1/F.

Higher is worse. A missing key has the meaning that was given to it when the frequencies were counted.
"""

from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.risk.measurement import Measurement


@dataclass(frozen=True)
class ReidentificationRisk:
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


def prosecutor_risk(frequencies: IntArray) -> ReidentificationRisk:
    """frequencies : shape (n,), for each record how many records of the file share its combination, at least 1."""
    if not len(frequencies):
        raise DataError("re-identification risk needs at least one record; got none.")
    if frequencies.min() < 1:
        raise DataError("frequencies must be at least 1: a record shares its combination with itself.")
    return ReidentificationRisk(1 / frequencies)


def journalist_risk(frequencies: IntArray, population: IntArray) -> ReidentificationRisk:
    """The marketer's risk too, whose figure is the average.

    frequencies : shape (n,), as for `prosecutor_risk`
    population  : shape (n,), for each record how many people of the population share its combination (see `k_map`);
                  where it tells of fewer people than the file itself, the file is believed
    """
    if len(frequencies) != len(population):
        raise DataError(f"file and population must have one length; got {len(frequencies)} and {len(population)}.")
    return prosecutor_risk(np.maximum(frequencies, population))

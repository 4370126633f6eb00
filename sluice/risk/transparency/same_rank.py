"""The attack on methods that keep the order of the records: a person's rank is that of the released record.

Source: Torra (2013), "Resampling" and "Data Distortion by Probability Distribution", which map values by rank.
"""

from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.risk.transparency.bounds import Bounds


@dataclass(frozen=True)
class SameRank(Bounds):
    """Take the records that can have the person's rank in every variable; equal values share their ranks."""

    @property
    def knows(self) -> str:
        return "that the order of the records was kept"

    def bounds(self, known: FloatArray, ranked: FloatArray) -> tuple[FloatArray, FloatArray]:
        order, last = np.sort(known), len(ranked) - 1
        lowest, highest = np.searchsorted(order, known, "left"), np.searchsorted(order, known, "right") - 1
        return ranked[np.minimum(lowest, last)], ranked[np.minimum(highest, last)]

"""The attacks by ranks: on plain rank swapping, and on methods that keep the order of the records.

A swapped value can only have become one of those within the window. Source: Torra (2013), "Rank swapping: Specific
record linkage for rank swapping", Examples III to VI. Equal values were ranked at random, so the window begins at the
lowest and ends at the highest rank of a value.

Where the order is kept, a person's rank is that of the released record. Source: Torra (2013), "Resampling" and "Data
Distortion by Probability Distribution", which map values by rank.
"""

from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.risk.transparency.bounds import Bounds


@dataclass(frozen=True)
class RankWindow(Bounds):
    """Intersect the windows of all swapped variables.

    window : how far a value may have moved in rank, a share of the records that are not missing
    """

    window: float

    @property
    def knows(self) -> str:
        return f"that ranks were swapped over {100 * self.window:.3g} % of the records"

    def bounds(self, known: FloatArray, ranked: FloatArray) -> tuple[FloatArray, FloatArray]:
        reach = int(self.window * len(ranked) * (1 + 1e-12))  # as rank swapping itself counts
        lowest = np.searchsorted(ranked, known, "left") - reach
        highest = np.searchsorted(ranked, known, "right") - 1 + reach
        return ranked[np.clip(lowest, 0, len(ranked) - 1)], ranked[np.clip(highest, 0, len(ranked) - 1)]


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

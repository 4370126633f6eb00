"""The attack on microaggregation of single variables: a value went into the group above or the one below it.

Source: Torra (2013), "Rank swapping record linkage (RS-RL)", Discussion: "microaggregation with individual ranking
(univariate) can also be attacked effectively". The groups of one variable follow each other in the order of its values,
and what stands for a group (mean, median, a member) lies within it; equal values may have been parted.
"""

from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.risk.transparency.bounds import Bounds


@dataclass(frozen=True)
class NearestGroups(Bounds):
    """Intersect the two or three groups of each variable that a value can be in."""

    @property
    def knows(self) -> str:
        return "that each of these was microaggregated by itself"

    def bounds(self, known: FloatArray, ranked: FloatArray) -> tuple[FloatArray, FloatArray]:
        below = np.searchsorted(ranked, known, "left") - 1
        above = np.searchsorted(ranked, known, "right")
        return ranked[np.clip(below, 0, len(ranked) - 1)], ranked[np.clip(above, 0, len(ranked) - 1)]

"""The attacks on microaggregation: a record went into a group whose centre lies near it.

Groups of several numbers. Source: Lasko and Vinterbo (2010), section V, on groups of similar records: the nearest
released record is a person's own in one case of k, but nothing tells which.

Groups of single variables: a value went into the group above or the one below it. Source: Torra (2013), "Rank swapping
record linkage (RS-RL)", Discussion: "microaggregation with individual ranking (univariate) can also be attacked
effectively". The groups of one variable follow each other in the order of its values, and what stands for a group
(mean, median, a member) lies within it; equal values may have been parted.
"""

from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.risk.transparency.bounds import Bounds
from sluice.risk.transparency.linkage import Likelihood, Linkage
from sluice.risk.transparency.pairs import RANKED, Pairs


@dataclass(frozen=True)
class NearestCentre(Linkage):
    """Take the nearest centre by the distance that formed the groups, numbers by their standard deviations.

    k : fewest records in a group
    """

    k: int

    kinds = RANKED

    @property
    def knows(self) -> str:
        return f"that groups of {self.k} and more similar records took one value each"

    def likelihood(self, pairs: Pairs) -> Likelihood:
        known, published = pairs.known(self.columns), pairs.published(self.columns)
        deviations = np.nanstd(known, axis=0)
        scale = np.where(deviations > 0, deviations, 1.0)
        centres = np.nan_to_num(published / scale)
        points, gaps = np.nan_to_num(known / scale), np.isnan(published)
        own = ((points - centres) ** 2).sum(axis=1)
        spread = max(float(np.median(own)), 1e-12) / len(self.columns)  # of one variable within the groups

        def of(rows: IntArray) -> FloatArray:
            before = points[rows]
            squared = (before**2).sum(axis=1)[:, None] - 2 * before @ centres.T + (centres**2).sum(axis=1)
            if gaps.any():  # a missing value stays missing
                differ = np.isnan(known[rows]).astype(np.float64) @ (~gaps).T + (~np.isnan(known[rows])) @ gaps.T
                squared[differ > 0] = np.inf
            return np.asarray(-0.5 * squared / spread)

        return of


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

"""The attack on groups of several numbers: a record went into a group whose centre lies near it.

Source: Lasko and Vinterbo (2010), section V, on groups of similar records: the nearest released record is a person's
own in one case of k, but nothing tells which.
"""

from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
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

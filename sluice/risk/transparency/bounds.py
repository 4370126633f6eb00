"""Bounds: the attack on methods that let a value become only some of the released ones.

Source: Torra (2013), "Rank swapping: Specific record linkage for rank swapping": the record lies in the intersection of
what the bounds of all variables leave.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.risk.transparency.linkage import Likelihood, Linkage
from sluice.risk.transparency.pairs import RANKED, Pairs


@dataclass(frozen=True)
class Bounds(Linkage):
    """Intersect what the bounds of all variables leave."""

    kinds = RANKED

    @abstractmethod
    def bounds(self, known: FloatArray, ranked: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The lowest and the highest that each known value can have become.

        known, ranked : values of one variable, and its released values in rising order; none is missing
        """

    def likelihood(self, pairs: Pairs) -> Likelihood:
        from sluice.risk.transparency.bounds_kernel import rule_out

        people, records = pairs.rows, len(pairs.masked)
        lower, upper = np.full((2, len(people), len(self.columns)), -np.inf)
        released = np.empty((records, len(self.columns)))
        for j, name in enumerate(self.columns):  # one after the other: of a large file each takes much memory
            known, published = pairs.known([name])[:, 0], pairs.published([name])[:, 0]
            ranked, present = np.sort(published[~np.isnan(published)]), ~np.isnan(known)
            if len(ranked):
                for bound, of_known in zip((lower, upper), self.bounds(known[present], ranked), strict=True):
                    everybody = np.full(len(known), -np.inf)
                    everybody[present] = of_known
                    bound[:, j] = everybody[people]
            released[:, j] = np.where(np.isnan(published), -np.inf, published)  # a missing one stays where it is

        def of(rows: IntArray) -> FloatArray:
            logs = np.zeros((len(rows), records))
            place = np.searchsorted(people, rows)
            assert np.array_equal(people[place], rows), "somebody is asked for who is not attacked"
            rule_out(lower[place], upper[place], released, logs)
            return logs

        return of

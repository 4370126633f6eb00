"""Bounds: the attack on methods that let a value become only some of the released ones.

Source: Torra (2013), "Rank swapping: Specific record linkage for rank swapping": the record lies in the intersection of
what the bounds of all variables leave.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from sluice.arrays import FloatArray, IntArray
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

        known, published = pairs.known(self.columns), pairs.published(self.columns)
        lower, upper = np.full((2, *known.shape), -np.inf)
        for j, values in enumerate(published.T):
            ranked, present = np.sort(values[~np.isnan(values)]), ~np.isnan(known[:, j])
            if len(ranked):
                lower[present, j], upper[present, j] = self.bounds(known[present, j], ranked)
        released = np.where(np.isnan(published), -np.inf, published)  # stands for missing, which stays where it is

        def of(rows: IntArray) -> FloatArray:
            logs = np.zeros((len(rows), len(released)))
            rule_out(lower[rows], upper[rows], released, logs)
            return logs

        return of

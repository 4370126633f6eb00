"""The attack on plain rank swapping: a value can only have become one of those within the window.

Source: Torra (2013), "Rank swapping: Specific record linkage for rank swapping", Examples III to VI.
"""

from dataclasses import dataclass

import numpy as np

from sluice.arrays import FloatArray, IntArray
from sluice.risk.transparency.linkage import Likelihood, Linkage
from sluice.risk.transparency.pairs import RANKED, Pairs


@dataclass(frozen=True)
class RankWindow(Linkage):
    """Intersect the windows of all swapped variables.

    window : how far a value may have moved in rank, a share of the records that are not missing
    """

    window: float

    kinds = RANKED

    @property
    def knows(self) -> str:
        return f"that ranks were swapped over {100 * self.window:.3g} % of the records"

    def likelihood(self, pairs: Pairs) -> Likelihood:
        from sluice.risk.transparency.linkage_kernel import rule_out

        known, published = pairs.known(self.columns), pairs.published(self.columns)
        lower, upper = np.full((2, *known.shape), -np.inf)
        for j, values in enumerate(published.T):
            ranked, present = np.sort(values[~np.isnan(values)]), ~np.isnan(known[:, j])
            if len(ranked):
                reach = int(self.window * len(ranked) * (1 + 1e-12))  # as rank swapping itself counts
                first = np.searchsorted(ranked, known[present, j], "left") - reach
                last = np.searchsorted(ranked, known[present, j], "right") - 1 + reach
                lower[present, j] = ranked[np.clip(first, 0, len(ranked) - 1)]
                upper[present, j] = ranked[np.clip(last, 0, len(ranked) - 1)]
        released = np.where(np.isnan(published), -np.inf, published)  # stands for missing, which stays where it is

        def of(rows: IntArray) -> FloatArray:
            logs = np.zeros((len(rows), len(released)))
            rule_out(lower[rows], upper[rows], released, logs)
            return logs

        return of

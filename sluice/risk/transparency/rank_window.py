"""The attack on plain rank swapping: a value can only have become one of those within the window.

Source: Torra (2013), "Rank swapping: Specific record linkage for rank swapping", Examples III to VI.
"""

from dataclasses import dataclass

import numpy as np

from sluice.arrays import FloatArray, IntArray
from sluice.risk.transparency.linkage import Linkage
from sluice.risk.transparency.pairs import Pairs


@dataclass(frozen=True)
class RankWindow(Linkage):
    """Intersect the windows of all swapped variables.

    window : how far a value may have moved in rank, a share of the records that are not missing
    """

    window: float

    @property
    def knows(self) -> str:
        return f"that ranks were swapped over {100 * self.window:.3g} % of the records"

    def log_likelihood(self, pairs: Pairs, rows: IntArray) -> FloatArray:
        from sluice.risk.transparency.linkage_kernel import rule_out

        known, published = pairs.known(self.columns), pairs.published(self.columns)
        lower, upper = np.full((2, len(rows), len(self.columns)), -np.inf)
        for j, values in enumerate(published.T):
            ranked, mine = np.sort(values[~np.isnan(values)]), known[rows, j]
            present = ~np.isnan(mine)
            if len(ranked):
                reach = int(self.window * len(ranked) * (1 + 1e-12))  # as rank swapping itself counts
                first = np.searchsorted(ranked, mine[present], "left") - reach
                last = np.searchsorted(ranked, mine[present], "right") - 1 + reach
                lower[present, j] = ranked[np.clip(first, 0, len(ranked) - 1)]
                upper[present, j] = ranked[np.clip(last, 0, len(ranked) - 1)]
        logs = np.zeros((len(rows), len(published)))
        # Minus infinity stands for missing: a missing value stays where it is.
        rule_out(lower, upper, np.where(np.isnan(published), -np.inf, published), logs)
        return logs

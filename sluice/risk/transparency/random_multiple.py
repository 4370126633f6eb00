"""The attack on random rounding: a value became one of the two multiples around it, the nearer one more likely."""

from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.variables import Kind
from sluice.risk.transparency.linkage import Likelihood, Linkage
from sluice.risk.transparency.pairs import Pairs

_ROUNDING = 1e-9  # of the base: what a released multiple may differ from the exact one


@dataclass(frozen=True)
class RandomMultiple(Linkage):
    """Weigh each released multiple by the probability that the known value was rounded to it."""

    base: float

    kinds = (Kind.CONTINUOUS, Kind.INTEGER)

    @property
    def knows(self) -> str:
        return f"that values were rounded at random to a multiple of {self.base:g}"

    def likelihood(self, pairs: Pairs) -> Likelihood:
        known, published = pairs.known(self.columns), pairs.published(self.columns)

        def of(rows: IntArray) -> FloatArray:
            logs = np.zeros((len(rows), len(published)))
            for value, multiple in zip(known[rows].T, published.T, strict=True):
                share = 1 - np.abs(value[:, None] - multiple) / self.base
                share[share < _ROUNDING] = 0
                share[np.isnan(value)[:, None] & np.isnan(multiple)] = 1
                with np.errstate(divide="ignore"):
                    logs += np.log(np.nan_to_num(share, nan=0.0))
            return logs

        return of

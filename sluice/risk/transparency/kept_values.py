"""The attack on methods that replace a known share of the values only: the others are the true ones."""

from dataclasses import dataclass

import numpy as np

from sluice.ground.comparable_values import plain_values
from sluice.risk.linkage.share_at_risk import share_at_risk
from sluice.risk.transparency.attack import Attack, Leak
from sluice.risk.transparency.pairs import Pairs


@dataclass(frozen=True)
class KeptValues(Attack):
    """Take every released value for the true one.

    share : of the values that were replaced
    """

    share: float

    @property
    def knows(self) -> str:
        return f"that {100 * self.share:.3g} % of the values were replaced"

    def play(self, pairs: Pairs) -> tuple[Leak, ...]:
        """cost : O(q) for q people and each variable"""
        right, by_chance = [], []
        for name in (name for name in self.columns if name in pairs.recoded and name in pairs.masked):
            known, released = plain_values(pairs.recoded[name]), plain_values(pairs.masked[name])
            equal = known == released
            right.append(equal[pairs.rows])
            by_chance.append((known == np.roll(released, 1))[pairs.rows])
        if not right:
            right = by_chance = [np.zeros(len(pairs.rows))]
        each = np.mean(right, axis=0)
        measured = share_at_risk(each, len(pairs.masked), baseline=float(np.mean(by_chance)))
        return (Leak("reconstructed", measured, "they are released as they were"),)

"""Profitability of a generalised file: nobody gains by naming people, or publishing each record pays all the same.

Sources: Wan and others (2015); Prasser and others (2017). An attack that just breaks even is not made.
"""

from dataclasses import dataclass

import numpy as np

from sluice.generalization.cost_benefit import CostBenefit, information_loss
from sluice.generalization.intruder import Intruder, alike
from sluice.generalization.models.privacy_model import ROUNDING, PrivacyModel, ReleasedFile
from sluice.ground.arrays import BoolArray


@dataclass(frozen=True)
class NoAttack(PrivacyModel):
    """An attack on no record pays. There is nothing to gain from a suppressed one.

    Monotone, with suppression too: in a united class the intruder picks among more people.
    """

    amounts: CostBenefit
    intruder: Intruder = "prosecutor"

    monotone = True
    monotone_with_suppression = True

    def failing(self, file: ReleasedFile) -> BoolArray:
        return self.amounts.attacked(alike(file.node, self.intruder)) & (file.node.sizes > 0)

    def describe(self) -> str:
        return f"no attack that pays for a {self.intruder}"


@dataclass(frozen=True)
class Profitability(PrivacyModel):
    """The publisher's payout of each record is more than 0: the benefit of what is left of it is more than the expected
    penalty for an attack that pays. A suppressed record is worth nothing, and costs nothing.

    Not monotone: a united class has lost more of its information, and may be attacked as before.
    """

    amounts: CostBenefit
    intruder: Intruder = "prosecutor"

    on_classes = False  # what is left of a record depends on the levels
    monotone = False
    monotone_with_suppression = False

    def failing(self, file: ReleasedFile) -> BoolArray:
        payout = self.amounts.payout(information_loss(file.node), alike(file.node, self.intruder))
        return np.asarray((payout <= ROUNDING * self.amounts.benefit) & (file.node.sizes > 0), dtype=np.bool_)

    def describe(self) -> str:
        return f"a payout of each record above 0, against a {self.intruder}"

"""Publisher's payout: what the publisher has of the file, when intruders attack the records that are worth it.

Sources: Wan and others (2015); Prasser and others (2017).
"""

from dataclasses import dataclass

import numpy as np

from sluice.generalization.cost_benefit import CostBenefit, information_loss
from sluice.generalization.intruder import Intruder, alike
from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.class_losses import ClassLosses
from sluice.generalization.objectives.objective import Objective
from sluice.ground.arrays import BoolArray, FloatArray


class _PublisherPayout(ClassLosses):
    """`costs` are the lost benefit, to which `value` adds the penalties."""

    def __init__(self, amounts: CostBenefit, intruder: Intruder) -> None:
        self._amounts, self._intruder = amounts, intruder
        super().__init__(amounts.benefit)

    def costs(self, node: Node) -> FloatArray:
        return self._amounts.benefit * information_loss(node) * node.sizes

    def value(self, node: Node, hidden: BoolArray) -> float:
        payout = self._amounts.payout(information_loss(node), alike(node, self._intruder))
        return self._amounts.benefit * node.records - float(node.sizes @ np.where(hidden, 0.0, payout))


@dataclass(frozen=True)
class PublisherPayout(Objective):
    """What the payout lacks of the benefit of the original file, in the currency of `amounts`.

    A suppressed record is worth nothing, to the publisher and to the intruder. The penalty may fall when classes are
    united, or a record is suppressed, and the loss with it: what bounds the search is the lost benefit alone.
    """

    amounts: CostBenefit
    intruder: Intruder = "prosecutor"

    def of(self, bottom: Node) -> ClassLosses:
        alike(bottom, self.intruder)  # refuses a journalist without a population at once
        return _PublisherPayout(self.amounts, self.intruder)

    def describe(self) -> str:
        return f"publisher's payout that is lost to the {self.intruder}"

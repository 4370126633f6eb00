"""Precision: how far up its hierarchy each value is shown.

Source: Sweeney (2002), the precision metric; the loss is what it lacks of 1.
"""

from dataclasses import dataclass

import numpy as np

from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.key_losses import Aggregate, KeyLosses
from sluice.generalization.objectives.objective import Objective


@dataclass(frozen=True)
class Precision(Objective):
    """A record loses level / (highest level) on each key, a suppressed one 1.

    A missing value is shown at no level, and loses nothing until it is suppressed.
    """

    aggregate: Aggregate = "mean"

    def of(self, bottom: Node) -> KeyLosses:
        costs = []
        for key in bottom.keys:
            shown = [np.full(len(leaves), level / max(key.depth, 1)) for level, leaves in enumerate(key.leaves)]
            if key.missing is not None:
                for row, cost in zip(key.levels, shown, strict=True):
                    cost[row[key.missing]] = 0.0
            costs.append(shown)
        return KeyLosses(bottom, costs, [1.0] * len(costs), self.aggregate)

    def describe(self) -> str:
        return f"precision that is lost, {self.aggregate} of the keys"

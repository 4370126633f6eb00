"""Non-uniform entropy: how much of what a value told of a record its group does not tell.

Source: Gionis and Tassa (2009), section 3.1 (the non-uniform entropy measure), after De Waal and Willenborg (1999).
"""

from dataclasses import dataclass

import numpy as np

from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.key_losses import Aggregate, KeyLosses, key_counts
from sluice.generalization.objectives.objective import Objective


@dataclass(frozen=True)
class NonUniformEntropy(Objective):
    """A record whose group holds G of the original records loses log2(G / those with its value) bits on each key.

    A suppressed record is in a group of all n. A key's loss is relative to that of a file in which every record is.
    """

    aggregate: Aggregate = "mean"

    def of(self, bottom: Node) -> KeyLosses:
        most = float(np.log2(bottom.records))
        costs, told = [], []
        for at, key in enumerate(bottom.keys):
            counts = key_counts(bottom, at)
            held = [np.bincount(row, counts) for row in key.levels]
            costs.append([np.log2(np.maximum(group, 1)) for group in held])
            told.append(float(counts @ np.log2(np.maximum(counts, 1))))
        return KeyLosses(bottom, costs, [most] * len(costs), self.aggregate, told)

    def describe(self) -> str:
        return f"non-uniform entropy, {self.aggregate} of the keys"

"""Non-uniform entropy: how much of what a value told of a record its group does not tell.

Source: Gionis and Tassa (2009), section 3.1 (the non-uniform entropy measure), after De Waal and Willenborg (1999).
"""

from dataclasses import dataclass

import numpy as np

from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.key_losses import Aggregate, KeyLosses
from sluice.generalization.objectives.objective import Objective


@dataclass(frozen=True)
class NonUniformEntropy(Objective):
    """A record whose group holds G of the original records loses log2(G / those with its value) bits on each key.

    A suppressed record is in a group of all n. A key's loss is relative to that of a file in which every record is.
    """

    aggregate: Aggregate = "mean"

    def of(self, bottom: Node) -> KeyLosses:
        n = float(bottom.records)
        costs, offset, scale = [], [], []
        for key, shown in zip(bottom.keys, bottom.groups, strict=True):
            counts = np.bincount(shown, bottom.sizes, key.levels.shape[1])
            held = [np.bincount(row, counts) for row in key.levels]
            costs.append([np.log2(np.maximum(group, 1)) for group in held])
            told = float(counts @ np.log2(np.maximum(counts, 1)))
            offset.append(-told)
            scale.append(n * float(np.log2(n)) - told)
        return KeyLosses.of(bottom, costs, [float(np.log2(n))] * len(costs), offset, scale, self.aggregate)

    def describe(self) -> str:
        return f"non-uniform entropy, {self.aggregate} of the keys"

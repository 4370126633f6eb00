"""Ambiguity: of how many combinations of values a record may have come.

Sources: Nergiz and Clifton (2007), "Thoughts on k-anonymization" (ambiguity metric); Goldberger and Tassa (2010).
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.class_losses import ClassLosses
from sluice.generalization.objectives.objective import Objective
from sluice.ground.arrays import FloatArray


def combinations(node: Node) -> FloatArray:
    """Shape (c,), the combinations of values that the groups of each class hold; a missing value counts as one."""
    found = np.ones(len(node.sizes))
    for at, (key, level) in enumerate(zip(node.keys, node.levels, strict=True)):
        found *= key.leaves[level][node.shown(at)]
    return found


class _Combinations(ClassLosses):
    def costs(self, node: Node) -> FloatArray:
        return combinations(node) * node.sizes / node.records


@dataclass(frozen=True)
class Ambiguity(Objective):
    """The mean over the records of the number of combinations that their groups hold; 1 where nothing is generalised.

    A suppressed record may have come of any combination. Weights of keys do not count. ARX adds up where this averages.
    """

    def of(self, bottom: Node) -> ClassLosses:
        return _Combinations(float(prod(max(key.values, 1) for key in bottom.keys)) / bottom.records)

    def describe(self) -> str:
        return "ambiguity, in combinations of values a record"

"""Kullback-Leibler divergence: how far the distribution of the keys that a reader must assume lies from the true one.

Sources: Kifer and Gehrke (2006); Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007) for classes of which each
combination of values is equally likely.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2, prod

import numpy as np

from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.ambiguity import combinations
from sluice.generalization.objectives.objective import Extra, Measure, Objective
from sluice.ground.arrays import BoolArray


class _KLDivergence(Measure):
    by_classes = True

    def __init__(self, bottom: Node) -> None:
        shares = bottom.sizes[bottom.sizes > 0] / bottom.records
        self._information = float(shares @ np.log2(shares))  # the entropy of the original file, below 0
        self._everything = float(prod(key.levels.shape[1] for key in bottom.keys))  # missing values among them

    def least(self, levels: Sequence[int], node: Node | None, extra: Extra) -> float:
        assert node is not None
        return self.value(node, np.zeros(len(node.sizes), dtype=np.bool_))

    def extra(self, node: Node, hidden: BoolArray) -> Extra:
        return (
            self.nothing
        )  # more of them may lose less: what is rare among others that are hidden is less of a surprise

    def value(self, node: Node, hidden: BoolArray) -> float:
        n, shown = node.records, ~hidden & (node.sizes > 0)
        sizes = node.sizes[shown]
        assumed = float(sizes @ np.log2(sizes / n / combinations(node)[shown]))
        suppressed = n - int(sizes.sum())
        if suppressed:
            assumed += suppressed * log2(suppressed / n / self._everything)
        return max(self._information - assumed / n, 0.0)


@dataclass(frozen=True)
class KLDivergence(Objective):
    """In bits. A reader spreads the records of a class evenly over the combinations of values that its groups hold, and
    suppressed ones over all.

    By the log sum inequality it never falls when classes are united, and is never less than without suppression.
    """

    def of(self, bottom: Node) -> Measure:
        return _KLDivergence(bottom)

    def describe(self) -> str:
        return "Kullback-Leibler divergence, in bits"

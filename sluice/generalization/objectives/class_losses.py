"""Losses class by class: what a record loses depends on the class that it is in, a suppressed one on nothing."""

from abc import abstractmethod
from collections.abc import Sequence

from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.objective import Extra, Measure
from sluice.ground.arrays import BoolArray, FloatArray


class ClassLosses(Measure):
    """suppressed : what one suppressed record loses, no less than it could in any class"""

    by_classes = True

    def __init__(self, suppressed: float) -> None:
        self._suppressed = suppressed

    @abstractmethod
    def costs(self, node: Node) -> FloatArray:
        """Shape (c,), what the records of each class lose together; never less when classes are united."""

    def least(self, levels: Sequence[int], node: Node | None, extra: Extra) -> float:
        assert node is not None
        return float(self.costs(node).sum()) + extra[0]

    def extra(self, node: Node, hidden: BoolArray) -> Extra:
        return (float(self._suppressed * node.sizes[hidden].sum() - self.costs(node)[hidden].sum()),)

    def value(self, node: Node, hidden: BoolArray) -> float:
        return self.least(node.levels, node, self.extra(node, hidden))

"""Average class size: the records of the file over the number of its classes.

Source: LeFevre, DeWitt and Ramakrishnan (2006), the average equivalence class size, which they divide by k.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice.generalization.lattice.node import NO_CLASS, Node
from sluice.generalization.objectives.objective import Extra, Measure, Objective
from sluice.ground.arrays import BoolArray


class _AverageClassSize(Measure):
    """The extra loss is the number of classes that are suppressed: there are no fewer at a node below."""

    by_classes = True

    def least(self, levels: Sequence[int], node: Node | None, extra: Extra) -> float:
        assert node is not None
        return node.records / (int(np.count_nonzero(node.sizes)) - max(extra[0] - 1, 0))

    def extra(self, node: Node, hidden: BoolArray) -> Extra:
        return (float(np.count_nonzero(node.sizes[hidden])),)

    def value(self, node: Node, hidden: BoolArray) -> float:
        shown = ~hidden & (node.sizes > 0)
        together = bool(node.sizes[hidden].any()) and not (node.unknown != NO_CLASS and shown[node.unknown])
        return node.records / (int(shown.sum()) + together)


@dataclass(frozen=True)
class AverageClassSize(Objective):
    """From 1 to all records. The suppressed records are one class, with those that show no key anyway."""

    def of(self, bottom: Node) -> Measure:
        return _AverageClassSize()

    def describe(self) -> str:
        return "average class size, in records"

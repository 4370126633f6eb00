"""Height: how many levels above the original file a transformation lies in the lattice.

Source: Samarati (2001), section 3 (the height of a generalised table).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.objective import Extra, Measure, Objective
from sluice.ground.arrays import BoolArray


class _Height(Measure):
    def __init__(self, keys: Sequence[Key]) -> None:
        self.shares = [[key.weight * level for level in range(key.depth + 1)] for key in keys]

    def least(self, levels: Sequence[int], node: Node | None, extra: Extra) -> float:
        return sum(share[level] for share, level in zip(self.shares, levels, strict=True))

    def extra(self, node: Node, hidden: BoolArray) -> Extra:
        return self.nothing

    def value(self, node: Node, hidden: BoolArray) -> float:
        return self.least(node.levels, node, self.nothing)


@dataclass(frozen=True)
class Height(Objective):
    """The sum of the keys' levels by their weights. It knows nothing of the records; suppressed ones cost nothing."""

    def of(self, bottom: Node) -> Measure:
        return _Height(bottom.keys)

    def describe(self) -> str:
        return "height, in levels"

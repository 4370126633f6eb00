"""Nodes on request: each is made of the node with the fewest classes below it that is still at hand.

The keys are raised one after the other, those with many values first, since these unite most classes. Nodes on the way
are kept: many nodes share the first steps. Those that were used longest ago are dropped when classes become too many.
"""

from collections import OrderedDict
from collections.abc import Sequence
from operator import le

from sluice.generalization.lattice.node import Node

_MOST = (
    2**23
)  # classes, and their pairs with sensitive values, of all nodes at hand; besides twice those of the records


class NodeCache:
    """The nodes above one."""

    def __init__(self, base: Node) -> None:
        self._base = base
        self._order = sorted(range(len(base.keys)), key=lambda at: -base.keys[at].levels.shape[1])
        self._nodes: OrderedDict[tuple[int, ...], Node] = OrderedDict()
        self._held, self._most = 0, _MOST + 2 * _size(base)

    def at(self, levels: Sequence[int]) -> Node:
        """The node of these levels. Cost: the classes of each node on the way to it."""
        below = [each for each in self._nodes.values() if all(map(le, each.levels, levels))]
        node = min(below, key=lambda each: len(each.sizes), default=self._base)
        if below:
            self._nodes.move_to_end(node.levels)
        for key in self._order:
            if levels[key] != node.levels[key]:
                node, _ = node.raised(key, levels[key])
                self._nodes[node.levels] = node
                self._held += _size(node)
        while self._held > self._most and len(self._nodes) > 1:
            self._held -= _size(self._nodes.popitem(last=False)[1])
        return node


def _size(node: Node) -> int:
    return len(node.sizes) + sum(len(histogram.value) for histogram in node.histograms.values())

"""Losses key by key: what each record loses on a key depends on the group that it shows, and not on the other keys.

So all records' loss on a key at a level is known beforehand from the key's counts alone, and a node needs to be looked
at only for what its suppressed records lose besides.
"""

from collections.abc import Sequence
from math import prod
from typing import Literal

import numpy as np

from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.objective import Extra, Measure
from sluice.ground.arrays import BoolArray, FloatArray, IntArray

Aggregate = Literal["sum", "mean", "maximum", "geometric", "rank"]
"""How the keys' losses, each 0 to 1, become one, by their weights: the weighted sum, the weighted arithmetic mean, the
largest weighted loss, the weighted geometric mean of 1 + loss, less 1, or by rank: the largest weighted loss, plus a
thousandth of the next, a millionth of the third, and so on. ARX's rank looks at the next only where the larger ones are
equal; the order is the same wherever the first ones that differ do so by more than about a thousandth."""

_NEXT_RANK = 1e-3


def aggregated(losses: Sequence[float], weights: Sequence[float], aggregate: Aggregate) -> float:
    """One figure of the losses of all keys, each 0 to 1. Without any weight: 0."""
    if aggregate == "maximum":
        return max(loss * weight for loss, weight in zip(losses, weights, strict=True))
    if aggregate == "rank":
        ranked = sorted((loss * weight for loss, weight in zip(losses, weights, strict=True)), reverse=True)
        return sum(loss * _NEXT_RANK**rank for rank, loss in enumerate(ranked))
    whole = sum(weights)
    if whole == 0:
        return 0.0
    if aggregate == "geometric":
        return float(prod((1 + loss) ** (weight / whole) for loss, weight in zip(losses, weights, strict=True)) - 1)
    weighted = sum(loss * weight for loss, weight in zip(losses, weights, strict=True))
    return weighted if aggregate == "sum" else weighted / whole


def key_counts(bottom: Node, key: int) -> IntArray:
    """Shape (leaves,), the records of each leaf of a key."""
    counts = np.bincount(bottom.shown(key), bottom.sizes, bottom.keys[key].levels.shape[1])
    return counts.astype(np.int64)


class KeyLosses(Measure):
    """The parts of an extra loss are those of the keys."""

    def __init__(
        self,
        bottom: Node,
        costs: Sequence[Sequence[FloatArray]],
        suppressed: Sequence[float],
        aggregate: Aggregate,
        offset: Sequence[float] | None = None,
    ) -> None:
        """From the counts of each key. Cost: the distinct combinations, once a key.

        costs      : for each key and level, shape (groups,), what a record that shows the group loses; 0 or more, and
                     never less at a higher level
        suppressed : for each key, what a suppressed record loses: no less than at the highest level
        offset     : for each key, what all records together had to lose less, by what `costs` and `suppressed` are too
                     high. A key's loss is relative to that of a file in which every record is suppressed
        """
        n, offset = bottom.records, offset or [0.0] * len(costs)
        self._keys = bottom.keys
        self._weights = tuple(key.weight for key in bottom.keys)
        self._aggregate = aggregate
        self._extra: list[list[FloatArray]] = []
        shares = []
        self.nothing = (0.0,) * len(costs)
        for at, (key, most, less) in enumerate(zip(bottom.keys, suppressed, offset, strict=True)):
            whole = n * most - less
            scale = 1 / whole if whole > 1e-9 * n * most else 0.0  # nothing to lose
            counts = key_counts(bottom, at)
            shares.append(
                [(float(cost[row] @ counts) - less) * scale for row, cost in zip(key.levels, costs[at], strict=True)]
            )
            self._extra.append([(most - cost) * scale for cost in costs[at]])
        self.shares = shares

    def least(self, levels: Sequence[int], node: Node | None, extra: Extra) -> float:
        losses = [share[level] + more for share, level, more in zip(self.shares, levels, extra, strict=True)]
        return aggregated(losses, self._weights, self._aggregate)

    def spared(self, key: int) -> FloatArray:
        """Shape (levels, leaves), by how much less a record of each leaf adds to the loss than when suppressed."""
        return np.stack([extra[row] for extra, row in zip(self._extra[key], self._keys[key].levels, strict=True)])

    def extra(self, node: Node, hidden: BoolArray) -> Extra:
        if not hidden.any():
            return self.nothing
        shown = [extra[level] for extra, level in zip(self._extra, node.levels, strict=True)]
        first = np.cumsum([0, *map(len, shown)])
        return tuple(node.hidden_costs(hidden, np.concatenate(shown), first).tolist())

    def value(self, node: Node, hidden: BoolArray) -> float:
        return self.least(node.levels, node, self.extra(node, hidden))

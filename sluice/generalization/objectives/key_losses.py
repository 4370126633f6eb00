"""Losses key by key: what each record loses on a key depends on the group that it shows, and not on the other keys.

So all records' loss on a key at a level is known beforehand from the key's counts alone, and a node needs to be looked
at only for what its suppressed records lose besides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np

from sluice.arrays import BoolArray, FloatArray
from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.objective import Measure

Aggregate = Literal["sum", "mean", "maximum", "geometric"]
"""How the keys' losses, each 0 to 1, become one, by their weights: the weighted sum, the weighted arithmetic mean, the
largest weighted loss, or the weighted geometric mean of 1 + loss, less 1."""


def aggregated(losses: Sequence[float], weights: Sequence[float], aggregate: Aggregate) -> float:
    """One figure of the losses of all keys, each 0 to 1. No key with a weight: 0."""
    weighted = [loss * weight for loss, weight in zip(losses, weights, strict=True)]
    if aggregate == "sum":
        return sum(weighted)
    if aggregate == "maximum":
        return max(weighted)
    whole = sum(weights)
    if whole == 0:
        return 0.0
    if aggregate == "mean":
        return sum(weighted) / whole
    return float(prod((1 + loss) ** (weight / whole) for loss, weight in zip(losses, weights, strict=True)) - 1)


@dataclass(frozen=True)
class KeyLosses(Measure):
    """costs      : for each key and level, shape (groups,), what a record that shows the group loses; 0 or more, never
                    less at a higher level
    suppressed : for each key, what a suppressed record loses, at least as much as at the highest level
    offset     : for each key, what is added for all records together
    scale      : for each key, the loss of all records together that counts as 1
    totals     : for each key and level, what all records lose, none of them suppressed
    """

    costs: tuple[tuple[FloatArray, ...], ...]
    suppressed: tuple[float, ...]
    offset: tuple[float, ...]
    scale: tuple[float, ...]
    totals: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    aggregate: Aggregate

    @classmethod
    def of(
        cls,
        bottom: Node,
        costs: Sequence[Sequence[FloatArray]],
        suppressed: Sequence[float],
        offset: Sequence[float],
        scale: Sequence[float],
        aggregate: Aggregate,
    ) -> "KeyLosses":
        """From the counts of each key. Cost: the distinct combinations, once a key."""
        totals = []
        for key, shown, levels in zip(bottom.keys, bottom.groups, costs, strict=True):
            counts = np.bincount(shown, bottom.sizes, key.levels.shape[1])
            totals.append(tuple(float(cost[row] @ counts) for row, cost in zip(key.levels, levels, strict=True)))
        return cls(
            tuple(map(tuple, costs)),
            tuple(suppressed),
            tuple(offset),
            tuple(scale),
            tuple(totals),
            tuple(key.weight for key in bottom.keys),
            aggregate,
        )

    def least_at(self, levels: Sequence[int]) -> float:
        return self._combined([total[level] for total, level in zip(self.totals, levels, strict=True)])

    def value(self, node: Node, hidden: BoolArray) -> float:
        sums = [total[level] for total, level in zip(self.totals, node.levels, strict=True)]
        if hidden.any():
            sizes = node.sizes[hidden]
            for at, level in enumerate(node.levels):
                more = self.suppressed[at] - self.costs[at][level][node.groups[at][hidden]]
                sums[at] += float(sizes @ more)
        return self._combined(sums)

    def _combined(self, sums: Sequence[float]) -> float:
        losses = [
            (whole + offset) / scale if scale > 0 else 0.0
            for whole, offset, scale in zip(sums, self.offset, self.scale, strict=True)
        ]
        return aggregated(losses, self.weights, self.aggregate)

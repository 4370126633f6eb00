"""Losses key by key: what each record loses on a key depends on the group that it shows, and not on the other keys.

So all records' loss on a key at a level is known beforehand from the key's counts alone, and a node needs to be looked
at only for what its suppressed records lose besides.

Sources: Iyengar (2002), section 3.1 (general loss metric); Xu, Wang, Pei, Wang, Shi and Fu (2006), section 2.2 (the
same as the normalised certainty penalty); Gionis and Tassa (2009), section 3.1 (non-uniform entropy), after De Waal and
Willenborg (1999); Sweeney (2002) (precision); Samarati (2001), section 3 (the height of a generalised table).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.objective import Extra, Measure, Objective
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
        return self.extra_at_least(node, np.where(hidden, node.sizes, 0))

    def extra_at_least(self, node: Node, lost: IntArray) -> Extra:
        if not lost.any():
            return self.nothing
        shown = [extra[level] for extra, level in zip(self._extra, node.levels, strict=True)]
        first = np.cumsum([0, *map(len, shown)])
        return tuple(node.hidden_costs(lost, np.concatenate(shown), first).tolist())

    def value(self, node: Node, hidden: BoolArray) -> float:
        return self.least(node.levels, node, self.extra(node, hidden))


@dataclass(frozen=True)
class Loss(Objective):
    """A record loses (leaves of its group - 1) / (leaves of the key - 1) on each key, a suppressed one 1."""

    aggregate: Aggregate = "mean"

    def of(self, bottom: Node) -> KeyLosses:
        costs = [[(leaves - 1) / max(key.values - 1, 1) for leaves in key.leaves] for key in bottom.keys]
        return KeyLosses(bottom, costs, [1.0] * len(costs), self.aggregate)

    def describe(self) -> str:
        return f"loss (normalised certainty penalty), {self.aggregate} of the keys"


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


@dataclass(frozen=True)
class Precision(Objective):
    """A record loses level / (highest level) on each key, a suppressed one 1.

    A missing value is shown at no level, and loses nothing until it is suppressed.
    """

    aggregate: Aggregate = "mean"

    def of(self, bottom: Node) -> KeyLosses:
        costs = []
        for key in bottom.keys:
            shown = [np.full(len(leaves), level / max(key.depth, 1)) for level, leaves in enumerate(key.leaves)]
            if key.missing is not None:
                for row, cost in zip(key.levels, shown, strict=True):
                    cost[row[key.missing]] = 0.0
            costs.append(shown)
        return KeyLosses(bottom, costs, [1.0] * len(costs), self.aggregate)

    def describe(self) -> str:
        return f"precision that is lost, {self.aggregate} of the keys"


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

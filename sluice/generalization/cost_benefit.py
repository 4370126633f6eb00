"""Costs and benefits of a publication: what its publisher and an intruder who names people stand to gain and to lose.

Sources: Wan and others (2015), a Stackelberg game: the publisher moves first, and the intruder attacks the records that
are worth it; Prasser and others (2017) for generalised files.
"""

from dataclasses import dataclass, fields
from math import log, prod

import numpy as np

from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.ambiguity import combinations
from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import DataError


@dataclass(frozen=True)
class CostBenefit:
    """All in one currency, for one record; 0 or more.

    benefit : what the publisher has of an original record
    penalty : what the publisher loses when the person is named
    gain    : what an intruder gains by naming the person
    cost    : what an attack on the record costs the intruder, rightly named or not
    """

    benefit: float
    penalty: float
    gain: float
    cost: float

    def __post_init__(self) -> None:
        for field in fields(self):
            amount = getattr(self, field.name)
            if not 0 <= amount < np.inf:
                raise DataError(f"{field.name} of costs and benefits must be 0 or more and finite; got {amount:g}.")

    def attacked(self, alike: IntArray) -> BoolArray:
        """Shape (c,), whether an attack pays where `alike` people look the same, one of them the right one."""
        return np.asarray(self.gain > self.cost * alike, dtype=np.bool_)

    def payout(self, information_loss: FloatArray, alike: IntArray) -> FloatArray:
        """Shape (c,), what the publisher has of each record: the benefit of what is left, less the expected penalty.

        information_loss : 0 to 1; see below
        alike            : how many people look the same, 1 or more
        """
        return self.benefit * (1 - information_loss) - np.where(self.attacked(alike), self.penalty / alike, 0.0)


def information_loss(node: Node) -> FloatArray:
    """Shape (c,), what a record of each class has lost: the logarithm of the number of combinations of values that its
    groups hold, over that of all values. Wan and others (2015): entropy, where all values are equally likely."""
    whole = log(prod(max(key.values, 1) for key in node.keys))
    return np.log(combinations(node)) / whole if whole > 0 else np.zeros(len(node.sizes))

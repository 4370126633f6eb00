"""Costs and benefits of a publication: what its publisher and an intruder who names people stand to gain and to lose;
as a privacy model (an attack does not pay, or publishing does all the same) and as an objective (the payout).

Sources: Wan and others (2015), a Stackelberg game: the publisher moves first, and the intruder attacks the records that
are worth it; Prasser and others (2017) for generalised files; El Emam (2013), chapter 16, and Dankar and El Emam (2010)
for the intruders. An attack that just breaks even is not made.
"""

from dataclasses import dataclass, fields
from math import log, prod

import numpy as np

from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.class_losses import ClassLosses, combinations
from sluice.generalization.objectives.objective import Objective
from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.risk.classes.privacy_model import ROUNDING, PrivacyModel, ReleasedFile
from sluice.risk.population.reidentification_risk import Intruder, alike


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


class _PublisherPayout(ClassLosses):
    """`costs` are the lost benefit, to which `value` adds the penalties."""

    def __init__(self, amounts: CostBenefit, intruder: Intruder) -> None:
        self._amounts, self._intruder = amounts, intruder
        super().__init__(amounts.benefit)

    def costs(self, node: Node) -> FloatArray:
        return self._amounts.benefit * information_loss(node) * node.sizes

    def value(self, node: Node, hidden: BoolArray) -> float:
        payout = self._amounts.payout(information_loss(node), alike(node, self._intruder))
        return self._amounts.benefit * node.records - float(node.sizes @ np.where(hidden, 0.0, payout))


@dataclass(frozen=True)
class PublisherPayout(Objective):
    """What the payout lacks of the benefit of the original file, in the currency of `amounts`.

    A suppressed record is worth nothing, to the publisher and to the intruder. The penalty may fall when classes are
    united, or a record is suppressed, and the loss with it: what bounds the search is the lost benefit alone.
    """

    amounts: CostBenefit
    intruder: Intruder = "prosecutor"

    def of(self, bottom: Node) -> ClassLosses:
        alike(bottom, self.intruder)  # refuses a journalist without a population at once
        return _PublisherPayout(self.amounts, self.intruder)

    def describe(self) -> str:
        return f"publisher's payout that is lost to the {self.intruder}"


@dataclass(frozen=True)
class NoAttack(PrivacyModel):
    """An attack on no record pays. There is nothing to gain from a suppressed one.

    Monotone, with suppression too: in a united class the intruder picks among more people.
    """

    amounts: CostBenefit
    intruder: Intruder = "prosecutor"

    monotone = True
    monotone_with_suppression = True

    def failing(self, file: ReleasedFile) -> BoolArray:
        return self.amounts.attacked(alike(file.node, self.intruder)) & (file.node.sizes > 0)

    def describe(self) -> str:
        return f"no attack that pays for a {self.intruder}"


@dataclass(frozen=True)
class Profitability(PrivacyModel):
    """The publisher's payout of each record is more than 0: the benefit of what is left of it is more than the expected
    penalty for an attack that pays. A suppressed record is worth nothing, and costs nothing.

    Not monotone: a united class has lost more of its information, and may be attacked as before.
    """

    amounts: CostBenefit
    intruder: Intruder = "prosecutor"

    on_classes = False  # what is left of a record depends on the levels
    monotone = False
    monotone_with_suppression = False

    def failing(self, file: ReleasedFile) -> BoolArray:
        assert isinstance(file.node, Node)  # of a lattice: what is lost, no other classes know
        payout = self.amounts.payout(information_loss(file.node), alike(file.node, self.intruder))
        return np.asarray((payout <= ROUNDING * self.amounts.benefit) & (file.node.sizes > 0), dtype=np.bool_)

    def describe(self) -> str:
        return f"a payout of each record above 0, against a {self.intruder}"

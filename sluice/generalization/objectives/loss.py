"""Loss: the share of a key's values among which a group leaves one in doubt.

Sources: Iyengar (2002), section 3.1 (general loss metric); Xu, Wang, Pei, Wang, Shi and Fu (2006), section 2.2 (the
same as the normalised certainty penalty).
"""

from dataclasses import dataclass

from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.key_losses import Aggregate, KeyLosses
from sluice.generalization.objectives.objective import Objective


@dataclass(frozen=True)
class Loss(Objective):
    """A record loses (leaves of its group - 1) / (leaves of the key - 1) on each key, a suppressed one 1."""

    aggregate: Aggregate = "mean"

    def of(self, bottom: Node) -> KeyLosses:
        costs = [[(leaves - 1) / max(key.values - 1, 1) for leaves in key.leaves] for key in bottom.keys]
        return KeyLosses(bottom, costs, [1.0] * len(costs), self.aggregate)

    def describe(self) -> str:
        return f"loss (normalised certainty penalty), {self.aggregate} of the keys"

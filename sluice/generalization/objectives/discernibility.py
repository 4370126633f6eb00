"""Discernibility: with how many records each record is confused.

Source: Bayardo and Agrawal (2005), section 2.3.
"""

from dataclasses import dataclass

import numpy as np

from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.class_losses import ClassLosses
from sluice.generalization.objectives.objective import Objective
from sluice.ground.arrays import FloatArray


class _Confusion(ClassLosses):
    def costs(self, node: Node) -> FloatArray:
        return node.sizes.astype(np.float64) ** 2


@dataclass(frozen=True)
class Discernibility(Objective):
    """The sum over the records of the size of their class, itself included; a suppressed record counts all n."""

    def of(self, bottom: Node) -> ClassLosses:
        return _Confusion(float(bottom.records))

    def describe(self) -> str:
        return "discernibility, in pairs of records"

"""Discernibility: with how many records each record is confused.

Source: Bayardo and Agrawal (2005), section 2.3.
"""

from dataclasses import dataclass

import numpy as np

from sluice.arrays import BoolArray
from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.objective import Measure, Objective


@dataclass(frozen=True)
class _Discernibility(Measure):
    def least(self, node: Node) -> float:
        sizes = node.sizes.astype(np.float64)
        return float(sizes @ sizes)

    def value(self, node: Node, hidden: BoolArray) -> float:
        sizes = node.sizes.astype(np.float64)
        cost = np.where(hidden, float(node.records), sizes)
        return float(sizes @ cost)


@dataclass(frozen=True)
class Discernibility(Objective):
    """The sum over the records of the size of their class, itself included; a suppressed record counts all n."""

    def of(self, bottom: Node) -> Measure:
        return _Discernibility()

    def describe(self) -> str:
        return "discernibility, in pairs of records"

"""Classification: the records whose class is not the most frequent one among those that look alike.

Source: Iyengar (2002), section 3 (classification metric).
"""

from dataclasses import dataclass

import numpy as np

from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.class_losses import ClassLosses
from sluice.generalization.objectives.objective import Extra, Objective
from sluice.ground.arrays import BoolArray, FloatArray
from sluice.ground.errors import DataError


class _Misclassified(ClassLosses):
    def __init__(self, column: str, bottom: Node) -> None:
        self._column = column
        self._share = 1 / max(int(bottom.histograms[column].records.sum()), 1)  # of one record
        super().__init__(self._share)

    def costs(self, node: Node) -> FloatArray:
        histogram = node.histograms[self._column]
        return (histogram.sizes - self._majority(node)) * self._share

    def extra(self, node: Node, hidden: BoolArray) -> Extra:
        return (float(self._majority(node)[hidden].sum() * self._share),)  # the others are misclassified anyway

    def _majority(self, node: Node) -> FloatArray:
        histogram = node.histograms[self._column]
        return histogram.largest(histogram.records.astype(np.float64))


@dataclass(frozen=True)
class Classification(Objective):
    """The share of the records that the majority of their class misclassifies, 0 to 1.

    column : what is to be predicted, one of the sensitive columns that are given to the search. A suppressed record is
             misclassified; one in whose class several values are equally frequent is by all of these but one. Records
             without a value are left out.
    """

    column: str

    def of(self, bottom: Node) -> ClassLosses:
        if self.column not in bottom.histograms:
            known = ", ".join(bottom.histograms) or "none"
            raise DataError(f"classification needs the column '{self.column}'; there are: {known}.")
        return _Misclassified(self.column, bottom)

    def describe(self) -> str:
        return f"misclassification of '{self.column}', 0 to 1"

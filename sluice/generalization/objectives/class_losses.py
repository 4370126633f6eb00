"""Losses class by class: what a record loses depends on the class that it is in, a suppressed one on nothing.

Sources: Bayardo and Agrawal (2005), section 2.3 (discernibility); LeFevre, DeWitt and Ramakrishnan (2006), the average
equivalence class size, which they divide by k; Nergiz and Clifton (2007), "Thoughts on k-anonymization", and Goldberger
and Tassa (2010) (ambiguity); Iyengar (2002), section 3 (classification metric); Kifer and Gehrke (2006), and
Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007) for classes of which each combination of values is equally
likely (Kullback-Leibler divergence).
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2, prod

import numpy as np

from sluice.generalization.lattice.node import Node
from sluice.generalization.objectives.objective import Extra, Measure, Objective
from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.risk.classes.privacy_model import NO_CLASS


class ClassLosses(Measure):
    """suppressed : what one suppressed record loses, no less than it could in any class"""

    by_classes = True

    def __init__(self, suppressed: float) -> None:
        self._suppressed = suppressed
        self.kept: dict[Sequence[int], float] = {}  # where nothing is suppressed

    @abstractmethod
    def costs(self, node: Node) -> FloatArray:
        """Shape (c,), what the records of each class lose together; never less when classes are united."""

    def least(self, levels: Sequence[int], node: Node | None, extra: Extra) -> float:
        if levels not in self.kept:
            assert node is not None
            self.kept[levels] = float(self.costs(node).sum())
        return self.kept[levels] + extra[0]

    def extra(self, node: Node, hidden: BoolArray) -> Extra:
        return (float(self._suppressed * node.sizes[hidden].sum() - self.costs(node)[hidden].sum()),)

    def extra_at_least(self, node: Node, lost: IntArray) -> Extra:
        kept_apart = self.costs(node) / np.maximum(node.sizes, 1)  # none of the class costs more at a node below
        return (float(((self._suppressed - kept_apart) * lost).sum()),)

    def value(self, node: Node, hidden: BoolArray) -> float:
        return self.least(node.levels, node, self.extra(node, hidden))


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


class _AverageClassSize(Measure):
    """The extra loss is the number of classes that are suppressed: there are no fewer at a node below.

    Above a node a class that is shown holds one that is large enough here, or enough people of those that are not.
    """

    by_classes = True

    def __init__(self) -> None:
        self.kept: dict[Sequence[int], tuple[int, int, int]] = {}

    def least(self, levels: Sequence[int], node: Node | None, extra: Extra) -> float:
        if levels not in self.kept:
            assert node is not None
            small = node.members < self.fewest
            united = int(node.members[small].sum()) // self.fewest
            classes, large = int(np.count_nonzero(node.sizes)), int(np.count_nonzero(~small))
            self.kept[levels] = node.records, classes, large + united
        records, classes, shown = self.kept[levels]
        return records / min(classes - max(extra[0] - 1, 0), shown + 1)  # the suppressed ones are one, too

    def extra(self, node: Node, hidden: BoolArray) -> Extra:
        return (float(np.count_nonzero(node.sizes[hidden])),)

    def extra_at_least(self, node: Node, lost: IntArray) -> Extra:
        return (float(np.count_nonzero(lost)),)  # each of them has one that is suppressed

    def value(self, node: Node, hidden: BoolArray) -> float:
        shown = ~hidden & (node.sizes > 0)
        together = bool(node.sizes[hidden].any()) and not (node.unknown != NO_CLASS and shown[node.unknown])
        return node.records / (int(shown.sum()) + together)


@dataclass(frozen=True)
class AverageClassSize(Objective):
    """From 1 to all records. The suppressed records are one class, with those that show no key anyway."""

    def of(self, bottom: Node) -> Measure:
        return _AverageClassSize()

    def describe(self) -> str:
        return "average class size, in records"


def combinations(node: Node) -> FloatArray:
    """Shape (c,), the combinations of values that the groups of each class hold; a missing value counts as one."""
    found = np.ones(len(node.sizes))
    for at, (key, level) in enumerate(zip(node.keys, node.levels, strict=True)):
        found *= key.leaves[level][node.shown(at)]
    return found


class _Combinations(ClassLosses):
    def costs(self, node: Node) -> FloatArray:
        return combinations(node) * node.sizes / node.records


@dataclass(frozen=True)
class Ambiguity(Objective):
    """The mean over the records of the number of combinations that their groups hold; 1 where nothing is generalised.

    A suppressed record may have come of any combination. Weights of keys do not count. ARX adds up where this averages.
    """

    def of(self, bottom: Node) -> ClassLosses:
        return _Combinations(float(prod(max(key.values, 1) for key in bottom.keys)) / bottom.records)

    def describe(self) -> str:
        return "ambiguity, in combinations of values a record"


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

    def extra_at_least(self, node: Node, lost: IntArray) -> Extra:
        histogram = node.histograms[self._column]
        different = np.maximum(np.diff(histogram.start), 1)
        blank = node.sizes - histogram.sizes  # they may be those that are suppressed
        whole = lost == node.sizes
        some = np.where(whole, self._majority(node), np.maximum(lost - blank, 0) / different)
        return (float(some.sum() * self._share),)  # of each class at least the most frequent of so many values

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


class _KLDivergence(Measure):
    by_classes = True

    def __init__(self, bottom: Node) -> None:
        self.kept: dict[Sequence[int], float] = {}
        shares = bottom.sizes[bottom.sizes > 0] / bottom.records
        self._information = float(shares @ np.log2(shares))  # the entropy of the original file, below 0
        self._everything = float(prod(key.levels.shape[1] for key in bottom.keys))  # missing values among them

    def least(self, levels: Sequence[int], node: Node | None, extra: Extra) -> float:
        if levels not in self.kept:
            assert node is not None
            self.kept[levels] = self.value(node, np.zeros(len(node.sizes), dtype=np.bool_))
        return self.kept[levels]

    def extra(self, node: Node, hidden: BoolArray) -> Extra:
        return (
            self.nothing
        )  # more of them may lose less: what is rare among others that are hidden is less of a surprise

    def value(self, node: Node, hidden: BoolArray) -> float:
        n, shown = node.records, ~hidden & (node.sizes > 0)
        sizes = node.sizes[shown]
        assumed = float(sizes @ np.log2(sizes / n / combinations(node)[shown]))
        suppressed = n - int(sizes.sum())
        if suppressed:
            assumed += suppressed * log2(suppressed / n / self._everything)
        return max(self._information - assumed / n, 0.0)


@dataclass(frozen=True)
class KLDivergence(Objective):
    """In bits. A reader spreads the records of a class evenly over the combinations of values that its groups hold, and
    suppressed ones over all.

    By the log sum inequality it never falls when classes are united, and is never less than without suppression.
    """

    def of(self, bottom: Node) -> Measure:
        return _KLDivergence(bottom)

    def describe(self) -> str:
        return "Kullback-Leibler divergence, in bits"

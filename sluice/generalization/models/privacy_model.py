"""A privacy model: what the classes of a released file must satisfy.

Adding a model is one file here: a frozen dataclass that derives from `PrivacyModel` and says which classes break it
(`failing`), or whether the file does (`file_fails`). The search takes any conjunction of them.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from sluice.generalization.lattice.node import NO_CLASS, Histogram, Node
from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import DataError

Suppressed = Literal["released", "without_keys", "removed", "ignored"]
"""What becomes of suppressed records. released: they stay in the file, all their keys and sensitive values missing, and
are a class of their own there; without_keys: the same, but they keep their sensitive values, and their class must
satisfy every model; removed: they are left out; ignored: they do not count, and the others are compared with the whole
original file. The last is not what anybody would see: it is there to compare with programs that do so."""

ROUNDING = 1e-9  # sums of logarithms and quotients: a limit that is met exactly is met


@dataclass(frozen=True)
class ReleasedFile:
    """The file that a transformation would release.

    kept : shape (c,), the classes of the node whose records are not suppressed
    """

    node: Node
    kept: BoolArray
    suppressed: Suppressed

    @cached_property
    def hidden(self) -> int:
        """How many records are suppressed."""
        return int(self.node.sizes[~self.kept].sum())

    @cached_property
    def hidden_class(self) -> int:
        """How many records of the file show no key at all, where some of them are suppressed; else 0.

        A record whose keys were all missing from the start looks like a suppressed one.
        """
        if self.suppressed != "released" or not self.hidden:
            return 0
        unknown = self.node.unknown
        alike = unknown != NO_CLASS and self.kept[unknown]
        return self.hidden + (int(self.node.sizes[unknown]) if alike else 0)

    @property
    def class_sizes(self) -> IntArray:
        """The records of each class of the file, 1 or more; those that show no key are one class."""
        return self._of_classes(self.node.sizes, self.hidden_class)

    @property
    def class_people(self) -> IntArray:
        """In the same order, how many people of the population fit each. Raises DataError if none are known."""
        return self._of_classes(self.node.people, self.node.everybody)

    def _of_classes(self, figures: IntArray, of_hidden: int) -> IntArray:
        shown = self.kept & (self.node.sizes > 0)
        if not self.hidden_class:
            return figures[shown]
        if self.node.unknown != NO_CLASS:
            shown[self.node.unknown] = False
        return np.append(figures[shown], of_hidden)

    def histogram(self, sensitive: str) -> Histogram:
        """Of a sensitive column, for all classes of the node. Raises DataError if there is no such column."""
        try:
            return self.node.histograms[sensitive]
        except KeyError:
            known = ", ".join(self.node.histograms) or "none"
            raise DataError(f"no sensitive column '{sensitive}' was given; there are: {known}.") from None

    def overall(self, sensitive: str) -> FloatArray:
        """Shape (values,), the share of each value in the file; that of suppressed records as `suppressed` says."""
        whole = self.suppressed in ("ignored", "without_keys")
        among = np.ones_like(self.kept) if whole else self.kept
        return self.histogram(sensitive).overall(among)


class PrivacyModel(ABC):
    """What must hold. A class with no value of the sensitive column tells none and breaks no model on that column.

    monotone                  : whether a file that satisfies the model still does when its classes are united
    monotone_with_suppression : whether a class that satisfies it still does when it is united with any other, whatever
                                records are suppressed, if everybody has a value
    compares                  : whether what a class must satisfy depends on the other records that are released
    on_classes                : whether it judges each class by how many records it has and by their sensitive values,
                                and so classes at different levels, too
    """

    compares: bool = False
    on_classes: bool = True

    @property
    @abstractmethod
    def monotone(self) -> bool: ...

    @property
    @abstractmethod
    def monotone_with_suppression(self) -> bool: ...

    def failing(self, file: ReleasedFile) -> BoolArray:
        """Shape (c,), which classes break the model by themselves; what it says of classes not kept is not looked at.

        Their records are suppressed as far as the limit allows.
        """
        return np.zeros(len(file.kept), dtype=np.bool_)

    def relief(self, file: ReleasedFile) -> BoolArray:
        """Shape (c,), the classes to suppress where the file breaks the model and no class does so by itself."""
        return np.zeros(len(file.kept), dtype=np.bool_)

    def hidden_class_fails(self, file: ReleasedFile) -> bool:
        """Whether the class of the suppressed records breaks it; `file.hidden_class` is its size, more than 0."""
        return False

    def file_fails(self, file: ReleasedFile) -> bool:
        """Whether the file, with the class of the suppressed records, breaks it; asked once no class fails."""
        return False

    @abstractmethod
    def describe(self) -> str:
        """Name and limit, as in 'k-anonymity with k = 5'."""

"""A privacy model: what the classes of a released file must satisfy.

Adding a model is one file here: a frozen dataclass that derives from `PrivacyModel` and says which classes break it
(`failing`), or whether the file does (`file_fails`). The search takes any conjunction of them.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from sluice.generalization.lattice.node import NO_CLASS, PEOPLE, Node, of_people
from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.errors import DataError
from sluice.risk.classes.class_values import ClassValues

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
    def _without_keys(self) -> BoolArray:
        """Shape (c,), the classes whose records show no key at all in the file, where some are suppressed; else none.

        A record whose keys were all missing from the start looks like a suppressed one.
        """
        if self.suppressed != "released" or not self.hidden:
            return np.zeros_like(self.kept)
        classes = ~self.kept
        if self.node.unknown != NO_CLASS:
            classes[self.node.unknown] = True
        return classes

    @cached_property
    def hidden_class(self) -> int:
        """How many records, or people where they are known, show no key at all, where some are suppressed; else 0."""
        people = self.node.histograms.get(PEOPLE)
        if people is None:
            return int(self.node.sizes[self._without_keys].sum())
        return len(np.unique(people.value[self._without_keys[people.holder]]))

    @property
    def class_sizes(self) -> IntArray:
        """The records of each class of the file, 1 or more; those that show no key are one class."""
        return self._of_classes(self.node.sizes, int(self.node.sizes[self._without_keys].sum()))

    @property
    def class_crowds(self) -> IntArray:
        """In the same order, their records, or people where they are known."""
        return self._of_classes(self.node.crowds, self.hidden_class)

    @property
    def class_people(self) -> IntArray:
        """In the same order, how many people of the population fit each. Raises DataError if none are known."""
        return self._of_classes(self.node.people, self.node.everybody)

    def _of_classes(self, figures: IntArray, of_hidden: int) -> IntArray:
        shown = figures[self.kept & (self.node.sizes > 0) & ~self._without_keys]
        return np.append(shown, of_hidden) if self.hidden_class else shown

    def class_values(self, sensitive: str) -> ClassValues:
        """A sensitive column in all classes of the node, and in the whole file; there, the values of suppressed records
        are as `suppressed` says. Raises DataError if there is no such column."""
        held = self.node.histograms.get(of_people(sensitive)) or self.node.histograms.get(sensitive)
        if held is None:
            known = ", ".join(name for name in self.node.histograms if PEOPLE not in name) or "none"
            raise DataError(f"no sensitive column '{sensitive}' was given; there are: {known}.")
        whole = self.suppressed in ("ignored", "without_keys")
        return held.class_values(np.ones_like(self.kept) if whole else self.kept)


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

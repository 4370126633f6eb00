"""A privacy model: what the classes of a released file must satisfy.

A model is a frozen dataclass that derives from one of the three here and stands beside its measure and the rule that
asks for it. It says which classes break it (`failing`), or whether the file does (`file_fails`). The search of
generalisations takes any conjunction of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.risk.classes.class_values import ClassValues

Suppressed = Literal["released", "without_keys", "removed", "ignored"]
"""What becomes of suppressed records. released: they stay in the file, all their keys and sensitive values missing, and
are a class of their own there; without_keys: the same, but they keep their sensitive values, and their class must
satisfy every model; removed: they are left out; ignored: they do not count, and the others are compared with the whole
original file. The last is not what anybody would see: it is there to compare with programs that do so."""

WHOLE_FILE: Collection[Suppressed] = ("without_keys", "ignored")  # classes are compared with all records, whoever goes

ROUNDING = 1e-9  # sums of logarithms and quotients: a limit that is met exactly is met
NO_CLASS = -1


class Classes(Protocol):
    """The classes of a generalised file, as the search has them at a node of its lattice."""

    @property
    def sizes(self) -> IntArray:
        """Shape (c,), the records of each class, 0 only where the population has people without a record."""

    @property
    def members(self) -> IntArray:
        """Shape (c,), the records of each class, or its people where it is known whose the records are."""

    @property
    def people(self) -> IntArray:
        """Shape (c,), how many people of the population fit each class. Raises DataError if no population is known."""

    @property
    def everybody(self) -> int:
        """How many people the population has. Raises DataError if none is known."""

    @property
    def unknown(self) -> int:
        """The class in which every key is missing, as in a suppressed record; NO_CLASS where there is none."""

    def members_of(self, classes: BoolArray) -> int:
        """The records of some classes together, or their people where it is known whose the records are."""

    def class_values(self, sensitive: str, among: BoolArray) -> ClassValues:
        """A sensitive column in all classes, and in the whole file, which are the records of the classes `among`.
        Raises DataError if there is no such column."""


@dataclass(frozen=True)
class ReleasedFile:
    """The file that a transformation would release.

    kept : shape (c,), the classes of the node whose records are not suppressed
    """

    node: Classes
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
    def members(self) -> int:
        """How many records the original file has, or people where they are known."""
        return self.node.members_of(np.ones_like(self.kept))

    @cached_property
    def hidden_class(self) -> int:
        """How many records, or people where they are known, show no key at all, where some are suppressed; else 0."""
        return self.node.members_of(self._without_keys)

    @property
    def class_sizes(self) -> IntArray:
        """The records of each class of the file, 1 or more; those that show no key are one class."""
        return self._of_classes(self.node.sizes, int(self.node.sizes[self._without_keys].sum()))

    @property
    def class_members(self) -> IntArray:
        """In the same order, their records, or people where they are known."""
        return self._of_classes(self.node.members, self.hidden_class)

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
        among = np.ones_like(self.kept) if self.suppressed in WHOLE_FILE else self.kept
        return self.node.class_values(sensitive, among)


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


class FileModel(PrivacyModel):
    """A model on a figure of the whole file, such as its average risk, where no class breaks it by itself.

    Each has its limit as `most`, a share from 0 to 1. Where records may be suppressed, the smallest classes are, until
    the figure is within its limit: all of one size together, so that it does not depend on the order of the records
    which of them are.
    """

    most: float

    on_classes = False
    monotone = True
    monotone_with_suppression = False  # which classes go depends on all others

    def __post_init__(self) -> None:
        if not 0 <= self.most <= 1:
            raise DataError(f"{self.describe()}: the limit must be from 0 to 1; got {self.most:g}. Is it a percentage?")

    @abstractmethod
    def figure(self, file: ReleasedFile) -> float:
        """What the limit is for. The file has at least one record."""

    def members(self, node: Classes) -> IntArray:
        """Shape (c,), by what a class counts as small."""
        return node.members

    def file_fails(self, file: ReleasedFile) -> bool:
        return len(file.class_sizes) > 0 and self.figure(file) > self.most + ROUNDING

    def relief(self, file: ReleasedFile) -> BoolArray:
        present = file.kept & (file.node.sizes > 0)
        if not present.any() or not self.file_fails(file):
            return np.zeros_like(present)
        members = self.members(file.node)
        return np.asarray(present & (members == members[present].min()), dtype=np.bool_)


@dataclass(frozen=True)
class SensitiveModel(PrivacyModel):
    """A model on the values of one sensitive variable within each class: l-diversity, t-closeness and their like.

    A blank is no value: records without one are left out, and a class in which nobody has a value breaks no such model
    unless `valued`. Where it is known whose the records are, people are counted; a claim to be monotone is then true as
    long as nobody has records in several classes.

    sensitive : the name of the column
    valued    : whether somebody in each class has to have a value: that nobody has one may tell of all of them. A class
                without is none of those that are united, so what a model is, monotone or not, it stays
    """

    sensitive: str
    valued: bool = field(default=False, kw_only=True)

    worse: ClassVar[Literal["higher", "lower"]] = "higher"

    @property
    def crowding(self) -> tuple[float, float] | None:
        """(a, b): of N records of classes that satisfy the model, each value with the share q of the file has at least
        b N together when none counts for more than a q N. None where nothing of the kind follows from the model."""
        return None

    def failing(self, file: ReleasedFile) -> BoolArray:
        found = file.class_values(self.sensitive)
        has_values = found.sizes > 0
        broken = self.broken(found) & has_values
        return broken | (~has_values & (file.node.sizes > 0)) if self.valued else broken

    @abstractmethod
    def figures(self, found: ClassValues) -> FloatArray:
        """Shape (c,), what the limit is for, of each class."""

    def worst(self, figures: FloatArray) -> float:
        return float(figures.max() if self.worse == "higher" else figures.min())

    @abstractmethod
    def broken(self, found: ClassValues) -> BoolArray:
        """Shape (c,), whether the values of each class break it; that of a class without values does not count."""

    def of_column(self, column: "pd.Series[Any]") -> Self:
        """For a search, which has codes in the order of the values: the model with what it must know of these."""
        return self


@dataclass(frozen=True)
class _WithHarmless(ReleasedFile):
    """harmless : codes of the values that may be known of anybody"""

    harmless: tuple[int, ...]

    def class_values(self, sensitive: str) -> ClassValues:
        found = super().class_values(sensitive)
        return replace(found, harmless=np.isin(found.value, self.harmless))


@dataclass(frozen=True)
class BesideHarmless(SensitiveModel):
    """A model on sensitive values of which some may be known of anybody: it asks about the others.

    model    : of the same column
    harmless : codes of those values, one at least

    It is monotone: with harmless values each of the measures is at most the larger of its figures in the classes that
    are united, or at least the smaller. A class that tells nothing of anybody may be united with one that does.
    """

    model: SensitiveModel
    harmless: tuple[int, ...]

    monotone = True
    monotone_with_suppression = False

    @property
    def compares(self) -> bool:  # type: ignore[override]  # a class attribute of the others
        return self.model.compares

    def failing(self, file: ReleasedFile) -> BoolArray:
        return self.model.failing(_WithHarmless(file.node, file.kept, file.suppressed, self.harmless))

    def figures(self, found: ClassValues) -> FloatArray:
        return self.model.figures(found)

    def broken(self, found: ClassValues) -> BoolArray:
        return self.model.broken(found)

    def hidden_class_fails(self, file: ReleasedFile) -> bool:
        return self.model.hidden_class_fails(file)

    def describe(self) -> str:
        return f"{self.model.describe()}, of values that the contract does not call harmless"

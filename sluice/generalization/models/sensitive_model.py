"""Privacy models on the values of one sensitive column within each class: l-diversity, (alpha,k)-anonymity,
t-closeness, beta-likeness, delta-disclosure privacy.

A rule of a policy holds a file to the same models. What they measure, and the sources, are in `sluice.risk.classes`. A
blank is no value: records without one are left out, and a class in which nobody has a value breaks no such model. Where
it is known whose the records are, people are counted; a claim to be monotone is then true as long as nobody has records
in several classes.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sluice.generalization.models.k_anonymity import KAnonymity
from sluice.generalization.models.privacy_model import ROUNDING, PrivacyModel, ReleasedFile
from sluice.ground.arrays import BoolArray, FloatArray
from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy
from sluice.risk.classes import alpha_k, beta_likeness, delta_disclosure, l_diversity, t_closeness
from sluice.risk.classes.class_values import ClassValues


@dataclass(frozen=True)
class SensitiveModel(PrivacyModel):
    """sensitive : the name of the column"""

    sensitive: str

    worse: ClassVar[Literal["higher", "lower"]] = "higher"

    def failing(self, file: ReleasedFile) -> BoolArray:
        found = file.class_values(self.sensitive)
        return self.broken(found) & (found.sizes > 0)

    @abstractmethod
    def figures(self, found: ClassValues) -> FloatArray:
        """Shape (c,), what the limit is for, of each class."""

    @abstractmethod
    def broken(self, found: ClassValues) -> BoolArray:
        """Shape (c,), whether the values of each class break it; that of a class without values does not count."""


@dataclass(frozen=True)
class DistinctLDiversity(SensitiveModel):
    """At least l different values in each class; l is 1 or more."""

    l: int  # noqa: E741  the name that everybody knows

    worse = "lower"

    def __post_init__(self) -> None:
        if self.l < 1:
            raise DataError(f"l of distinct l-diversity must be 1 or more; got {self.l}.")

    monotone = True
    monotone_with_suppression = True

    def figures(self, found: ClassValues) -> FloatArray:
        return l_diversity.distinct_values(found).astype(np.float64)

    def broken(self, found: ClassValues) -> BoolArray:
        return l_diversity.distinct_values(found) < self.l

    def describe(self) -> str:
        return f"distinct l-diversity of '{self.sensitive}' with l = {self.l}"


@dataclass(frozen=True)
class EntropyLDiversity(SensitiveModel):
    """exp(entropy) of the values of each class is at least l: as many equally frequent values would have it.

    l         : 1 or more
    corrected : whether the entropy is Grassberger's estimate of that from which the records were drawn: where they are
                few it is larger, so that more classes pass
    """

    l: float  # noqa: E741  the name that everybody knows
    corrected: bool = False

    worse = "lower"

    def __post_init__(self) -> None:
        if not self.l >= 1:
            raise DataError(f"l of entropy l-diversity must be 1 or more; got {self.l:g}.")

    @property
    def monotone(self) -> bool:
        return not self.corrected  # entropy is concave; the estimate need not be

    monotone_with_suppression = False  # two values alike often and a thousand records of one have a lower entropy

    def figures(self, found: ClassValues) -> FloatArray:
        return (l_diversity.estimated_values if self.corrected else l_diversity.effective_values)(found)

    def broken(self, found: ClassValues) -> BoolArray:
        return np.asarray(self.figures(found) < self.l - ROUNDING, dtype=np.bool_)

    def describe(self) -> str:
        by = " (Grassberger's estimate)" if self.corrected else ""
        return f"entropy l-diversity of '{self.sensitive}'{by} with l = {self.l:g}"


@dataclass(frozen=True)
class RecursiveLDiversity(SensitiveModel):
    """The most frequent value of a class has fewer than c times the records of the l-th and all rarer ones together.

    c : more than 0; l : 2 or more
    """

    c: float
    l: int  # noqa: E741  the name that everybody knows

    def __post_init__(self) -> None:
        if not self.c > 0:
            raise DataError(f"c of recursive (c,l)-diversity must be more than 0; got {self.c:g}.")
        if self.l < 2:
            raise DataError(f"l of recursive (c,l)-diversity must be 2 or more; got {self.l}.")

    monotone = True
    monotone_with_suppression = False  # a class with too frequent a value may outweigh one without

    def figures(self, found: ClassValues) -> FloatArray:
        return l_diversity.recursive_ratio(found, self.l)

    def broken(self, found: ClassValues) -> BoolArray:
        return self.figures(found) >= self.c

    def describe(self) -> str:
        return f"recursive (c,l)-diversity of '{self.sensitive}' with c = {self.c:g} and l = {self.l}"


@dataclass(frozen=True)
class AlphaKAnonymity(SensitiveModel):
    """A class has at least k records, or people, and at most the share alpha of them has any one sensitive value.

    alpha  : more than 0, at most 1; of the records with a value
    values : codes of the values that are sensitive; all when None
    """

    alpha: float
    k: int
    values: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if not 0 < self.alpha <= 1:
            raise DataError(f"alpha of (alpha,k)-anonymity must be more than 0 and at most 1; got {self.alpha:g}.")
        if self.k < 1:
            raise DataError(f"k of (alpha,k)-anonymity must be 1 or more; got {self.k}.")

    monotone = True
    monotone_with_suppression = False  # a class of one value may outweigh one of many

    def failing(self, file: ReleasedFile) -> BoolArray:
        return super().failing(file) | KAnonymity(self.k).failing(file)

    def figures(self, found: ClassValues) -> FloatArray:
        return alpha_k.largest_share(found, self.values)

    def broken(self, found: ClassValues) -> BoolArray:
        return self.figures(found) > self.alpha + ROUNDING

    def hidden_class_fails(self, file: ReleasedFile) -> bool:
        return file.hidden_class < self.k

    def describe(self) -> str:
        return f"(alpha,k)-anonymity of '{self.sensitive}' with alpha = {self.alpha:g} and k = {self.k}"


@dataclass(frozen=True)
class BetaLikeness(SensitiveModel):
    """The gain of each value is at most beta, which is more than 0.

    enhanced : and at most -ln q, so that a frequent value may not become almost certain
    """

    beta: float
    enhanced: bool = False

    def __post_init__(self) -> None:
        if not self.beta > 0:
            raise DataError(f"beta of beta-likeness must be more than 0; got {self.beta:g}.")

    compares = True
    monotone = True  # the largest gain of a mixture lies between those of its parts
    monotone_with_suppression = False

    def figures(self, found: ClassValues) -> FloatArray:
        return beta_likeness.largest_gain(found)

    def broken(self, found: ClassValues) -> BoolArray:
        broken = self.figures(found) > self.beta + ROUNDING
        return broken | (beta_likeness.largest_bounded_gain(found) > 1 + ROUNDING) if self.enhanced else broken

    def describe(self) -> str:
        return (
            f"{'enhanced' if self.enhanced else 'basic'} beta-likeness of '{self.sensitive}' with beta = {self.beta:g}"
        )


@dataclass(frozen=True)
class DeltaDisclosure(SensitiveModel):
    """delta is more than 0.

    absent : whether a value of the file that a class lacks breaks the model, as the definition has it. ARX and pycanon
             leave it out
    """

    delta: float
    absent: bool = True

    def __post_init__(self) -> None:
        if not self.delta > 0:
            raise DataError(f"delta of delta-disclosure privacy must be more than 0; got {self.delta:g}.")

    @property
    def monotone(self) -> bool:
        return self.absent  # else a class that lacks a value may make it rare in one that has it

    compares = True
    monotone_with_suppression = False

    def figures(self, found: ClassValues) -> FloatArray:
        return delta_disclosure.log_ratios(found, self.absent)

    def broken(self, found: ClassValues) -> BoolArray:
        return self.figures(found) >= self.delta

    def describe(self) -> str:
        return f"delta-disclosure privacy of '{self.sensitive}' with delta = {self.delta:g}"


@dataclass(frozen=True)
class _TCloseness(SensitiveModel):
    """The distance of each class to the file is at most t, 0 to 1."""

    t: float

    ground: ClassVar[str]

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            raise DataError(f"t of t-closeness must be from 0 to 1; got {self.t:g}.")

    compares = True
    monotone = True  # the distance is convex
    monotone_with_suppression = False  # one distribution that is near and one that is far may mix to one that is far

    def broken(self, found: ClassValues) -> BoolArray:
        return self.figures(found) > self.t + ROUNDING

    def describe(self) -> str:
        return f"t-closeness of '{self.sensitive}' ({self.ground} distance) with t = {self.t:g}"


@dataclass(frozen=True)
class EqualTCloseness(_TCloseness):
    """Every value is as far from every other: the total variation distance."""

    ground = "equal"

    def figures(self, found: ClassValues) -> FloatArray:
        return t_closeness.equal_distance(found)


@dataclass(frozen=True)
class OrderedTCloseness(_TCloseness):
    """Values are as far apart as their ranks among the values that the file has; their codes are in order."""

    ground = "ordered"

    def figures(self, found: ClassValues) -> FloatArray:
        return t_closeness.ordered_distance(found)


@dataclass(frozen=True)
class HierarchicalTCloseness(_TCloseness):
    """Two values are as far apart as the lowest level at which one group holds both, relative to the root's.

    levels : for each level from the values themselves (0) up to below the root, the group that holds each value; nested
    """

    levels: tuple[tuple[int, ...], ...]

    ground = "hierarchical"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.levels or not self.levels[0]:
            raise DataError("the hierarchical distance needs at least one level below the root; got none.")

    @classmethod
    def of(cls, sensitive: str, t: float, categories: Sequence[str], hierarchy: Hierarchy) -> "HierarchicalTCloseness":
        """By a hierarchy of the column's categories, whose codes are their positions.

        raises : DataError if the hierarchy lacks a category
        """
        levels = t_closeness.hierarchy_levels(categories, hierarchy, sensitive)
        return cls(sensitive, t, tuple(map(tuple, levels.tolist())))

    def figures(self, found: ClassValues) -> FloatArray:
        return t_closeness.hierarchical_distance(found, np.array(self.levels))

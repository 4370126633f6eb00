"""t-closeness: how far the sensitive values of a group are from those of the whole file.

Source: Li, Li and Venkatasubramanian (2007), section 4.

That is the earth mover's distance, with the equal, the ordered or the hierarchical ground distance: one figure a class,
0 (the class is a picture of the file) to 1; the file's t is the largest. Higher is worse. Somebody with several values
counts for each of them. The order counts the values that occur in the file, so a category that nobody has neither
widens nor narrows a distance.

Beside harmless values the distance is one-sided: harmless records may be moved for nothing, and count as if they lay
where they make it smallest. Equal and hierarchical: the sum of p - q over the other values, or groups, that exceed the
file's share. Ordered: what the others, added up from either end, exceed the file's by; where harmless records lie
between two others, that is a little less than what moving them would cost. A class of harmless values alone is at 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.document_parts import Share
from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy, taxonomy_of
from sluice.ground.sentence import Saying, Sentence
from sluice.ground.variables import Kind, Variable
from sluice.risk.classes.class_values import ClassValues, SensitiveValues
from sluice.risk.classes.privacy_model import ROUNDING, SensitiveModel
from sluice.risk.classes.sensitive_rule import GROUPS, SensitiveRule

_DIFFER = Sentence(
    "t_closeness.differ",
    f"In {GROUPS}, the values of {{name:word}} differ from those of the whole file by more than {{limit:g}} on a "
    "scale from 0 to 1 (most in any group: {most:.4g}); the policy allows {limit:g}.",
)


def equal_distance(found: ClassValues) -> FloatArray:
    """Every value is as far from every other: the total variation distance, half the sum of |p - q|.

    returns : shape (c,)
    cost    : O(pairs)
    """
    apart = np.maximum(found.distribution - found.mass[found.value], 0.0)
    return found.sums(apart if found.harmless is None else np.where(found.harmful, apart, 0.0))


def hierarchical_distance(found: ClassValues, levels: IntArray) -> FloatArray:
    """Two values are as far apart as the lowest level at which one group holds both, relative to the root's.

    levels  : shape (levels, codes), from the values themselves (0) up to below the root, the group that holds each
              value; nested
    returns : shape (c,)
    raises  : DataError if there is no level
    cost    : a sort of the pairs a level

    Section 4.4 sums, over the inner nodes, their height times the mass that is moved between their children. The mass
    between children of the nodes at level h is the total variation distance at h - 1 less that at h, so that the sum
    telescopes: it is the mean over the levels of the total variation distance between the groups of that level.
    """
    if not len(levels):
        raise DataError("the hierarchical distance needs at least one level; got none.")
    q, p = found.mass, np.where(found.harmful, found.distribution, 0.0)
    distance = np.zeros(len(found.sizes))
    for level in levels:
        groups = int(level.max()) + 1
        whole = np.bincount(level[: len(q)], q, groups)
        cells, cell = np.unique(found.holder * groups + level[found.value], return_inverse=True)
        holder, group = np.divmod(cells, groups)
        apart = np.maximum(np.bincount(cell, p, len(cells)) - whole[group], 0.0)
        distance += np.bincount(holder, apart, len(distance))
    return distance / len(levels)


def hierarchy_levels(values: Sequence[str], hierarchy: Hierarchy, name: str) -> IntArray:
    """The groups that hold each value, level by level, as `hierarchical_distance` takes them.

    values  : the categories, by code
    name    : of the variable
    returns : shape (levels, codes). The root is the lowest level at which all that the hierarchy lists lie in one group
    raises  : DataError if the hierarchy lacks a value
    """
    try:
        return taxonomy_of(values, hierarchy).nodes.T
    except ValueError as error:
        raise DataError(f"'{name}': {error}.") from None


def ordered_distance(found: ClassValues) -> FloatArray:
    """Values i and j of m are |i - j| / (m - 1) apart: the mean gap of the two cumulative distributions.

    returns : shape (c,); 0 where the file has a single value. Codes are in the order of the values
    cost    : O(pairs), also for as many values as records
    """
    holder, occurs = found.holder, np.flatnonzero(found.mass)
    m = len(occurs)
    if m < 2 or not len(holder):
        return np.zeros(len(found.sizes))
    rank = np.searchsorted(occurs, found.value)
    whole = np.cumsum(found.mass[occurs])  # Q at each of the m values
    area = np.concatenate([[0.0], np.cumsum(whole)])  # area[i] = Q summed over the first i values

    # Within a class the cumulative P is a staircase: 0 before the first of its values, then constant up to the next.
    first = np.concatenate([[True], holder[1:] != holder[:-1]])
    last = np.concatenate([first[1:], [True]])
    counted = np.where(found.harmful, found.records, 0)
    cumulative = np.cumsum(counted)
    before = (cumulative - counted)[first][np.cumsum(first) - 1]  # records of the classes before this one
    everybody = found.sums(found.records)
    level = (cumulative - before) / everybody[holder]
    stop = np.where(last, m, np.concatenate([rank[1:], [0]]))
    if found.harmless is None:
        free = np.zeros(len(holder))
        head = np.where(first, area[rank], 0.0)
    else:  # these may lie before or after any other: Q is compared with the level with and without them
        free = (found.sums(found.records - counted) / np.maximum(everybody, 1))[holder]
        head = np.where(first, _above(whole, area, free, np.zeros_like(rank), rank), 0.0)
    gap = _below(whole, area, level, rank, stop) + _above(whole, area, level + free, rank, stop) + head
    return np.clip(found.sums(gap) / (m - 1), 0.0, 1.0)


def _below(whole: FloatArray, area: FloatArray, level: FloatArray, start: IntArray, stop: IntArray) -> FloatArray:
    """Sum of max(level - Q_i, 0) over i in [start, stop): Q rises, so it crosses the level once."""
    cross = np.clip(np.searchsorted(whole, level), start, stop)
    return np.asarray(level * (cross - start) - (area[cross] - area[start]), dtype=np.float64)


def _above(whole: FloatArray, area: FloatArray, level: FloatArray, start: IntArray, stop: IntArray) -> FloatArray:
    """Sum of max(Q_i - level, 0) over i in [start, stop)."""
    cross = np.clip(np.searchsorted(whole, level), start, stop)
    return np.asarray((area[stop] - area[cross]) - level * (stop - cross), dtype=np.float64)


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

    @property
    def crowding(self) -> tuple[float, float]:
        return 1.0, 1 - self.t  # what exceeds the file's shares is t at most

    def figures(self, found: ClassValues) -> FloatArray:
        return equal_distance(found)


@dataclass(frozen=True)
class OrderedTCloseness(_TCloseness):
    """Values are as far apart as their ranks among the values that the file has; their codes are in order."""

    ground = "ordered"

    def figures(self, found: ClassValues) -> FloatArray:
        return ordered_distance(found)


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
        levels = hierarchy_levels(categories, hierarchy, sensitive)
        return cls(sensitive, t, tuple(map(tuple, levels.tolist())))

    def figures(self, found: ClassValues) -> FloatArray:
        return hierarchical_distance(found, np.array(self.levels))


class TCloseness(SensitiveRule):
    """In every group of equal quasi-identifiers a sensitive variable is distributed nearly as in the whole file."""

    rule: Literal["t_closeness"] = "t_closeness"
    example: ClassVar[str] = "{rule: t_closeness, t: 0.5}"
    advice: ClassVar[str] = (
        "The sensitive values of some groups differ too much from those of the whole file: merge such groups by "
        "coarser quasi-identifiers, or give the sensitive variable fewer categories."
    )
    t: Share = Field(gt=0, lt=1, description="largest allowed earth mover's distance, more than 0 and less than 1")
    t_ordered: Share | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="the same for ordered values, whose distances are smaller; t by default",
    )
    ground_distance: Literal["equal", "ordered", "hierarchical"] | None = Field(
        default=None,
        description="by default ordered for numbers, dates and ordinal categories, else equal; hierarchical takes the "
        "contract's hierarchy",
    )

    def threshold(self, variable: Variable) -> float:
        ordered = self._has_order(variable) and self.ground_distance_of(variable) == "ordered"
        return self.t_ordered if ordered and self.t_ordered is not None else self.t

    def ground_distance_of(self, variable: Variable) -> Literal["equal", "ordered", "hierarchical"]:
        """Which one is taken for a variable."""
        if self.ground_distance is not None:
            return self.ground_distance
        return "ordered" if self._has_order(variable) else "equal"

    def misfit(self, variable: Variable) -> str:
        if self.ground_distance == "ordered" and not self._has_order(variable):
            return f"by 'ordered' needs values with an order; '{variable.name}' is {variable.kind}. Use 'equal'."
        if self.ground_distance == "hierarchical" and variable.hierarchy is None:
            return f"by 'hierarchical' needs a hierarchy; '{variable.name}' has none in the contract."
        return ""

    def model(self, variable: Variable, categories: Sequence[str]) -> SensitiveModel:
        if misfit := self.misfit(variable):
            raise DataError(f"t_closeness {misfit}")
        name, t, distance = variable.name, self.threshold(variable), self.ground_distance_of(variable)
        if distance == "equal":
            return EqualTCloseness(name, t)
        if distance == "ordered":
            return OrderedTCloseness(name, t)
        assert variable.hierarchy is not None  # or it was a misfit
        return HierarchicalTCloseness.of(name, t, categories, variable.hierarchy)

    def model_of_number(self, variable: Variable) -> SensitiveModel | None:
        return None if self.misfit(variable) else self.model(variable, ())

    def measure(self, values: SensitiveValues) -> tuple[SensitiveModel, ClassValues]:
        counted, categories = values.as_they_occur  # a hierarchy need not hold what nobody has
        return self.model(values.variable, categories), counted.in_classes

    def say(self, groups: Mapping[str, Any], worst: float, limit: float) -> Saying:
        return _DIFFER(**groups, limit=limit, most=worst)

    @staticmethod
    def _has_order(variable: Variable) -> bool:
        return variable.kind.is_numeric or variable.kind in (Kind.ORDINAL, Kind.DATE)

    def describe(self) -> str:
        ordered = "" if self.t_ordered is None else f", {self.t_ordered:g} where values have an order,"
        return (
            f"Within {self.who_share}, the values of {self.of_what} differ from those of the whole file by at most "
            f"{self.t:g}{ordered} on a scale from 0 to 1 (t-closeness)."
        )

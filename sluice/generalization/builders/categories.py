"""Groups of categories: named ones that stay while all others become one group, and neighbours in their order.

Source: Prasser, Eicher, Spengler, Bild and Kuhn (2020), the priority-based and the order-based hierarchies of ARX.
"""

from itertools import pairwise
from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from sluice.generalization.builders.builder import HierarchyBuilder, Levels
from sluice.ground.arrays import IntArray
from sluice.ground.errors import DocumentError
from sluice.ground.variables import Kind, Label, Variable

_Size = Annotated[int, Field(ge=1)]


class Priority(HierarchyBuilder):
    """The important categories as they are, and 'other'; at each wider level fewer of them."""

    priority: tuple[tuple[Label, ...], ...] = Field(
        min_length=1,
        description="categories that stay at each level, from the narrowest; each level has some of the last",
    )
    others: Label = Field(default="other", description="the group of all that do not stay")

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NOMINAL, Kind.ORDINAL)

    @model_validator(mode="after")
    def _nested(self) -> Self:
        for level, named in enumerate(self.priority, start=1):
            if not named or len(set(named)) != len(named):
                raise ValueError(f"priority of level {level} must name categories, each once")
        for level, (narrow, wide) in enumerate(pairwise(self.priority), start=2):
            if new := [each for each in wide if each not in narrow]:
                raise ValueError(f"priority of level {level} must be among that of level {level - 1}; got '{new[0]}'")
        return self

    def grouped(self, variable: Variable, leaves: tuple[str, ...]) -> Levels:
        for named in self.priority[0]:
            if named not in leaves:
                raise DocumentError(
                    f"hierarchy of '{variable.name}': it has no category '{named}'.", came=named, allowed=leaves
                )
        if self.others in leaves:
            raise DocumentError(
                f"hierarchy of '{variable.name}': 'others' is '{self.others}', which is a category itself; choose "
                "another name"
            )
        return [[leaf if leaf in kept else self.others for leaf in leaves] for kept in map(set, self.priority)]


class OrderedGroups(HierarchyBuilder):
    """Neighbours in the declared order, level by level: two categories, then three of these groups."""

    groups: tuple[_Size | tuple[_Size, ...], ...] = Field(
        min_length=1,
        description="how many neighbours of the level below are one group, from the narrowest level: 2 for two at a "
        "time, [4, 5, 7] for a number of each group, from the lowest",
    )
    names: tuple[tuple[Label, ...], ...] | None = Field(
        default=None, description="names of the groups of each level, from the lowest; else 'first to last'"
    )

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.ORDINAL, Kind.INTEGER)

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.names is not None and len(self.names) != len(self.groups):
            raise ValueError(f"names must be given for each of {len(self.groups)} levels; got {len(self.names)}")
        return self

    def grouped(self, variable: Variable, leaves: tuple[str, ...]) -> Levels:
        starts = np.arange(len(leaves))  # the first leaf of each group of the level below
        levels = []
        for level, size in enumerate(self.groups):
            starts = starts[_first_members(variable, level, size, len(starts))]
            names = self._names(variable, level, leaves, starts)
            places = np.searchsorted(starts, np.arange(len(leaves)), side="right") - 1
            levels.append([names[place] for place in places])
        return levels

    def _names(
        self,
        variable: Variable,
        level: int,
        leaves: tuple[str, ...],
        starts: IntArray,
    ) -> tuple[str, ...]:
        if self.names is None:
            ends = [*starts[1:], len(leaves)]
            ranges = zip((leaves[start] for start in starts), (leaves[end - 1] for end in ends), strict=True)
            return tuple(first if first == last else f"{first} to {last}" for first, last in ranges)
        given = self.names[level]
        if len(given) != len(starts) or len(set(given)) != len(given):
            raise DocumentError(
                f"hierarchy of '{variable.name}': level {level + 1} has {len(starts)} groups, which need a name each; "
                f"got {len(set(given))} different ones"
            )
        return given


def _first_members(variable: Variable, level: int, size: int | tuple[int, ...], below: int) -> list[int]:
    """Where each group begins among the groups below it."""
    if isinstance(size, int):
        return list(range(0, below, size))
    if sum(size) != below:
        raise DocumentError(
            f"hierarchy of '{variable.name}': the sizes of level {level + 1} must add up to the {below} "
            f"{'groups of the level below' if level else 'values'}; got {sum(size)}. Each says how many neighbours "
            "a group takes."
        )
    return [sum(size[:place]) for place in range(len(size))]

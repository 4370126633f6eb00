"""Groups of categories: named ones that stay while all others become one group, and neighbours in their order.

Source: Prasser, Eicher, Spengler, Bild and Kuhn (2020), the priority-based and the order-based hierarchies of ARX.

Codes: redacted character by character, cut to their first characters, or grouped by their parents in a register.

Source: Prasser, Eicher, Spengler, Bild and Kuhn (2020), the masking-based hierarchies of ARX. A classification is
written as most offices keep it, one row a code.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from sluice.generalization.builders.builder import HierarchyBuilder, Levels, hierarchy_of
from sluice.ground.arrays import IntArray
from sluice.ground.errors import DocumentError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Label, Variable
from sluice.ground.visible_text import Name

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


class Redaction(HierarchyBuilder):
    """Codes with ever fewer of their characters: 4217, 421*, 42**, 4***, ****."""

    redaction: Literal["right", "left"] = Field(description="the end from which characters are redacted")
    character: Name = Field(
        default="*", min_length=1, max_length=1, description="what stands for a redacted one; no code may hold it"
    )
    levels: tuple[int, ...] | None = Field(
        default=None, min_length=1, description="how many are redacted at each level; else one more at each, up to all"
    )

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NOMINAL, Kind.ORDINAL, Kind.BINARY)

    @model_validator(mode="after")
    def _nested(self) -> Self:
        levels = self.levels or (1,)
        if levels[0] < 1 or any(less >= more for less, more in pairwise(levels)):
            raise ValueError(f"levels must rise strictly from at least 1; got {', '.join(map(str, levels))}")
        return self

    def grouped(self, variable: Variable, leaves: tuple[str, ...]) -> Levels:
        """A shorter code counts as one whose missing characters, at the same end, are redacted already."""
        longest = max(map(len, leaves))
        holding = sum(self.character in leaf for leaf in leaves)
        if holding:
            raise DocumentError(
                f"hierarchy of '{variable.name}': {holding} of {len(leaves)} codes hold '{self.character}', which "
                "stands for a redacted character; give another 'character'"
            )
        levels = self.levels or tuple(range(1, longest + 1))
        if levels[-1] > longest:
            raise DocumentError(
                f"hierarchy of '{variable.name}': levels must be at most {longest}, the length of the longest code; "
                f"got {levels[-1]}"
            )
        return [[self._redacted(leaf, longest, longest - count) for leaf in leaves] for count in levels]

    def _redacted(self, code: str, longest: int, kept: int) -> str:
        if self.redaction == "right":
            return code[:kept].ljust(longest, self.character)
        return code[max(0, len(code) - kept) :].rjust(longest, self.character)


class Prefixes(HierarchyBuilder):
    """Codes cut to their first characters: DE212, DE21, DE2, DE. A shorter code stays whole."""

    prefixes: tuple[int, ...] = Field(
        min_length=1, description="how many characters stay at each level, falling: [4, 3, 2] for regions of NUTS"
    )

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NOMINAL, Kind.ORDINAL, Kind.BINARY)

    @model_validator(mode="after")
    def _nested(self) -> Self:
        if self.prefixes[-1] < 1 or any(longer <= shorter for longer, shorter in pairwise(self.prefixes)):
            got = ", ".join(map(str, self.prefixes))
            raise ValueError(f"prefixes must fall strictly, to 1 at least; got {got}")
        return self

    def grouped(self, variable: Variable, leaves: tuple[str, ...]) -> Levels:
        return [[leaf[:length] for leaf in leaves] for length in self.prefixes]


class Parents(HierarchyBuilder):
    """Codes in the groups that their parents are: DE21 in DE2, DE2 in DE. A branch of fewer levels repeats its leaf."""

    parents: dict[Label, Label] = Field(
        min_length=1, description="code: its parent. Codes that are no parent are the leaves, codes without one the top"
    )

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NOMINAL, Kind.ORDINAL, Kind.BINARY, Kind.INTEGER)

    def leaves(self, variable: Variable) -> tuple[str, ...]:
        return _leaves(self.parents)

    def grouped(self, variable: Variable, leaves: tuple[str, ...]) -> Levels:
        return _levels(variable.name, self.parents, leaves)


def hierarchy_of_parents(name: str, parents: Mapping[str, str]) -> Hierarchy:
    """The hierarchy of a classification. A branch with fewer levels than others repeats its leaf.

    parents : code: its parent, for every code that has one
    raises  : DocumentError for codes that run in a circle
    cost    : O(codes x levels)
    """
    leaves = _leaves(parents)
    return hierarchy_of(name, leaves, _levels(name, parents, leaves))


def _leaves(parents: Mapping[str, str]) -> tuple[str, ...]:
    above = set(parents.values())
    return tuple(code for code in parents if code not in above)


def _levels(name: str, parents: Mapping[str, str], leaves: tuple[str, ...]) -> Levels:
    paths: dict[str, list[str]] = {}
    for code in parents:
        path = [code]
        while (parent := parents.get(path[-1])) is not None:
            if len(path) > len(parents):
                raise DocumentError(f"hierarchy of '{name}': its codes run in a circle at '{code}'")
            path.append(parent)
        paths[code] = path
    depth = max(map(len, paths.values()))
    rows = [[leaf] * (depth - len(paths[leaf])) + paths[leaf] for leaf in leaves]
    return [list(groups) for groups in zip(*rows, strict=True)][1:]

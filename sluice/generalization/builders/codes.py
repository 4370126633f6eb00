"""Codes: redacted character by character, cut to their first characters, or grouped by their parents in a register.

Source: Prasser, Eicher, Spengler, Bild and Kuhn (2020), the masking-based hierarchies of ARX. A classification is
written as most offices keep it, one row a code.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from sluice.generalization.builders.builder import HierarchyBuilder, Levels, hierarchy_of
from sluice.ground.errors import DocumentError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Label, Variable
from sluice.ground.visible_text import Name


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

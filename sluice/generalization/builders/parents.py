"""Codes with their parents: a classification as most offices keep it, one row a code."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from sluice.generalization.builders.builder import HierarchyBuilder, Levels, hierarchy_of
from sluice.ground.errors import DocumentError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Label, Variable


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

"""Named categories that stay, while all others become one group, level by level.

Source: Prasser, Eicher, Spengler, Bild and Kuhn (2020), the priority-based hierarchies of ARX.
"""

from itertools import pairwise
from typing import ClassVar, Self

from pydantic import Field, model_validator

from sluice.generalization.builders.builder import HierarchyBuilder, Levels
from sluice.ground.errors import DocumentError
from sluice.ground.variables import Kind, Label, Variable


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

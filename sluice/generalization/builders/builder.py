"""What every builder of a hierarchy is: parameters that a contract writes, and the groups that follow from them.

A builder sees what a contract declares and no record, so that a hierarchy tells nothing about one.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from sluice.generalization.domain import declared_values
from sluice.ground.errors import DocumentError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.taxonomy import ROOT
from sluice.ground.variables import Kind, Variable

Groups = Sequence[str]
"""The group of each leaf at one level, in the order of the leaves."""

Levels = Sequence[Groups]
"""The groups of each level above the leaves, from the narrowest."""


class HierarchyBuilder(BaseModel, ABC):
    """The parameters of one builder; the first field names it in a contract."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kinds: ClassVar[tuple[Kind, ...]]
    """Of the variables whose values it groups."""

    @classmethod
    def key(cls) -> str:
        """The key by which a contract asks for this builder."""
        return next(iter(cls.model_fields))

    def build(self, variable: Variable) -> Hierarchy:
        """The hierarchy over the declared domain of a variable; above several widest groups stands '*'.

        raises : DocumentError for a kind that the builder does not treat, an undeclared domain, and what `grouped` says
        cost   : O(leaves x levels)
        """
        if variable.kind not in self.kinds:
            raise DocumentError(
                f"hierarchy by {self.key()} is for {', '.join(self.kinds)} variables; '{variable.name}' is "
                f"{variable.kind}"
            )
        leaves = self.leaves(variable)
        return hierarchy_of(variable.name, leaves, self.grouped(variable, leaves))

    def leaves(self, variable: Variable) -> tuple[str, ...]:
        """The values that are grouped. Raises DocumentError."""
        return declared_values(variable)

    @abstractmethod
    def grouped(self, variable: Variable, leaves: tuple[str, ...]) -> Levels:
        """The groups of the leaves. Raises DocumentError."""


def hierarchy_of(name: str, leaves: Sequence[str], levels: Levels) -> Hierarchy:
    """The hierarchy with these groups, and '*' above them where the widest level has several.

    raises : DocumentError for levels that are not nested
    """
    if not levels or len(set(levels[-1])) > 1:
        levels = [*levels, [ROOT] * len(leaves)]
    try:
        return Hierarchy(rows=dict(zip(leaves, zip(*levels, strict=True), strict=True)))
    except ValidationError as error:
        says = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise DocumentError(f"hierarchy of '{name}': {says}") from None

"""Codes whose characters are redacted one after the other.

Source: Prasser, Eicher, Spengler, Bild and Kuhn (2020), the masking-based hierarchies of ARX.
"""

from itertools import pairwise
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from sluice.generalization.builders.builder import HierarchyBuilder, Levels
from sluice.ground.errors import DocumentError
from sluice.ground.variables import Kind, Variable
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

"""Codes whose beginning is the wider class: NUTS regions, NACE activities, ICD diagnoses, postcodes."""

from itertools import pairwise
from typing import ClassVar, Self

from pydantic import Field, model_validator

from sluice.generalization.builders.builder import HierarchyBuilder, Levels
from sluice.ground.variables import Kind, Variable


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

"""Intervals of whole numbers between cut points that are written out, level by level."""

from itertools import pairwise
from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from sluice.generalization.builders.builder import HierarchyBuilder, Levels
from sluice.generalization.domain import whole_numbers
from sluice.generalization.interval_labels import labels
from sluice.ground.variables import Kind, Variable


class CutPoints(HierarchyBuilder):
    """Numbers in intervals of any width: a new one begins at each cut point."""

    cuts: tuple[Annotated[tuple[int, ...], Field(min_length=1)], ...] = Field(
        min_length=1,
        description="cut points of each level in rising order, from the narrowest level; a wider level "
        "has only cut points of the one before",
    )

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.INTEGER, Kind.ORDINAL, Kind.NOMINAL)

    @model_validator(mode="after")
    def _nested(self) -> Self:
        for level, cuts in enumerate(self.cuts, start=1):
            if any(low >= high for low, high in pairwise(cuts)):
                raise ValueError(f"cuts of level {level} must rise strictly; got {', '.join(map(str, cuts))}")
        for level, (narrow, wide) in enumerate(pairwise(self.cuts), start=2):
            if new := sorted(set(wide) - set(narrow)):
                raise ValueError(f"cuts of level {level} must be among those of level {level - 1}; got {new[0]}")
        return self

    def grouped(self, variable: Variable, leaves: tuple[str, ...]) -> Levels:
        numbers = whole_numbers(variable, leaves)
        levels = []
        for cuts in self.cuts:
            names = labels([-np.inf, *map(float, cuts), np.inf], whole=True)
            levels.append([names[place] for place in np.searchsorted(cuts, numbers, side="right")])
        return levels

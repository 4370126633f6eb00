"""Intervals of whole numbers: of widths that nest, with open ends, or between cut points that are written out.

Source: Prasser, Eicher, Spengler, Bild and Kuhn (2020), the interval-based hierarchies of ARX. Differs from them: every
interval begins at a multiple of its width, so that neither smallest nor largest value shows.
"""

from itertools import pairwise
from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from sluice.generalization.builders.builder import HierarchyBuilder, Levels, whole_numbers
from sluice.generalization.interval_labels import labels
from sluice.ground.variables import Kind, Variable


class Intervals(HierarchyBuilder):
    """Numbers in intervals of equal width, level by level: 5, 10 and 20 years."""

    intervals: tuple[int, ...] = Field(
        min_length=1,
        description="width of the intervals of each level, each a multiple of the one before",
    )
    origin: int = Field(default=0, description="a number at which an interval of every level begins")
    lowest: int | None = Field(default=None, description="all numbers below it are one group at every level")
    highest: int | None = Field(default=None, description="it and all numbers above it are one group at every level")

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.INTEGER, Kind.ORDINAL, Kind.NOMINAL)

    @model_validator(mode="after")
    def _nested(self) -> Self:
        if self.intervals[0] < 1 or any(wide <= narrow or wide % narrow for narrow, wide in pairwise(self.intervals)):
            got = ", ".join(map(str, self.intervals))
            raise ValueError(f"intervals must rise from at least 1, each a multiple of the one before; got {got}")
        if self.lowest is not None and self.highest is not None and self.lowest >= self.highest:
            raise ValueError(f"'lowest' must be below 'highest', {self.highest}; got {self.lowest}")
        return self

    def grouped(self, variable: Variable, leaves: tuple[str, ...]) -> Levels:
        numbers = whole_numbers(variable, leaves)
        first, last = int(numbers.min()), int(numbers.max())
        levels = []
        for width in self.intervals:
            begin = self.origin + (first - self.origin) // width * width
            cuts = [float(cut) for cut in range(begin, last + width + 1, width)]
            if self.lowest is not None:
                cuts = [-np.inf, float(self.lowest), *(cut for cut in cuts if cut > self.lowest)]
            if self.highest is not None:
                cuts = [*(cut for cut in cuts if cut < self.highest), float(self.highest), np.inf]
            names = labels(cuts, whole=True)
            places = np.searchsorted(np.array(cuts), numbers, side="right") - 1
            levels.append([names[place] for place in places])
        return levels


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

"""How far the published values of a table lie from the true ones, where a method changes values.

Reviewers weigh by it what is left for users; a figure must not lead back to a single cell. Who knows the method knows
of each changed cell a few values that it may have, and a figure is an equation between them: with few cells, one exact
figure can leave a single solution. So figures come as ranges of a ladder (1, 2, 5, 10, ...), which hold some three bits
each, and only over so many changed cells that these are few beside what is unknown of the cells.
"""

import math
from itertools import pairwise
from typing import Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from sluice.tabular.advice.table_utility import table_utility
from sluice.tabular.model.cells import Booleans, Cells, Integers

LEAST_CHANGED = 30  # changed cells, other than marginals: those follow from the others where a table is additive
_LADDER = (1, 2, 5)

Range = tuple[float, float]


class Alteration(BaseModel):
    """Ranges that hold the figures; None where too few cells were changed, or there is nothing to measure."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mean_absolute: Range | None = Field(default=None, description="of |published - true|, in units of the measure")
    mean_relative: Range | None = Field(default=None, description="of |published - true| / |true|, true values not 0")
    hellinger: Range | None = Field(default=None, description="distance of the two distributions, 0 (the same) to 1")

    @classmethod
    def of(cls, cells: Cells, visible: Booleans, value: Integers, minimum_cell: int) -> Self:
        """The distance of published values from the totals; see `table_utility` for the figures.

        visible      : shape (c,), the cells of the table that have a published value
        value        : shape (c,), what is published instead of the totals, in their units
        minimum_cell : of the policy; figures need at least so many changed cells, and LEAST_CHANGED
        """
        inner = np.ones(len(cells), dtype=bool)
        inner[cells.equations.indices[cells.equations.data > 0]] = False
        changed = int((visible & inner & (value != cells.total)).sum())
        if changed < max(LEAST_CHANGED, minimum_cell):
            return cls()
        found = table_utility(cells, np.where(visible, value.astype(np.float64), np.nan))
        return cls(
            mean_absolute=_range(found.mean_absolute * 10.0**-cells.decimals),
            mean_relative=_range(found.mean_relative),
            hellinger=_range(found.hellinger),
        )


def _range(figure: float) -> Range | None:
    """The steps of the ladder between which the figure lies."""
    if math.isnan(figure):
        return None
    if figure == 0:
        return (0.0, 0.0)
    power = math.floor(math.log10(figure))
    steps = [float(f"{step}e{exponent}") for exponent in (power - 1, power, power + 1) for step in _LADDER]
    return max(pair for pair in pairwise(steps) if pair[0] <= figure)

"""The cumulative curves of one disclosure measure: the masked file and the reference standard."""

import numpy as np
from pydantic import BaseModel, ConfigDict

from sluice.ground.arrays import FloatArray
from sluice.ground.verdict import Verdict


class Curve(BaseModel):
    """Share of the original records whose measure is at most `grid[i]`, for the masked file and for the reference.

    Each step of the grid holds at least the report's minimum number of records, so that no single record shows.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    measure: str  # distance, ambiguity or uncertainty
    grid: tuple[float, ...]
    masked: tuple[float, ...]
    reference: tuple[float, ...]
    statistic: float  # D+ = largest excess of `masked` over `reference`, over all values, not only the grid
    at: float  # the value of the measure where D+ is attained, rounded to the grid
    margin: float
    p_value: float
    verdict: Verdict
    binding: bool


def curve_grid(masked: FloatArray, reference: FloatArray, minimum_cell: int, steps: int = 100) -> tuple[float, ...]:
    """Values of the measure at which the two cumulative shares may be published.

    masked, reference : shapes (n,) and (m,), finite
    minimum_cell      : every step of the grid, the part above it included, holds so many records of either distribution
                        or none of it
    returns           : rising values of three significant digits, at most `steps` + 1; they end below the largest
                        measures where these are few. Empty when there are too few records to show anything
    """
    masked, reference = np.sort(masked), np.sort(reference)
    pooled = np.concatenate([masked, reference])
    if not len(pooled):
        return ()
    candidates = {float(f"{value:.3g}") for value in np.quantile(pooled, np.linspace(0, 1, steps + 1))}
    grid: list[float] = []
    reached = (0, 0)
    for value in sorted(candidates):
        at = (int(np.searchsorted(masked, value, "right")), int(np.searchsorted(reference, value, "right")))
        below = [now - before for now, before in zip(at, reached, strict=True)]
        above = [len(masked) - at[0], len(reference) - at[1]]
        # Nor may the value itself be that of the largest few: as many must reach it as may be published.
        reach = [len(values) - int(np.searchsorted(values, value, "left")) for values in (masked, reference)]
        if any(below) and all(count == 0 or count >= minimum_cell for count in below + above + reach):
            grid.append(value)
            reached = at
    return tuple(grid)


def shares_at(values: FloatArray, grid: tuple[float, ...]) -> tuple[float, ...]:
    """Share of the values that are at most each point of the grid."""
    ordered = np.sort(values)
    return tuple(float(share) for share in np.searchsorted(ordered, grid, "right") / max(1, len(ordered)))

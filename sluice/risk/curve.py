"""The cumulative curves of one disclosure measure: the masked file beside the reference standard."""

from pydantic import BaseModel, ConfigDict

from sluice.verdict import Verdict


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

"""What the report shows of the score: information loss, disclosure risk, and the figures of which it is the mean."""

from pydantic import BaseModel, ConfigDict, Field

from sluice.risk.linkage.linkage_score import FIGURES, Figure, Weighting


class ScoreView(BaseModel):
    """Score = (IL + DR) / 2 as shares, 1 for 100 %; higher is worse. Torra (2013) prints percent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    score: float
    information_loss: float = Field(description="IL: mean of IL1 to IL5 over all numbers")
    disclosure_risk: float = Field(description="DR: weighted mean of the parts")
    interval: tuple[float, float] = Field(description="of the disclosure risk, 95 %")
    weighting: Weighting
    parts: dict[Figure, float] = Field(description="rounded so that none tells of fewer records than the minimum cell")
    names: tuple[str, ...] = Field(description="variables that the intruder knows")
    linked: int = Field(description="original records that were linked")
    records: int = Field(description="those that there are")

    @property
    def weights(self) -> dict[Figure, float]:
        """How much each part counts in the disclosure risk."""
        return dict(FIGURES[self.weighting])

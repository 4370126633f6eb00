"""Disclosure risk and score: several linkage figures and the information loss drawn together into one number.

Source: Torra (2013), "Rank swapping: Example II", "Example VI" and "Average of 1-7 variables". The formulas
that Torra (2013) prints above its table of Census and EIA do not give the table's scores; the weighting "table" does,
for 19 of the 20 rows within 0.007 (Census with p = 16 is off by 0.05).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from sluice.ground.errors import DataError

Figure = Literal["rsld", "dld", "pld", "id"]
Weighting = Literal["generic", "specific", "with_specific", "table"]

# rsld: rank swapping linkage disclosure; dld, pld: distance-based and probabilistic; id: interval disclosure
FIGURES: Mapping[Weighting, Mapping[Figure, float]] = MappingProxyType(
    {
        "generic": {"dld": 1 / 4, "pld": 1 / 4, "id": 1 / 2},
        "specific": {"rsld": 1 / 2, "id": 1 / 2},
        "with_specific": {"rsld": 1 / 6, "dld": 1 / 6, "pld": 1 / 6, "id": 1 / 2},
        "table": {"rsld": 1 / 3, "dld": 1 / 6, "pld": 1 / 6, "id": 1 / 3},
    }
)


def disclosure_risk(weighting: Weighting = "generic", **figures: float) -> float:
    """DR: the weighted mean of the figures, all in percent or all as shares; higher is worse.

    weighting : generic: 0.25 DLD + 0.25 PLD + 0.5 ID; specific: 0.5 RS-RL + 0.5 ID, for an intruder who knows the
                method; with_specific: a sixth of RSLD, DLD and PLD each and half ID, as Torra (2013) prints it; table:
                a third of RSLD and ID and a sixth of DLD and PLD, which gives Torra's table
    figures   : rsld, dld, pld, id: those that the weighting takes, and no others
    raises    : DataError when a figure is missing, or one is given that has no weight
    """
    weights = FIGURES[weighting]
    if figures.keys() != weights.keys():
        raise DataError(
            f"disclosure_risk with weighting '{weighting}' takes {', '.join(weights)}; "
            f"got {', '.join(figures) or 'none'}."
        )
    return sum(weight * figures[name] for name, weight in weights.items())


def linkage_score(information_loss: float, disclosure_risk: float) -> float:
    """Score = (IL + DR) / 2, in the unit of both; lower is better."""
    return (information_loss + disclosure_risk) / 2


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

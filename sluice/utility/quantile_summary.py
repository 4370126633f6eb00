"""What the report shows of quantiles: how far they moved, never where they lie, for they are somebody's values."""

from math import isfinite, isnan

from pydantic import BaseModel, ConfigDict, Field

from sluice.utility.quantiles import PROBABILITIES, QuantileChange


class QuantileChanges(BaseModel):
    """One variable. None: it cannot be told, or has no bound."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    changes: tuple[float | None, ...] = Field(description="of each quantile, in interquartile ranges of the original")
    mean: float | None
    gini: tuple[float, float] | None = Field(default=None, description="of the original and of the masked file")
    ratio: tuple[float, float] | None = Field(default=None, description="S80/S20 of both")


class QuantilesView(BaseModel):
    """Quantiles, Gini and quintile share ratio of every released number."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    probabilities: tuple[float, ...] = PROBABILITIES
    variables: tuple[QuantileChanges, ...] = Field(description="what moved most first")


def quantiles_view(changes: dict[str, QuantileChange]) -> QuantilesView | None:
    """The changes by variable, rounded to 3 decimals; None without any."""
    known = {name: change for name, change in changes.items() if not isnan(change.mean)}
    if not known:
        return None
    order = sorted(known, key=lambda name: -known[name].mean)
    return QuantilesView(
        variables=tuple(
            QuantileChanges(
                name=name,
                changes=tuple(_told(float(each)) for each in known[name].quantiles),
                mean=_told(known[name].mean),
                gini=_both(known[name].gini),
                ratio=_both(known[name].ratio),
            )
            for name in order
        )
    )


def _told(value: float) -> float | None:
    return round(value, 3) if isfinite(value) else None


def _both(pair: tuple[float, float]) -> tuple[float, float] | None:
    return (round(pair[0], 3), round(pair[1], 3)) if isfinite(pair[0]) and isfinite(pair[1]) else None

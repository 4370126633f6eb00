"""What the report shows of correlations: matrices of both files for a heat map, and the pairs that moved most."""

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from sluice.ground.arrays import BoolArray, FloatArray
from sluice.utility.correlation_differences import CorrelationDifferences, Kind

WORST = 10


class MovedPair(BaseModel):
    """What goes together in the original and in the masked file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    variables: tuple[str, str]
    original: float
    masked: float


class CorrelationMatrices(BaseModel):
    """One measure; figures are rounded to 3 decimals, and None where they are unknown or from too few records."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    measure: Kind
    names: tuple[str, ...] = Field(description="in the order of rows and columns")
    original: tuple[tuple[float | None, ...], ...]
    masked: tuple[tuple[float | None, ...], ...]
    mean: float = Field(description="mean absolute difference over all pairs that are told; higher is worse")
    worst: tuple[MovedPair, ...] = ()
    records: tuple[int, int] | None = Field(default=None, description="drawn of each file; None: all")
    margin: float | None = Field(default=None, description="half of a 95 % interval of each figure, where drawn")


class CorrelationsView(BaseModel):
    """Pearson's r and Kendall's tau-b of numbers, and Cramer's V of all variables on common bins."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    matrices: tuple[CorrelationMatrices, ...]


def correlation_matrices(found: CorrelationDifferences, enough: BoolArray | None = None) -> CorrelationMatrices | None:
    """The matrices of one measure; None without any pair.

    enough : (d, d), which pairs have as many records in both files as the report may tell of; None: all
    """
    if found.mean != found.mean:
        return None
    told = np.abs(found.original - found.masked)
    if enough is not None:
        told = np.where(enough, told, np.nan)
    if np.isnan(told).all():
        return None
    kept = {name: place for place, name in enumerate(found.names)}
    worst = [
        MovedPair(variables=(one, other), original=round(before, 3), masked=round(after, 3))
        for one, other, before, after in found.worst(len(found.names) ** 2)
        if enough is None or enough[kept[one], kept[other]]
    ]
    return CorrelationMatrices(
        measure=found.kind,
        names=found.names,
        original=_rows(found.original, enough),
        masked=_rows(found.masked, enough),
        mean=round(float(np.nanmean(told)), 4),
        worst=tuple(worst[:WORST]),
        records=found.records,
        margin=found.margin,
    )


def _rows(figures: FloatArray, enough: BoolArray | None) -> tuple[tuple[float | None, ...], ...]:
    def told(i: int, j: int) -> float | None:
        value = float(figures[i, j])
        return None if value != value or (enough is not None and not enough[i, j]) else round(value, 3)

    return tuple(tuple(told(i, j) for j in range(figures.shape[1])) for i in range(len(figures)))

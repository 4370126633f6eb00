"""Clusterings view: how far the clusters of both files agree, as the report shows it."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from sluice.utility.analyses.clustering_agreement import IndexLoss


class ComparedIndex(BaseModel):
    """One index of the original with itself from another start, and with the masked file; the loss and its interval."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    index: str
    itself: float
    masked: float
    loss: float
    low: float
    high: float


class ComparedClustering(BaseModel):
    """One clustering."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    method: str
    clusters: int
    variables: tuple[str, ...]
    left_out: tuple[str, ...] = Field(default=(), description="variables that the masked file lacks")
    says: str = Field(default="", description="why there are no figures; empty: there are")
    indices: tuple[ComparedIndex, ...] = ()


def compared_indices(losses: Sequence[IndexLoss]) -> tuple[ComparedIndex, ...]:
    """The indices to three digits."""
    return tuple(
        ComparedIndex(
            index=each.index,
            itself=round(each.itself, 3),
            masked=round(each.masked, 3),
            loss=round(each.loss, 3),
            low=round(each.low, 3),
            high=round(each.high, 3),
        )
        for each in losses
    )

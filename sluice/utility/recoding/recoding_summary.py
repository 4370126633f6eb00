"""What the report shows of recoding: what each variable lost by groups, suppression and removal, and what it means."""

from collections.abc import Sequence
from math import isnan

from pydantic import BaseModel, ConfigDict, Field

from sluice.utility.few_changes import coarse_share
from sluice.utility.recoding.cell_losses import cell_losses
from sluice.utility.recoding.released_groups import ReleasedGroups


class RecodedVariable(BaseModel):
    """Losses of one variable, 0 for none to 1 for all; higher is worse. None: it cannot be told."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    removed: bool
    certainty: float = Field(description="normalised certainty penalty (NCP, ILoss)")
    distortion: float = Field(description="share of the cells that are not the value itself (minimal distortion)")
    entropy: float = Field(description="share of the bits that groups leave open (non-uniform entropy)")
    precision: float | None = Field(default=None, description="level by the height of the hierarchy, if there is one")


class Misclassified(BaseModel):
    """Records whose value is not the most frequent one of their class, before and after masking."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    variable: str
    before: float | None
    after: float


class Queries(BaseModel):
    """Relative error of random range queries of counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    asked: int
    dimensions: int
    median: float
    interval: tuple[float, float] = Field(description="95 %, for the median of all such queries")
    mean: float


class RecodingView(BaseModel):
    """Losses by recoding, suppression and removal against the unrecoded original."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    certainty: float = Field(description="mean NCP of all variables")
    variables: tuple[RecodedVariable, ...] = Field(description="what lost most first")
    keys: tuple[str, ...] = Field(default=(), description="released quasi-identifiers, by which records are alike")
    classes: int | None = None
    average_class: float | None = Field(default=None, description="records of a class on average")
    average_class_before: float | None = Field(default=None, description="the same of the original, by the same keys")
    discernibility: float | None = Field(default=None, description="share of all pairs of records that are alike")
    misclassified: tuple[Misclassified, ...] = ()
    queries: Queries | None = Field(default=None, description="over all variables; removed ones answer nothing")
    queries_released: Queries | None = Field(default=None, description="the same over released variables alone")


def recoded_variables(
    variables: Sequence[ReleasedGroups], records: int, minimum_cell: int
) -> tuple[RecodedVariable, ...]:
    """The losses of each variable, the largest certainty penalty first.

    records      : of the masked file
    minimum_cell : what would tell of the cells of fewer records is rounded to that many
    """
    found = []
    for each in variables:
        losses = cell_losses(each)
        if isnan(losses.certainty):
            continue
        certainty, distortion, entropy = (coarse_share(value, records, minimum_cell) for value in losses[:3])
        precision = None if isnan(losses.precision) else coarse_share(losses.precision, records, minimum_cell)
        found.append(
            RecodedVariable(
                name=each.name,
                removed=each.removed,
                certainty=certainty,
                distortion=distortion,
                entropy=entropy,
                precision=precision,
            )
        )
    return tuple(sorted(found, key=lambda variable: -variable.certainty))

"""What the report shows of subgroups: those whose own tables lost most."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from sluice.utility.coarse_share import coarse_share
from sluice.utility.worst_subgroup import SubgroupLoss

WORST = 10


class Subgroup(BaseModel):
    """The records of one declared category."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    variable: str
    category: str
    loss: float = Field(description="of its distributions, as a share of its records; 1: nobody of it is left")


class SubgroupsView(BaseModel):
    """Losses of subgroups, 0 to 1; higher is worse."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    compared: int = Field(description="subgroups with enough records")
    least: int = Field(description="records that are enough")
    median: float
    worst: tuple[Subgroup, ...]


def subgroups_view(found: Sequence[SubgroupLoss], least: int, minimum_cell: int) -> SubgroupsView | None:
    """The worst subgroups; None where none has enough records.

    found        : the largest loss first
    least        : records of the smallest subgroup that was compared
    minimum_cell : what would tell of a change of fewer records is rounded to that many
    """
    if not found:
        return None
    shown = [
        Subgroup(
            variable=each.variable, category=each.category, loss=coarse_share(each.loss, each.records, minimum_cell)
        )
        for each in found
    ]
    # By what is told of them: in their own order equal figures would tell which loss is the larger one.
    shown.sort(key=lambda each: (-each.loss, each.variable, each.category))
    middle = sorted(each.loss for each in shown)[len(shown) // 2]
    return SubgroupsView(compared=len(found), least=least, median=middle, worst=tuple(shown[:WORST]))

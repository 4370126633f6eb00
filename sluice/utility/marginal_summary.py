"""What the report shows of marginals: the mean loss, the variables and tables that lost most, and a familiar scale."""

from collections.abc import Callable, Collection

from pydantic import BaseModel, ConfigDict, Field

from sluice.utility.coarse_share import coarse_share
from sluice.utility.marginals import MarginalLosses
from sluice.utility.subsample_equivalent import SubsampleEquivalent

WORST = 10


class TableLoss(BaseModel):
    """The loss of the table of these variables: the share of the records that would have to change cell."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    variables: tuple[str, ...]
    loss: float


class MarginalSummary(BaseModel):
    """All tables of one size. Losses are shares, 0 to 1, NaN never; higher is worse."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int = Field(description="variables in a table")
    counted: int = Field(description="tables that were counted")
    of: int = Field(description="tables that there are; where more than were counted, those were drawn")
    mean: float = Field(description="mean loss of a table, tables of removed variables included")
    interval: tuple[float, float] | None = Field(default=None, description="95 %, where tables were drawn")
    mean_released: float | None = Field(default=None, description="the same of tables of released variables alone")
    removed: tuple[str, ...] = Field(default=(), description="variables that were not released")
    by_variable: dict[str, float] = Field(description="mean loss of a variable's tables with released ones")
    worst: tuple[TableLoss, ...] = Field(description="of released variables, the largest loss first")
    equivalent: SubsampleEquivalent | None = None
    equivalent_tables: int = Field(default=0, description="tables by which the subsample equivalent was found")


class MarginalsView(BaseModel):
    """Marginals of two and of three variables."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pairs: MarginalSummary
    triples: MarginalSummary | None = None


def marginal_summary(
    losses: MarginalLosses,
    released: Collection[str],
    records: int,
    minimum_cell: int,
    equivalent: SubsampleEquivalent | None = None,
    equivalent_tables: int = 0,
) -> MarginalSummary | None:
    """The figures of one size of tables; None where there are none.

    released     : names of the released variables
    records      : of the smaller of the two files
    minimum_cell : what would tell of a change of fewer records is rounded to that many
    """
    if not len(losses.losses) or losses.mean != losses.mean:
        return None
    among = losses.among([name for name in losses.names if name in released])

    def coarse(value: float) -> float:
        return coarse_share(value, records, minimum_cell)

    return MarginalSummary(
        size=losses.size,
        counted=len(losses.losses),
        of=losses.of,
        mean=losses.mean,
        interval=losses.interval,
        mean_released=None if among.mean != among.mean else among.mean,
        removed=tuple(name for name in losses.names if name not in released),
        by_variable={name: coarse(loss) for name, loss in among.by_variable.items() if loss == loss},
        worst=_worst(among, coarse),
        equivalent=equivalent,
        equivalent_tables=equivalent_tables,
    )


def _worst(among: MarginalLosses, coarse: Callable[[float], float]) -> tuple[TableLoss, ...]:
    """By what is told of them: in their own order equal figures would tell which loss is the larger one."""
    told = [TableLoss(variables=names, loss=coarse(loss)) for names, loss in among.worst(len(among.losses))]
    return tuple(sorted(told, key=lambda each: (-each.loss, each.variables))[:WORST])

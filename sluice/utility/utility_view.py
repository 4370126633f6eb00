"""What the report shows of utility beside the findings: aggregates, each safe to show by itself."""

from collections.abc import Mapping
from math import isfinite

from pydantic import BaseModel, ConfigDict, Field

from sluice.ground.document_parts import FrozenModel
from sluice.risk.linkage.linkage_score import ScoreView
from sluice.utility.analyses.clusterings import ComparedClustering
from sluice.utility.analyses.impossible_records import BrokenRules
from sluice.utility.analyses.models import ComparedModel
from sluice.utility.analyses.predictions import ComparedPrediction
from sluice.utility.analyses.query_comparison import ComparedQuery
from sluice.utility.component_plane import ComponentPlane
from sluice.utility.continuous.matrix_comparisons import ContinuousView
from sluice.utility.correlation_summary import CorrelationsView
from sluice.utility.marginal_summary import MarginalsView, TableLoss
from sluice.utility.measured import Measured, written_percent
from sluice.utility.propensity_summary import PropensityView, TablePropensities
from sluice.utility.quantiles import QuantilesView
from sluice.utility.recoding.recoding_measures import RecodingView
from sluice.utility.subgroup_tables import SubgroupsView
from sluice.utility.subgroups import ChangedSubgroups


class CategoryLoss(BaseModel):
    """One variable; None where it could not be computed. A share below that of the minimum cell is told as 0."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    released: bool
    distance: float | None = Field(description="mean distance of the released category from the original, 0 to 1")
    entropy: float | None = Field(description="bits of the original variable")
    ebil: float | None = Field(description="bits that a released value leaves open, on average over the records")
    pril: float | None = Field(description="bits that it would take to tell a record's own category, on average")
    matrix: bool = Field(
        description="whether by known probabilities, of PRAM or released in place of labels; else by counting"
    )


class CategoricalView(BaseModel):
    """The variables in the original's order, and the tables of one or two of them together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    variables: tuple[CategoryLoss, ...]
    ctbil: float | None = Field(description="mean share of the records in another cell of a table of 1 to K variables")
    order: int = Field(description="K")
    tables: int
    counted: int


class UnweightedFigure(FrozenModel):
    """One measure by the weights of the records, and of the records themselves."""

    name: str
    weighted: float
    unweighted: float
    percent: bool = Field(description="whether both are shares of 1")


class UtilityView(FrozenModel):
    """One part for each family of measures; None where the file gave no occasion for it.

    Every part is made with the report's minimum cell: it holds no count of fewer records, nor one that tells of them.
    """

    impossible_records: BrokenRules | None = None
    marginals: MarginalsView | None = None
    components: ComponentPlane | None = None
    table_propensity: TablePropensities | None = None
    propensity: PropensityView | None = None
    continuous: ContinuousView | None = None
    categorical: CategoricalView | None = None
    correlations: CorrelationsView | None = None
    models: tuple[ComparedModel, ...] | None = None
    tables: tuple[TableLoss, ...] | None = None
    recoding: RecodingView | None = None
    score: ScoreView | None = None
    quantiles: QuantilesView | None = None
    subgroups: SubgroupsView | None = None
    subgroup_associations: ChangedSubgroups | None = None
    subgroup_quantiles: ChangedSubgroups | None = None
    subgroup_propensity: ChangedSubgroups | None = None
    predictions: tuple[ComparedPrediction, ...] | None = None
    clusterings: tuple[ComparedClustering, ...] | None = None
    queries: tuple[ComparedQuery, ...] | None = None
    unweighted: tuple[UnweightedFigure, ...] | None = None


def unweighted_figures(
    weighted: Mapping[str, Measured], unweighted: Mapping[str, Measured]
) -> tuple[UnweightedFigure, ...] | None:
    """Those of which both figures may be told, in three digits; None without any."""
    both = ((name, weighted[name], each) for name, each in unweighted.items())
    return (
        tuple(
            UnweightedFigure(
                name=name,
                weighted=float(f"{one.value:.3g}"),
                unweighted=float(f"{other.value:.3g}"),
                percent=one.written is written_percent,
            )
            for name, one, other in both
            if not (one.tells_of_few or other.tells_of_few) and isfinite(one.value) and isfinite(other.value)
        )
        or None
    )

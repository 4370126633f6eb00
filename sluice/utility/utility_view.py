"""What the report shows of utility beside the findings: aggregates, each safe to show by itself."""

from pydantic import BaseModel, ConfigDict

from sluice.risk.linkage.score_view import ScoreView
from sluice.utility.analyses.clusterings_view import ComparedClustering
from sluice.utility.analyses.impossible_records import BrokenRules
from sluice.utility.analyses.models_view import ComparedModel
from sluice.utility.analyses.predictions_view import ComparedPrediction
from sluice.utility.analyses.query_comparison import ComparedQuery
from sluice.utility.categorical.categorical_view import CategoricalView
from sluice.utility.changed_subgroups import ChangedSubgroups
from sluice.utility.component_plane import ComponentPlane
from sluice.utility.continuous.continuous_view import ContinuousView
from sluice.utility.correlation_summary import CorrelationsView
from sluice.utility.marginal_summary import MarginalsView
from sluice.utility.propensity_summary import PropensityView, TablePropensities
from sluice.utility.quantile_summary import QuantilesView
from sluice.utility.recoding.recoding_summary import RecodingView
from sluice.utility.subgroup_summary import SubgroupsView


class UtilityView(BaseModel):
    """One part for each family of measures; None where the file gave no occasion for it.

    Every part is made with the report's minimum cell: it holds no count of fewer records, nor one that tells of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    impossible_records: BrokenRules | None = None
    marginals: MarginalsView | None = None
    components: ComponentPlane | None = None
    table_propensity: TablePropensities | None = None
    propensity: PropensityView | None = None
    continuous: ContinuousView | None = None
    categorical: CategoricalView | None = None
    correlations: CorrelationsView | None = None
    models: tuple[ComparedModel, ...] | None = None
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

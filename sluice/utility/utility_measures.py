"""Catalogue: the measures of utility by family, in the order in which they are computed.

What a measure is stands beside its engine, in its declaration. A new one is declared there, and its family named here.
"""

from collections.abc import Iterable, Sequence

from sluice.utility.analyses.impossible_share import IMPOSSIBLE
from sluice.utility.categorical.category_measures import CATEGORIES
from sluice.utility.changed_cells import CELLS
from sluice.utility.component_plane import COMPONENTS
from sluice.utility.continuous.number_measures import ALL_NUMBERS, MOMENTS
from sluice.utility.correlation_summary import CORRELATIONS
from sluice.utility.entropy import BITS
from sluice.utility.item_loss import SETS
from sluice.utility.marginal_summary import TABLES
from sluice.utility.propensity_summary import OF_RECORDS
from sluice.utility.quantiles import OF_ORDER
from sluice.utility.recoding.recoding_measures import RECODING
from sluice.utility.subgroup_propensity import SUBGROUP_PROPENSITY
from sluice.utility.subgroup_quantiles import SUBGROUP_QUANTILES
from sluice.utility.subgroup_tables import SUBGROUP_CRAMERS_V, WORST_SUBGROUP
from sluice.utility.utility_measure import Family, Measure

SUBGROUPS = (WORST_SUBGROUP, SUBGROUP_CRAMERS_V, SUBGROUP_QUANTILES, SUBGROUP_PROPENSITY)
FAMILIES: Sequence[Family] = (
    MOMENTS,
    CELLS,
    BITS,
    SETS,
    IMPOSSIBLE,
    TABLES,
    OF_RECORDS,
    CORRELATIONS,
    RECODING,
    OF_ORDER,
    *(each.family for each in SUBGROUPS),
    COMPONENTS,
    ALL_NUMBERS,
    CATEGORIES,
)

_ORDER = (
    *("mean", "variance", "correlation", "rank_correlation", "kendall", "cramers_v", "il1s"),
    *("changed_share", "suppressed_share", "entropy", "apil", "eigenvalues", "mean_variations"),
    *("category_distance", "ebil", "generalization", "query_error", "quantiles", "gini"),
    *("worst_subgroup", "subgroup_cramers_v", "subgroup_quantiles", "subgroup_propensity"),
    *("pair_marginals", "triple_marginals", "pair_propensity", "propensity"),
    *("item_penalty", "items_left_out", "top_items", "pair_counts", "score", "impossible_records"),
)


def measures(families: Iterable[Family]) -> list[Measure]:
    """In the order of a policy's fields and of its findings; those that this order does not know yet come last."""
    found = [measure for family in families for measure in family.measures]
    place = {name: at for at, name in enumerate(_ORDER)}
    return sorted(found, key=lambda measure: place.get(measure.name, len(place)))


def measures_table(families: Iterable[Family]) -> str:
    """The list of docs/utility.md, in Markdown."""
    rows = [f"| `{measure.name}` | {measure.description} |" for measure in measures(families)]
    return "\n".join(("| measure | what it is |", "|---|---|", *rows)) + "\n"

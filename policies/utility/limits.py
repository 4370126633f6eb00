"""Utility limits: how much a masked file may have lost, and what it did lose."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from pydantic import Field

from policies.utility.asked import judge_analyses
from policies.utility.categorical import categorical
from policies.utility.cells import cells
from policies.utility.components import components
from policies.utility.continuous import continuous
from policies.utility.correlations import correlations
from policies.utility.impossible import impossible
from policies.utility.items import items
from policies.utility.marginals import marginals
from policies.utility.moments import moments
from policies.utility.propensity import propensity
from policies.utility.quantiles import quantiles
from policies.utility.recoding import recoding
from policies.utility.score import score
from policies.utility.subgroup_associations import associations
from policies.utility.subgroup_propensity import propensity_of_subgroups
from policies.utility.subgroup_quantiles import quantiles_of_subgroups
from policies.utility.subgroups import subgroups
from sluice.ground.verdict import Finding
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.comparison import Comparison
from sluice.utility.measured import Found, Limit, ShareLimit
from sluice.utility.utility_view import UtilityView

_WHERE_ASKED = ("subgroup_propensity",)  # they take long
_WHERE_THERE_ARE_ANY = ("item_penalty", "items_left_out", "top_items", "pair_counts", "impossible_records")


FAMILIES: Mapping[Callable[[Comparison], Found], tuple[str, ...]] = {  # of measures, by what each finds of a file
    moments: ("mean", "variance", "correlation", "rank_correlation", "il1s"),
    cells: ("changed_share", "suppressed_share", "entropy"),
    items: ("item_penalty", "items_left_out", "top_items", "pair_counts"),
    impossible: ("impossible_records",),
    marginals: ("pair_marginals", "triple_marginals", "pair_propensity"),
    propensity: ("propensity",),
    correlations: ("kendall", "cramers_v"),
    recoding: ("generalization", "query_error"),
    quantiles: ("quantiles", "gini"),
    subgroups: ("worst_subgroup",),
    associations: ("subgroup_cramers_v",),
    quantiles_of_subgroups: ("subgroup_quantiles",),
    propensity_of_subgroups: ("subgroup_propensity",),
    components: (),
    continuous: ("apil", "eigenvalues", "mean_variations"),
    categorical: ("category_distance", "ebil"),
}


class Utility(NamedTuple):
    """What a masked file is still good for: what decides, and what the report shows beside it."""

    findings: tuple[Finding, ...]
    view: UtilityView


def _binds(limit: object) -> bool:
    return isinstance(limit, Limit) and limit.binding


class UtilityLimits(Analyses):
    """A limit for any of the measures, each reported with a limit or without, and analyses with limits of their own."""

    mean: Limit | None = Field(default=None, description="median shift of a mean, in standard deviations")
    variance: Limit | None = Field(default=None, description="median relative change of a variance")
    correlation: Limit | None = Field(default=None, description="median change of a correlation")
    rank_correlation: Limit | None = Field(default=None, description="median change of a rank correlation")
    kendall: Limit | None = Field(default=None, description="mean change of Kendall's tau-b of two numbers")
    cramers_v: Limit | None = Field(default=None, description="mean change of Cramer's V of two variables, in bins")
    il1s: Limit | None = Field(default=None, description="mean change of a value, in sqrt(2) standard deviations")
    changed_share: ShareLimit | None = Field(default=None, description="changed cells of the variable changed most")
    suppressed_share: ShareLimit | None = Field(
        default=None, description="suppressed cells of the variable with most of them"
    )
    entropy: ShareLimit | None = Field(default=None, description="share of its bits that a variable lost at most")
    apil: ShareLimit | None = Field(
        default=None, description="mean probability that a moment or quantile is no sample's of the original (aPIL)"
    )
    eigenvalues: ShareLimit | None = Field(
        default=None,
        description="share of the numbers' variance that is no longer on the principal component that held it",
    )
    mean_variations: Limit | None = Field(
        default=None, description="mean relative change of values, moments and correlations (IL1 to IL5), 1 for 100 %"
    )
    category_distance: ShareLimit | None = Field(
        default=None,
        description="mean distance of a released category from the original one, 0 to 1, over all variables",
    )
    ebil: ShareLimit | None = Field(
        default=None,
        description="share of a variable's bits that its released value leaves open, mean of all variables",
    )
    generalization: ShareLimit | None = Field(
        default=None, description="values that groups, suppression and removal leave in doubt (NCP), mean of variables"
    )
    query_error: Limit | None = Field(
        default=None, description="median relative error of counts over random ranges of three variables"
    )
    quantiles: Limit | None = Field(
        default=None, description="mean change of the quantiles of the number that moved most, in interquartile ranges"
    )
    gini: Limit | None = Field(default=None, description="largest change of a Gini coefficient")
    worst_subgroup: ShareLimit | None = Field(
        default=None, description="records in another bin of the distributions of the worst declared category"
    )
    subgroup_cramers_v: Limit | None = Field(
        default=None, description="mean change of Cramer's V of two variables within the worst declared category"
    )
    subgroup_quantiles: Limit | None = Field(
        default=None,
        description="mean change of numbers' quantiles within the worst declared category, in interquartile ranges",
    )
    subgroup_propensity: Limit | None = Field(
        default=None,
        description="S_pMSE of a logistic regression within the worst declared category, 1 is chance; measured where it"
        " has a limit",
    )
    pair_marginals: ShareLimit | None = Field(
        default=None, description="records in another cell of the table of two variables, on average over all pairs"
    )
    triple_marginals: ShareLimit | None = Field(
        default=None, description="records in another cell of the table of three variables, on average over all triples"
    )
    pair_propensity: Limit | None = Field(
        default=None, description="S_pMSE of the table of two released variables, on average; 1 is chance"
    )
    propensity: Limit | None = Field(
        default=None, description="S_pMSE of a logistic regression on all released variables; 1 is chance"
    )
    item_penalty: ShareLimit | None = Field(
        default=None, description="of sets of items: mean share of all items that a released item stands for (NCP)"
    )
    items_left_out: ShareLimit | None = Field(default=None, description="of sets of items: occurrences left out")
    top_items: ShareLimit | None = Field(
        default=None, description="of sets of items: the 100 most frequent items and pairs that no longer are (tKd)"
    )
    pair_counts: Limit | None = Field(
        default=None, description="of sets of items: median relative error of the counts of pairs, 0 to 2"
    )
    score: Limit | None = Field(
        default=None,
        description="mean of information loss and disclosure risk, 1 for 100 %; measured where it has a limit",
    )
    impossible_records: ShareLimit | None = Field(
        default=None, description="share of records that break a rule across fields which their originals keep"
    )

    def find(self, files: Comparison) -> Utility:
        """One finding for each measure, in the order of the fields, stage "utility".

        A measure within its limit passes, one beyond it fails, and one that could not be computed is `UNKNOWN`.
        Without a limit it is reported and does not decide; nor does one that the file gives no occasion for: of fewer
        than two numbers there is no correlation. Those of sets of items are for files that have any, and that of
        impossible records for data whose contract has rules across fields. The score and S_pMSE within subgroups, which
        take long, are measured where they have a limit. Then the findings on each analysis that the policy or the
        definition asks for.
        """
        families = [
            family
            for family, names in FAMILIES.items()
            if not {*names} & {*_WHERE_ASKED} or any(getattr(self, name) for name in names)
        ]
        return self._found(files, families, self.score is not None)

    def decide(self, files: Comparison, besides: Collection[str] = ()) -> tuple[Finding, ...]:
        """The findings that may decide, and those on measures `besides` by their names; the families of all others are
        not computed. For whoever judges many files."""
        wanted = {name for name in type(self).model_fields if (limit := getattr(self, name)) and _binds(limit)}
        wanted |= set(besides)
        families = [family for family, names in FAMILIES.items() if wanted & set(names)]
        return self._found(files, families, "score" in wanted and self.score is not None).findings

    def _found(self, files: Comparison, families: Sequence[Callable[[Comparison], Found]], with_score: bool) -> Utility:
        found = [family(files) for family in families]
        if with_score:
            numbers = next((each for each in found if "mean_variations" in each.measured), None) or continuous(files)
            found.append(score(files, numbers.measured["mean_variations"].value))
        measured = {name: measure for family in found for name, measure in family.measured.items()}
        limits = {name: getattr(self, name) for name in type(self).model_fields if name in measured}
        reported = [
            name for name in limits if measured[name].applicable or name not in _WHERE_THERE_ARE_ANY or limits[name]
        ]
        asked = judge_analyses(self, files)
        parts = {name: part for view in (*(family.view for family in found), asked.view) for name, part in view.items()}
        findings = [measured[name].finding(name, limits[name]) for name in reported]
        return Utility((*findings, *asked.findings), UtilityView.model_validate(parts))

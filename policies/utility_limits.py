"""Utility limits: how much a masked file may have lost, and what it did lose.

The score, one of them, is the mean of information loss and disclosure risk, by which masking methods are compared.
Source: Torra (2013), "Rank swapping: Example II" and "Average of 1-7 variables": DR = RSLD/3 + DLD/6 + PLD/6 + ID/3
gives the scores of Torra's table. Without rank swapping in the plan nobody knows a window, and DR is that of the
example: DLD/4 + PLD/4 + ID/2. IL is the mean of IL1 to IL5, by which the table's losses on EIA are reproduced.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import pandas as pd
from pydantic import Field, create_model

from policies.rules.ranked_rules import LinkageScore, MeasuredRisk
from sluice.ground.declaration import Declaration
from sluice.ground.sentence import Sentence
from sluice.ground.verdict import Finding
from sluice.masking.plan import ByStratum
from sluice.masking.swapping.rank_swapping import RankSwapping
from sluice.risk.linkage.linkage_score import Figure as Part
from sluice.risk.linkage.linkage_score import ScoreView, disclosure_risk, linkage_score
from sluice.utility.analyses.analysis_findings import judge_analyses
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.analyses.query_comparison import QueryAnswer
from sluice.utility.analyses.turned_coefficients import TURNED_COEFFICIENTS
from sluice.utility.cell_changes import coarse_share
from sluice.utility.comparison import Comparison
from sluice.utility.continuous.number_measures import loss_of_numbers
from sluice.utility.measured import Found, Limit, written_percent
from sluice.utility.utility_measure import Family, Figure, Measure, Occasion
from sluice.utility.utility_measures import FAMILIES as OF_FILES
from sluice.utility.utility_measures import measures
from sluice.utility.utility_view import UnweightedFigure, UtilityView, unweighted_figures

_NOT_KNOWN = Sentence("score.not_known", "The score is not known: {why}")

_LINKED = 1_000  # original records; the interval of their shares is at most 6.2 points wide
_WORDS: Mapping[Part, str] = {
    "rsld": "{rsld:percent} linked by the window of rank swapping",
    "dld": "{dld:percent} by distance",
    "pld": "{pld:percent} by agreement",
    "id": "{id:percent} of the values in a narrow interval",
}
_SCORE: Mapping[tuple[str, ...], Sentence] = {
    parts: Sentence(
        f"score.{'_'.join(parts)}",
        "The score is {score:percent}: an information loss of {loss:percent} and a disclosure risk of {risk:percent} ("
        + ", ".join(_WORDS[part] for part in parts)
        + "; {records:,} of {of:,} records linked)",
    )
    for parts in (("id", "dld", "pld"), ("id", "rsld", "dld", "pld"))
}


SCORE = Measure(
    "score",
    "mean of information loss and disclosure risk, 1 for 100 %; measured where it has a limit",
    "The score",
    "Loss and risk together are too high: see in the report which of the parts weighs most, and mask more gently "
    "where it is the loss, over longer distances where it is linkage.",
    written=written_percent,
    where_asked=True,
)


def score(files: Comparison, loss: float) -> Found:
    """The score of a file whose rows are paired, with its parts.

    loss : IL, the mean of IL1 to IL5, 1 for 100 %; NaN when not known
    """
    if not files.paired or len(files.original) != len(files.masked):
        return _without(files, "nobody said whose each row is")
    if not isfinite(loss):
        return _without(files, "the information loss of the numbers is not known")
    window = _window(files)
    rule = LinkageScore(limit=1, weighting="table" if window else "generic", window=window, records=_LINKED)
    found = rule.measure(files)
    if found is None:
        why = "no quasi-identifier or sensitive variable was released as a number or in ordered categories"
        return _without(files, why)
    view = _view(found, rule, loss, files)
    told = {"loss": loss, "score": view.score, "risk": view.disclosure_risk, "of": view.records, "records": view.linked}
    says = _SCORE[tuple(view.parts)](**told, **view.parts)
    few = files.of_few & {*files.released_numbers.names}
    occasion = Occasion(view.records, (), (), few=few)
    measured = SCORE.measured(files, occasion, Figure(view.score, says, view.linked, ", ".join(found.names)))
    return Found({"score": measured}, {} if few else {"score": view})


def _without(files: Comparison, why: str) -> Found:
    says = _NOT_KNOWN(why=why)
    return Found({"score": SCORE.measured(files, Occasion(0, says, says), Figure(nan, says))})


def _view(found: MeasuredRisk, rule: LinkageScore, loss: float, files: Comparison) -> ScoreView:
    """Made of the rounded parts, so that their sum tells no more than they do."""
    parts: dict[Part, float] = {
        name: coarse_share(part.value, part.completed, files.minimum_cell) for name, part in found.parts.items()
    }
    risk = disclosure_risk(rule.weighting, **parts)
    off = risk - found.risk.value
    low, high = found.risk.interval or (found.risk.value, found.risk.value)
    return ScoreView(
        score=linkage_score(loss, risk),
        information_loss=loss,
        disclosure_risk=risk,
        interval=(max(0.0, low + off), min(1.0, high + off)),
        weighting=rule.weighting,
        parts=parts,
        names=found.names,
        linked=min(part.completed for name, part in found.parts.items() if name != "id"),
        records=len(files.original),
    )


def _window(files: Comparison) -> float | None:
    """The widest window of rank swapping, which an intruder who knows the method knows; None where there was none."""
    steps = [done.step if isinstance(done, ByStratum) else done for done in files.carried_out or ()]
    windows = [
        step.window for step in steps if isinstance(step, RankSwapping) and step.variant == "plain" and step.window
    ]
    return max(windows, default=None)


SCORES = Family(lambda files: score(files, loss_of_numbers(files)), (SCORE,))


FAMILIES: Sequence[Family] = (*OF_FILES, SCORES)


UTILITY = (
    Declaration(
        "utility",
        helps="Compare original and released variables: the measures of utility found none that both files hold.",
    ),
    TURNED_COEFFICIENTS,
)


class Utility(NamedTuple):
    """What a masked file is still good for: what decides, and what the report shows beside it."""

    findings: tuple[Finding, ...]
    view: UtilityView


class _Limits(Analyses):
    families: ClassVar[Sequence[Family]] = ()

    def find(self, files: Comparison) -> Utility:
        """One finding for each measure, in the order of the fields, stage "utility".

        A measure within its limit passes, one beyond it fails, and one that could not be computed is `UNKNOWN`.
        Without a limit it is reported and does not decide; nor does one that the file gives no occasion for: of fewer
        than two numbers there is no correlation. Those of sets of items are for files that have any, and that of
        impossible records for data whose contract has rules across fields: any of them needs a decision (`REVIEW`)
        where there is no limit, and more than one in a thousand fails. The score and S_pMSE within subgroups, which
        take long, are measured where they have a limit. Then the findings on each analysis that the policy or the
        definition asks for. Where records have weights, the view holds the figures of the records themselves, too.
        """
        families = [
            family
            for family in self.families
            if not any(each.where_asked for each in family.measures) or any(map(self.limit, family.measures))
        ]
        return self._found(files, families)

    def decide(self, files: Comparison, besides: Collection[str] = ()) -> tuple[Finding, ...]:
        """The findings that may decide, and those on measures `besides` by their names; the families of all others are
        not computed. For whoever judges many files."""
        wanted = {*besides}
        of = measures(self.families)
        wanted |= {each.name for each in of if (limit := self.limit(each)) and limit.binding}
        wanted |= {each.name for each in of if each.asks and not self.limit(each)}
        families = [family for family in self.families if wanted & {*self._limited(family)}]
        found = self._found(files, families, shown=False).findings
        return tuple(each for each in found if each.binding or each.rule != TURNED_COEFFICIENTS.rule)

    def limit(self, measure: Measure) -> Limit | None:
        limit: Limit | None = getattr(self, measure.name)
        return limit

    def _limited(self, family: Family) -> Iterator[str]:
        """What is measured of a family: what takes long has a limit."""
        return (each.name for each in family.measures if not each.where_asked or self.limit(each))

    def _found(self, files: Comparison, families: Sequence[Family], shown: bool = True) -> Utility:
        unweighted = files.unweighted if shown else None
        found = [family(files) for family in families]
        measured = {name: measure for family in found for name, measure in family.measured.items()}
        reported = [
            each
            for each in measures(families)
            if measured[each.name].applicable or not each.where_any or self.limit(each)
        ]
        asked = judge_analyses(self, files, _answer)
        parts: dict[str, Any] = {
            name: part for view in (*(family.view for family in found), asked.view) for name, part in view.items()
        }
        if unweighted is not None:
            parts["unweighted"] = unweighted_figures(
                measured, _measured(family(unweighted) for family in families if family.weighs)
            )
        findings = [measured[each.name].finding(each.name, self.limit(each)) for each in reported]
        if files.lost_weight is not None:
            findings = [_by_the_weight(each, files.lost_weight, parts.get("unweighted")) for each in findings]
        return Utility((*findings, *asked.findings), UtilityView.model_validate(parts))


def _by_the_weight(finding: Finding, weight: str, unweighted: Sequence[UnweightedFigure] | None) -> Finding:
    """The finding, which names the removed weight where most of the loss is gone when each record counts once."""
    both = next((each for each in unweighted or () if each.name == finding.rule), None)
    if both is None or both.unweighted > both.weighted / 2:
        return finding
    return finding.adding((_BY_WEIGHT_SHARE if both.percent else _BY_WEIGHT)(weight=weight, figure=both.unweighted))


_BY_WEIGHT = Sentence(
    "utility.by_weight", " The cause is the weight {weight}, which was not released: of the records alone {figure:.3g}."
)
_BY_WEIGHT_SHARE = Sentence(
    "utility.by_weight_share",
    " The cause is the weight {weight}, which was not released: of the records alone {figure:percent}.",
)


def _measured(found: Iterable[Found]) -> Mapping[str, Any]:
    return {name: measure for family in found for name, measure in family.measured.items()}


def _answer(query: "AggregateQuery", records: pd.DataFrame) -> QueryAnswer:
    from sluice.sources.query_answer import answer  # with a database, which nobody loads who asks for no query

    return answer(query, records)


def limits_on(families: Sequence[Family]) -> "type[_Limits]":
    """The model of limits on the measures of these families, whose fields are the measures' names.

    raises : ValueError where two measures have one name
    """
    of = measures(families)
    if len({each.name for each in of} | {*Analyses.model_fields}) < len(of) + len(Analyses.model_fields):
        raise ValueError("two measures have one name, or that of an analysis")
    fields: dict[str, Any] = {
        each.name: (each.limit | None, Field(default=None, description=each.description)) for each in of
    }
    limits = create_model("UtilityLimits", __base__=_Limits, __module__=__name__, __doc__=_ABOUT, **fields)
    limits.families = families
    return limits


_ABOUT = (
    "A limit for any of the measures, each reported with a limit or without, and analyses with limits of their own."
)


if TYPE_CHECKING:
    from sluice.utility.analyses.aggregate_query import AggregateQuery

    class UtilityLimits(_Limits): ...

else:
    UtilityLimits = limits_on(FAMILIES)

"""Utility limits: how much a masked file may have lost, and what it did lose."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import pandas as pd
from pydantic import Field, create_model

from policies.utility_score import SCORES
from sluice.ground.declaration import Declaration
from sluice.ground.verdict import Finding
from sluice.utility.analyses.analysis_findings import judge_analyses
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.analyses.query_comparison import QueryAnswer
from sluice.utility.comparison import Comparison
from sluice.utility.measured import Found, Limit
from sluice.utility.utility_measure import Family, Measure
from sluice.utility.utility_measures import FAMILIES as OF_FILES
from sluice.utility.utility_measures import measures
from sluice.utility.utility_view import UtilityView, unweighted_figures

FAMILIES: Sequence[Family] = (*OF_FILES, SCORES)


UTILITY = (
    Declaration(
        "utility",
        helps="Compare original and released variables: the measures of utility found none that both files hold.",
    ),
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
        impossible records for data whose contract has rules across fields. The score and S_pMSE within subgroups, which
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
        wanted |= {each.name for each in measures(self.families) if (limit := self.limit(each)) and limit.binding}
        families = [family for family in self.families if wanted & {*self._limited(family)}]
        return self._found(files, families, shown=False).findings

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
        return Utility((*findings, *asked.findings), UtilityView.model_validate(parts))


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

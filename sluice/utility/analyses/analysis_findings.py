"""Analysis findings: what a policy or a definition asks for, made on the original and on the masked file."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from sluice.ground.errors import DataError
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding
from sluice.utility.analyses.asked_analyses import Analyses, ModelAnalysis
from sluice.utility.analyses.clusterings import judge_clustering, refuse_unfit_clustering
from sluice.utility.analyses.formula import refuse_unknown_categories
from sluice.utility.analyses.models import judge_model, refuse_unfit_model
from sluice.utility.analyses.predictions import judge_prediction, refuse_unfit_prediction
from sluice.utility.analyses.query_comparison import Answer, judge_query
from sluice.utility.comparison import Comparison


@dataclass(frozen=True)
class Asked:
    """Findings on each analysis, and parts of the report's view by the names of its fields."""

    findings: tuple[Finding, ...]
    view: Mapping[str, Any]


def judge_analyses(of_policy: Analyses, files: Comparison, answer: Answer) -> Asked:
    """Those of the policy, which decide where they have a limit, and those of the definition, which do not.

    answer : to a query, by some records
    """
    findings: list[Finding] = []
    shown: dict[str, list[Any]] = {name: [] for name in Analyses.model_fields}
    draws = iter(files.rng.spawn(sum(_drawing(asked) for asked in (of_policy, files.analyses))))
    for asked, decides in ((of_policy, True), (files.analyses, False)):
        for name, (found, view) in _judged(asked, files, draws, answer):
            findings += found if decides else [finding.as_reported() for finding in found]
            shown[name].append(view)
    return Asked(tuple(findings), {name: tuple(views) for name, views in shown.items() if views})


def _drawing(asked: Analyses) -> int:
    """How many of the analyses draw at random."""
    return len(asked.predictions) + len(asked.clusterings)


def _judged(
    asked: Analyses, files: Comparison, draws: Iterator[Generator], answer: Answer
) -> Iterator[tuple[str, tuple[list[Finding], Any]]]:
    for model in asked.models:
        yield "models", judge_model(model, files)
    for prediction in asked.predictions:
        yield "predictions", judge_prediction(prediction, files, next(draws))
    for clustering in asked.clusterings:
        finding, view = judge_clustering(clustering, files, next(draws))
        yield "clusterings", ([finding], view)
    for query in asked.queries:
        answered, shown = judge_query(query, files, answer)
        yield "queries", ([answered], shown)


def unfit_analyses(analyses: Analyses, variables: Variables) -> list[str]:
    """What of the analyses does not fit the variables, as the contract declares them, by name."""
    unfit = []
    for field, refuse in _REFUSALS.items():
        for analysis in getattr(analyses, field):
            try:
                refuse(analysis, variables)
            except DataError as error:
                unfit.append(f"{field}: '{analysis.name}': {error}")
    return unfit


def _refuse_model(model: ModelAnalysis, variables: Variables) -> None:
    refuse_unknown_categories(refuse_unfit_model(model, variables), variables)


_REFUSALS: Mapping[str, Callable[[Any, Variables], None]] = {
    "models": _refuse_model,
    "predictions": refuse_unfit_prediction,
    "clusterings": refuse_unfit_clustering,
}

"""Analysis findings: what a policy or a definition asks for, made on the original and on the masked file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sluice.ground.errors import DataError
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.analyses.clusterings import CLUSTERINGS
from sluice.utility.analyses.drafted_analyses import drafted_analyses
from sluice.utility.analyses.models import MODELS, judge_model
from sluice.utility.analyses.predictions import PREDICTIONS
from sluice.utility.analyses.query_comparison import QUERIES, Answer
from sluice.utility.analyses.turned_coefficients import beyond_chance, turned_finding
from sluice.utility.comparison import Comparison
from sluice.utility.marginal_summary import TableLoss, table_losses

KINDS = (MODELS, PREDICTIONS, CLUSTERINGS, QUERIES)


@dataclass(frozen=True)
class Asked:
    """Findings on each analysis, and parts of the report's view by the names of its fields."""

    findings: tuple[Finding, ...]
    view: Mapping[str, Any]


def judge_analyses(of_policy: Analyses, files: Comparison, answer: Answer) -> Asked:
    """Those of the policy, which decide where they have a limit, and those of the definition, which do not.

    Where neither names any, some are drafted, of which the view alone tells. A coefficient that turned in any model
    needs a decision.

    answer : to a query, by some records
    """
    asked = [
        (kind, analysis, decides)
        for analyses, decides in ((of_policy, True), (files.analyses, False))
        for kind in KINDS
        for analysis in getattr(analyses, kind.name)
    ]
    drafted = None if asked else drafted_analyses(files.variables, files.original, files.undeclared)
    draws = iter(files.rng.spawn(sum(kind.draws for kind, *_ in asked)))
    findings: list[Finding] = []
    shown: dict[str, list[Any]] = {kind.name: [] for kind in KINDS}
    for kind, analysis, decides in asked:
        found, view = kind.judge(analysis, files, draws, answer)
        findings += found if decides else [finding.as_reported() for finding in found]
        shown[kind.name].append(view)
    tables: tuple[TableLoss, ...] = ()
    if drafted is not None:
        shown["models"] += [
            judge_model(model, files)[1].model_copy(update={"drafted": True}) for model in drafted.models
        ]
        tables = table_losses(files, drafted.tables)
    shown["models"] = [*beyond_chance(shown["models"])]
    turned = turned_finding(shown["models"])
    views = {name: tuple(views) for name, views in shown.items() if views} | ({"tables": tables} if tables else {})
    return Asked((*findings, *([turned] if turned else ())), views)


def unfit_analyses(analyses: Analyses, variables: Variables) -> list[str]:
    """What of the analyses does not fit the variables, as the contract declares them, by name."""
    unfit = []
    for kind in KINDS:
        for analysis in getattr(analyses, kind.name):
            try:
                kind.refuse(analysis, variables)
            except DataError as error:
                unfit.append(f"{kind.name}: '{analysis.name}': {error}")
    return unfit

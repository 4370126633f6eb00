"""Asked: the analyses that a policy or a definition asks for, made on the original and on the masked file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policies.original_and_masked import OriginalAndMasked
from policies.utility.analyses import Analyses
from policies.utility.models import judge_model, refuse_unfit_model
from sluice.errors import DataError
from sluice.utility.analyses.formula import refuse_unknown_categories
from sluice.utility.analyses.models_view import ComparedModel
from sluice.variables import Variables
from sluice.verdict import Finding


@dataclass(frozen=True)
class Asked:
    """Findings on each analysis, and parts of the report's view by the names of its fields."""

    findings: tuple[Finding, ...]
    view: Mapping[str, Any]


def judge_analyses(of_policy: Analyses, files: OriginalAndMasked) -> Asked:
    """Those of the policy, which decide where they have a limit, and those of the definition, which do not."""
    findings: list[Finding] = []
    models: list[ComparedModel] = []
    for asked, decides in ((of_policy, True), (files.analyses, False)):
        for model in asked.models:
            found, view = judge_model(model, files)
            findings += found if decides else [finding.as_reported() for finding in found]
            models.append(view)
    return Asked(tuple(findings), {"models": tuple(models)} if models else {})


def unfit_analyses(analyses: Analyses, variables: Variables) -> list[str]:
    """What of the analyses does not fit the variables, as the contract declares them, by name."""
    unfit = []
    for model in analyses.models:
        try:
            refuse_unknown_categories(refuse_unfit_model(model, variables), variables)
        except DataError as error:
            unfit.append(f"models: '{model.name}': {error}")
    return unfit

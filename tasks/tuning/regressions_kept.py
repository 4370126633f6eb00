"""Regressions kept: what became, in a masked file, of the models that users of such a file run first."""

from collections.abc import Sequence
from math import nan

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from sluice.ground.errors import DataError
from sluice.risk.people_of_records import people_with_several
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.analyses.formula import read_formula
from sluice.utility.analyses.model_comparison import compare_models
from sluice.utility.analyses.model_variables import masked_variables, original_variables
from sluice.utility.analyses.models import HOLDS
from sluice.utility.comparison import Comparison


class AnalysesLoss(BaseModel):
    """What became of the regressions in a masked file."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="constants")

    worst: float = Field(
        default=nan, description="largest change of a coefficient, in standard errors of the original's; NaN: of none"
    )
    holds: int = Field(description="regressions of which no coefficient is lost, or moved by more than HOLDS")
    of: int = Field(description="regressions that the original determines")
    lost: int = Field(default=0, description="coefficients that the masked file cannot give")


def analyses_loss(analyses: Analyses, files: Comparison) -> AnalysesLoss:
    """The regressions on both files, their coefficients as far as a report shows them: what fewer people than its
    smallest cell make, no file that protects them keeps, and no reader is told. Cost: two fits each."""
    worst, holds, of, lost = nan, 0, 0, 0
    for each in analyses.models:
        formula = read_formula(each.formula)
        names = formula.variables
        before = original_variables(names, files.original, files.variables)
        after = masked_variables(names, files.original, files.recoded, files.masked, files.variables, files.released)
        try:
            people = people_with_several(files.original, files.variables)
            found = compare_models(formula, each.kind, before, after, people=people)
        except DataError:
            continue
        changes = [change for change in found.changes if found.may_be_shown(change, files.minimum_cell)]
        moved = [change.difference for change in changes if not change.is_lost]
        of += bool(changes)
        lost += len(changes) - len(moved)
        holds += bool(changes) and len(moved) == len(changes) and max(moved, default=0.0) <= HOLDS
        worst = np.nanmax([worst, *moved]) if moved else worst
    return AnalysesLoss(worst=float(worst), holds=holds, of=of, lost=lost)


def worst_of(several: Sequence[AnalysesLoss]) -> AnalysesLoss | None:
    """Of several draws of one plan, what is lost by the worst of them; None of none."""
    if not several:
        return None
    return AnalysesLoss(
        worst=float(np.fmax.reduce([each.worst for each in several])),
        holds=min(each.holds for each in several),
        of=max(each.of for each in several),
        lost=max(each.lost for each in several),
    )

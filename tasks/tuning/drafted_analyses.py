"""Analyses drafted when nobody names one: regressions that users of such a file run first, and what became of them."""

from collections.abc import Collection, Iterator
from math import nan

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from sluice.ground.errors import DataError
from sluice.ground.variables import GROUPS, NAMES, Kind, Role, Variables
from sluice.utility.analyses.asked_analyses import Analyses, ModelAnalysis
from sluice.utility.analyses.formula import read_formula
from sluice.utility.analyses.model_comparison import compare_models
from sluice.utility.analyses.model_variables import masked_variables, original_variables
from sluice.utility.comparison import Comparison

_REGRESSIONS = 3
_EXPLAINING = 4  # variables on the right: a first model has few
_CATEGORIES = 6  # of a variable on the right
_FEWEST = 30  # records of each category, of one that is explained or explains
_KNOWN = 0.5  # share of the records that have a value
_MEASURED = 10  # different values of a number that least squares explain
HOLDS = 1.5
"""Standard errors of the original's coefficient, by which one may move and a regression still holds."""


class AnalysesLoss(BaseModel):
    """What became of the regressions in a masked file."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="constants")

    worst: float = Field(
        default=nan, description="largest change of a coefficient, in standard errors of the original's; NaN: of none"
    )
    holds: int = Field(description="regressions of which no coefficient is lost, or moved by more than HOLDS")
    of: int = Field(description="regressions that the original determines")
    lost: int = Field(default=0, description="coefficients that the masked file cannot give")


def drafted_analyses(frame: pd.DataFrame, variables: Variables, without: Collection[str] = ()) -> Analyses:
    """Three regressions at most by roles and kinds: what is sensitive or an amount, explained by what is known.

    without : variables that tell the same as another one
    cost    : O(n) a variable
    """
    usable = {
        name: each
        for name, each in variables.items()
        if name not in without
        and each.role not in (*NAMES, *GROUPS, Role.WEIGHT)
        and each.kind not in (Kind.TEXT, Kind.ITEMS, Kind.DATE)
        and "`" not in name
        and frame[name].notna().mean() > _KNOWN
    }
    explained = sorted(_explained(frame, usable), key=lambda name: _standing(frame, usable, name))[:_REGRESSIONS]
    order = {Role.QUASI_IDENTIFIER: 0, Role.OTHER: 1, Role.SENSITIVE: 2}
    known = sorted(_explaining(frame, usable), key=lambda name: order.get(usable[name].role, 1))
    models = []
    for name in explained:
        right = [each for each in known if each != name][:_EXPLAINING]
        if right:
            kind, left = _left(frame, usable, name)
            terms = " + ".join(map(_quoted, right))
            models.append(ModelAnalysis(name=f"{name} explained"[:60], kind=kind, formula=f"{left} ~ {terms}"))
    return Analyses(models=tuple(models))


def _explained(frame: pd.DataFrame, variables: Variables) -> Iterator[str]:
    for name, each in variables.items():
        counts = frame[name].value_counts()
        measured = each.kind.is_numeric and len(counts) >= _MEASURED
        either = each.kind is Kind.BINARY and len(counts) == 2 and counts.min() >= _FEWEST
        if measured or either:
            yield name


def _standing(frame: pd.DataFrame, variables: Variables, name: str) -> tuple[bool, bool, bool]:
    """What is sensitive first, then amounts, then what others know."""
    role, kind = variables[name].role, variables[name].kind
    return role is Role.QUASI_IDENTIFIER, role is not Role.SENSITIVE, not kind.is_numeric


def _explaining(frame: pd.DataFrame, variables: Variables) -> Iterator[str]:
    """Numbers, and categories of which each has records enough for a coefficient."""
    for name, each in variables.items():
        counts = frame[name].value_counts()
        few = 2 <= len(counts) <= _CATEGORIES and counts.min() >= _FEWEST
        if few or (each.kind.is_numeric and len(counts) >= 2):
            yield name


def _left(frame: pd.DataFrame, variables: Variables, name: str) -> tuple[str, str]:
    if variables[name].kind.is_numeric:
        return "linear", _quoted(name)
    rarer = str(frame[name].value_counts().index[-1])
    mark = '"' if "'" in rarer else "'"
    return "logistic", f"{_quoted(name)} == {mark}{rarer}{mark}"


def _quoted(name: str) -> str:
    return f"`{name}`"


def analyses_loss(analyses: Analyses, files: Comparison) -> AnalysesLoss:
    """The regressions on both files. Cost: two fits each."""
    worst, holds, of, lost = nan, 0, 0, 0
    for each in analyses.models:
        formula = read_formula(each.formula)
        names = formula.variables
        before = original_variables(names, files.original, files.variables)
        after = masked_variables(names, files.original, files.recoded, files.masked, files.variables, files.released)
        try:
            found = compare_models(formula, each.kind, before, after)
        except DataError:
            continue
        moved = [change.difference for change in found.changes if not change.is_lost]
        of += bool(found.changes)
        lost += found.lost
        holds += bool(found.changes) and not found.lost and max(moved, default=0.0) <= HOLDS
        worst = np.nanmax([worst, *moved]) if moved else worst
    return AnalysesLoss(worst=float(worst), holds=holds, of=of, lost=lost)

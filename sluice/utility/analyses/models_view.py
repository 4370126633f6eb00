"""Models view: fitted models as the report shows them, coefficients with intervals before and after."""

from collections.abc import Mapping
from math import isfinite

from pydantic import Field

from sluice.ground.frozen_model import FrozenModel
from sluice.utility.analyses.model_comparison import CoefficientChange, ModelComparison

_OF_NORMAL = 1.959963984540054
_DIGITS = 4


class ComparedCoefficient(FrozenModel):
    """One coefficient with its 95 % confidence intervals; no `after` where the masked file cannot give it."""

    term: str
    before: float
    before_low: float
    before_high: float
    after: float | None = None
    after_low: float | None = None
    after_high: float | None = None
    overlap: float
    difference: float | None = Field(description="in standard errors of the original's; None where that is 0")


class ComparedSubgroup(FrozenModel):
    """The model in one subgroup, of which enough records are in both files."""

    subgroup: str
    overlap: float
    lost: int


class ComparedModel(FrozenModel):
    """One model, the coefficients that agree least first, and the subgroups that do."""

    name: str
    kind: str
    formula: str
    by: str | None = None
    says: str = Field(default="", description="why there are no figures; empty: there are")
    overlap: float | None = None
    difference: float | None = None
    coefficients: tuple[ComparedCoefficient, ...] = ()
    lost: int = Field(default=0, description="coefficients that the masked file cannot give")
    hidden: int = Field(default=0, description="coefficients with too few records behind them to be shown")
    subgroups: tuple[ComparedSubgroup, ...] = ()
    recoded_overlap: float | None = Field(
        default=None,
        description="with the original recoded as the file is; None where that lacks the response",
    )
    recoded: tuple[ComparedCoefficient, ...] = Field(
        default=(), description="coefficients of the recoded original, those that agree least first"
    )


def compared_model(
    name: str,
    kind: str,
    formula: str,
    found: ModelComparison,
    minimum_cell: int,
    by: str | None = None,
    subgroups: Mapping[str, ModelComparison] | None = None,
    recoded: ModelComparison | None = None,
) -> ComparedModel:
    """What may be shown of a model: no coefficient behind which fewer records than the minimum cell stand.

    recoded : the model of the recoded original and the masked file, where the file tells the response
    """
    coefficients = _shown(found, minimum_cell)
    groups = [
        ComparedSubgroup(subgroup=group, overlap=_rounded(each.overlap), lost=each.lost)
        for group, each in sorted((subgroups or {}).items(), key=lambda item: item[1].overlap)
        if each.used >= minimum_cell
    ]
    return ComparedModel(
        name=name,
        kind=kind,
        formula=formula,
        by=by,
        overlap=_rounded(found.overlap) if found.changes else None,
        difference=_rounded(found.difference) if isfinite(found.difference) else None,
        coefficients=coefficients,
        lost=found.lost,
        hidden=len(found.changes) - len(coefficients),
        subgroups=tuple(groups),
        recoded_overlap=_rounded(recoded.overlap) if recoded is not None and recoded.changes else None,
        recoded=() if recoded is None else _shown(recoded, minimum_cell),
    )


def _shown(found: ModelComparison, minimum_cell: int) -> tuple[ComparedCoefficient, ...]:
    shown = [change for change in found.changes if found.may_be_shown(change, minimum_cell)]
    return tuple(map(_coefficient, sorted(shown, key=lambda change: (change.overlap, -change.difference))))


def _coefficient(change: CoefficientChange) -> ComparedCoefficient:
    def bounds(name: str, value: float, error: float) -> dict[str, float]:
        half = _OF_NORMAL * error
        return {
            name: _rounded(value),
            f"{name}_low": _rounded(value - half),
            f"{name}_high": _rounded(value + half),
        }

    figures = bounds("before", change.before, change.before_error)
    if not change.is_lost:
        figures |= bounds("after", change.after, change.after_error)
    return ComparedCoefficient(
        term=change.term,
        overlap=_rounded(change.overlap),
        difference=_rounded(change.difference) if isfinite(change.difference) else None,
        **figures,
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")

"""Measured use: what a published file supports and what it does not, as it was measured for its approvers.

Everybody may read it, so it is coarser than the report. Estimates are those of the published file. Of the original only
bands are told: how many of its standard errors an estimate lies from its own. A share of records is told in whole per
cent. How much intervals overlap is not: with two coefficients of a small group, that is nearly its mean.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sluice.report.wording import figure
from sluice.utility.analyses.design_matrix import INTERCEPT
from sluice.utility.analyses.models import HOLDS, ComparedCoefficient, ComparedModel, Turn
from sluice.utility.marginal_summary import MarginalSummary, TableLoss
from sluice.utility.utility_view import UtilityView

_BANDS = ((0.5, "under 0.5"), (1, "0.5 to 1"), (HOLDS, f"1 to {HOLDS:g}"), (5, f"{HOLDS:g} to 5"))
_ERRORS = f"{HOLDS:g} standard errors"
_MUCH = 0.2  # of the records in another cell of a table
_NAMED = 5
_TURNS: Mapping[Turn, str] = {
    "sign": "its sign is the opposite of the original's",
    "lost": "it is clear in the original, and not here",
    "made": "it looks clear here, and is not in the original",
}


@dataclass(frozen=True)
class CoefficientUse:
    """One coefficient: of the published file with its 95 % interval, and what is said of the original's.

    apart : how far the original's lies, in its standard errors, as a band; '' where the file does not give it
    """

    term: str
    estimate: str
    apart: str
    remark: str = ""


@dataclass(frozen=True)
class ModelUse:
    """One model in words, and coefficient by coefficient."""

    name: str
    formula: str
    kind: str
    says: str
    rows: tuple[CoefficientUse, ...] = ()

    @property
    def remarks(self) -> bool:
        """Whether anything is remarked on a coefficient."""
        return any(row.remark for row in self.rows)


@dataclass(frozen=True)
class MeasuredUse:
    """What was measured of one file; nothing where it was not.

    overall  : sentences on the file as a whole
    supports, not_for : what it can be used for by these figures, and what not
    of_variable : released variable -> a sentence on the table with another that lost most
    """

    overall: tuple[str, ...] = ()
    models: tuple[ModelUse, ...] = ()
    supports: tuple[str, ...] = ()
    not_for: tuple[str, ...] = ()
    of_variable: Mapping[str, str] = field(default_factory=dict)


def measured_use(view: UtilityView | None, not_released: Sequence[str]) -> MeasuredUse:
    """Of the report's view on utility.

    not_released : variables of the original that the file does not have, by name
    """
    if view is None:
        return MeasuredUse(not_for=tuple(_not_released(not_released)))
    pairs = view.marginals.pairs if view.marginals else None
    models = tuple(_model(each) for each in view.models or () if not _not_told(each))
    return MeasuredUse(
        overall=tuple(_overall(pairs)),
        models=models,
        supports=tuple(_supports(view, pairs)),
        not_for=(*_not_for(view, pairs, set(not_released)), *_not_released(not_released)),
        of_variable={
            name: f"Of its tables with another variable, that with {_other(name, table)} differs most: "
            f"{share(table.loss)} of the records are in another cell than in the original."
            for name, table in (pairs.largest if pairs else {}).items()
        },
    )


def share(value: float) -> str:
    """In whole per cent; what is little and not nothing is under 1 %."""
    return "under 1 %" if 0 < value < 0.01 else f"{100 * value:.0f} %"


def _other(name: str, table: TableLoss) -> str:
    return next(each for each in table.variables if each != name)


def _overall(pairs: MarginalSummary | None) -> Iterator[str]:
    if pairs is None:
        return
    among = pairs.mean if pairs.mean_released is None else pairs.mean_released
    yield (
        f"In a table of two released variables {share(among)} of the records are in another cell than in the "
        "original, on average over all such tables."
    )
    if pairs.equivalent is not None:
        bound = "less than " if pairs.equivalent.at_most else ""
        of = "" if pairs.mean_released is None else ", with those of variables that were not released,"
        yield f"The tables of pairs{of} are as good as those of a random sample of {bound}{_sampled(pairs)}."


def _sampled(pairs: MarginalSummary) -> str:
    assert pairs.equivalent is not None
    found = pairs.equivalent.share
    return f"{share(found)} of the original" if found >= 0.01 else f"{100 * found:.1g} % of the original"


def _supports(view: UtilityView, pairs: MarginalSummary | None) -> Iterator[str]:
    for model in view.models or ():
        told = [one for one in _effects(model) if one.difference is not None]
        if told and not model.lost and not model.turned and all(one.holds for one in told):
            yield f"The model of {model.name}: each coefficient within {_ERRORS} of the original's."
        elif near := [one.term for one in told if one.holds and one not in model.turned]:
            yield f"In the model of {model.name}, the effects within {_ERRORS}: {_listed(near)}."
    for table in view.tables or ():
        if table.loss < _MUCH:
            yield f"The table of {' and '.join(table.variables)}: {share(table.loss)} of the records in another cell."


def _not_for(view: UtilityView, pairs: MarginalSummary | None, not_released: set[str]) -> Iterator[str]:
    for model in view.models or ():
        if _not_told(model):
            yield f"The model of {model.name}: the file does not tell it."
            continue
        if not model.coefficients:
            yield f"The model of {model.name}: {_untold(model)}."
        for one in model.turned:
            if one.turned:
                yield f"The effect of {one.term} in the model of {model.name}: {_TURNS[one.turned]}."
        turned = {one.term for one in model.turned}
        far = [
            one.term
            for one in _effects(model)
            if one.after is not None and one.difference is not None and one.term not in turned and not one.holds
        ]
        if far:
            yield (
                f"The size of these effects in the model of {model.name}, which are more than {_ERRORS} from "
                f"the original's: {_listed(far)}."
            )
        if gone := [one.term for one in _effects(model) if one.after is None]:
            yield f"These effects in the model of {model.name}, which the file does not tell: {_listed(gone)}."
        if model.by and model.subgroups and (worst := model.subgroups[0]).overlap < 0.5:
            yield (
                f"The model of {model.name} within groups by {model.by}: in the worst ({worst.subgroup}) the "
                "confidence intervals overlap with the original's by less than half."
            )
    shown = {frozenset(table.variables): table for table in pairs.worst} if pairs else {}
    shown |= {frozenset(table.variables): table for table in view.tables or ()}
    told = (each for names, each in shown.items() if not names & not_released)
    lossy = sorted((each for each in told if each.loss >= _MUCH), key=lambda each: -each.loss)[:_NAMED]
    for table in lossy:
        yield f"The table of {' and '.join(table.variables)}: {share(table.loss)} of the records in another cell."


def _not_told(model: ComparedModel) -> bool:
    """Whether the file gives none of its coefficients, as where what it explains was not released."""
    return bool(model.coefficients) and all(one.after is None for one in model.coefficients)


def _effects(model: ComparedModel) -> list[ComparedCoefficient]:
    """The coefficients that say what goes with what: all but the intercept."""
    return [one for one in model.coefficients if one.term != INTERCEPT]


def _not_released(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"Anything about variables that were not released: {', '.join(names)}."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _untold(model: ComparedModel) -> str:
    """Why it has no figures."""
    if model.hidden:
        return "what became of it may not be told, as too few records stand behind its coefficients"
    return "it was not compared"


def _model(model: ComparedModel) -> ModelUse:
    drafted = "Drafted from the roles of variables. " if model.drafted else ""
    if not model.coefficients:
        return ModelUse(model.name, model.formula, model.kind, f"{drafted}{_untold(model).capitalize()}.")
    within = sum(one.holds for one in model.coefficients)
    says = f"{drafted}{within} of {len(model.coefficients)} coefficients lie within {_ERRORS} of the original's."
    if model.turned:
        says += f" {len(model.turned)} would be read otherwise."
    if model.hidden:
        says += f" {model.hidden} more may not be told, as too few records stand behind them."
    rows = tuple(_coefficient(one) for one in model.coefficients)
    return ModelUse(model.name, model.formula, model.kind, says, rows)


def _coefficient(one: ComparedCoefficient) -> CoefficientUse:
    if one.after is None or one.after_low is None or one.after_high is None:
        return CoefficientUse(one.term, "not in the file", "")
    estimate = f"{figure(one.after)} ({figure(one.after_low)} to {figure(one.after_high)})"
    far = one.difference
    apart = "not known" if far is None else next((words for most, words in _BANDS if far <= most), "more than 5")
    return CoefficientUse(one.term, estimate, apart, _TURNS[one.turned] if one.turned else "")

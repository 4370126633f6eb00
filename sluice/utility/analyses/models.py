"""Models: what masking does to the coefficients of users' models, as findings and in the report, with intervals."""

from collections.abc import Iterator, Mapping
from math import hypot, isfinite, nan
from typing import Literal

import numpy as np
from pydantic import Field

from sluice.ground.arrays import BoolArray
from sluice.ground.comparable_values import codes_of
from sluice.ground.document_parts import FrozenModel
from sluice.ground.errors import DataError
from sluice.ground.sentence import END, Saying, Sentences, as_fields, text_of
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.people_of_records import people_with_several
from sluice.utility.analyses.asked_analyses import ModelAnalysis
from sluice.utility.analyses.design_matrix import INTERCEPT
from sluice.utility.analyses.formula import Formula, read_formula, refuse_unfit, refuse_unknown_categories
from sluice.utility.analyses.model_comparison import (
    CoefficientChange,
    ModelComparison,
    compare_models,
    compare_subgroups,
)
from sluice.utility.analyses.model_variables import ModelVariable, masked_variables, original_variables
from sluice.utility.comparison import Comparison
from sluice.utility.measured import WORST, Floor, Limit, Measured, few_told, figure, floor_finding, written_number
from sluice.utility.utility_measure import AnalysisKind

OF_NORMAL = 1.959963984540054
CLEAR = 3.290526731491926  # standard errors, p < .001
_DIGITS = 4

HOLDS = 1.5
"""Standard errors of the original's coefficient, by which one may move and is still told as kept."""

Turn = Literal["sign", "lost", "made"]


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
    other_reference: bool = Field(
        default=False, description="the masked file has one of this name, which stands against other categories"
    )
    apart: float = Field(
        default=OF_NORMAL,
        description="standard errors of the difference of two independent samples, up to which estimates differ by "
        "chance; more where many coefficients are looked at",
    )

    @property
    def holds(self) -> bool:
        """Whether it lies within HOLDS of the original's."""
        return self.after is not None and self.difference is not None and self.difference <= HOLDS

    @property
    def is_clear(self) -> bool:
        """Whether it is an effect that the original tells from 0 (p < .001)."""
        return self.term != INTERCEPT and _is_clear(self.before, self.before_high)

    @property
    def turned(self) -> Turn | None:
        """What a reader of the masked file would say otherwise than one of the original; None: nothing.

        A sign turns where both intervals lie beyond 0, on different sides. An effect is lost that is clear in the
        original (p < .001), where the masked file's interval holds 0; and made where it is clear in the masked file,
        and the original's interval holds 0. Each only where the estimates lie further apart than those of two
        independent samples do by chance (`apart`), as a file of other people is no worse for its readers.
        """
        if self.term == INTERCEPT or self.after is None or self.after_low is None or self.after_high is None:
            return None
        before, after = self.before_low * self.before_high > 0, self.after_low * self.after_high > 0
        chance = self.apart / OF_NORMAL * hypot(self.before_high - self.before, self.after_high - self.after)
        if abs(self.before - self.after) <= chance:
            return None
        if before == after:
            return "sign" if before and self.before * self.after < 0 else None
        if before:
            return "lost" if self.is_clear else None
        return "made" if _is_clear(self.after, self.after_high) else None


def _is_clear(estimate: float, high: float) -> bool:
    return abs(estimate) * OF_NORMAL > CLEAR * (high - estimate)


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
    drafted: bool = Field(default=False, description="by roles and kinds, as nobody named an analysis")
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

    @property
    def looked_at(self) -> tuple[ComparedCoefficient, ...]:
        """Those that may turn; of the recoded original where the file has a category that the original has not."""
        known = {INTERCEPT, *(one.term for one in self.coefficients if one.after is not None)}
        return (*self.coefficients, *(one for one in self.recoded if one.term not in known))

    @property
    def turned(self) -> tuple[ComparedCoefficient, ...]:
        """Those that turned."""
        return tuple(one for one in self.looked_at if one.turned)


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
        half = OF_NORMAL * error
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
        other_reference=change.recoded,
        **figures,
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


_SAYS = Sentences(
    "models",
    not_compared="The model {name} cannot be compared: {why}",
    few_weigh="The loss of the model {name} is withheld: too few records make up the weight {weight}.",
    lost=", {lost} of {of} coefficients are lost",
    overlap="The confidence intervals of the model {name} overlap by {overlap:.2f} on average",
    as_recoded="With the original recoded as the file is, they overlap by {overlap:.2f} ({name})",
    no_response="The file does not tell the response of the model {name}, on its own categories either",
    worst_subgroup="In the worst of {count} subgroups by {by} they overlap by {overlap:.2f} ({category}), model {name}",
    undetermined="The original's records do not determine the model, or it has too few without a missing value",
    moved="A coefficient of the model {name} moved by {difference:.3g} standard errors on average",
    no_subgroups="The model {name} has no subgroups any more: the file does not tell {by}",
    few_in_subgroups="The model {name} cannot be fitted in subgroups by {by}: none has enough records",
)


def refuse_unfit_model(analysis: ModelAnalysis, variables: Variables) -> Formula:
    """The formula of an analysis; DataError where it does not fit the variables of the data."""
    formula = read_formula(analysis.formula)
    refuse_unfit(formula, analysis.kind, variables)
    if analysis.weight is not None and not (
        analysis.weight in variables and variables[analysis.weight].kind.is_numeric
    ):
        raise DataError(f"the data have no number '{analysis.weight}'.", field="weight")
    if analysis.by is not None and not (analysis.by in variables and variables[analysis.by].kind.is_categorical):
        raise DataError(f"the data have no variable '{analysis.by}' with categories.", field="by")
    return formula


def judge_model(analysis: ModelAnalysis, files: Comparison) -> tuple[list[Finding], ComparedModel]:
    """Findings on the overlap of its intervals and on its differences, of its worst subgroup, and what is shown."""
    of_analysis = {"name": analysis.name, "kind": analysis.kind, "formula": analysis.formula, "by": analysis.by}
    try:
        formula = refuse_unfit_model(analysis, files.variables)
        before, after = _variables(analysis, formula, files)
        people = people_with_several(files.original, files.variables)
        found = compare_models(formula, analysis.kind, before, after, analysis.weight, people)
        recoded = _recoded(analysis, formula, files, after)
        subgroups = _subgroups(analysis, formula, files, before, after)
    except DataError as error:
        says = _SAYS.not_compared(name=analysis.name, why=str(error))
        return list(_unknown(analysis, says)), ComparedModel(**of_analysis, says=str(error))
    if not found.changes:
        says = _SAYS.undetermined() + END()
        named = _SAYS.undetermined() + WORST(name=analysis.name) + END()
        return list(_unknown(analysis, named)), ComparedModel(**of_analysis, says=text_of(says))
    findings = list(_findings(analysis, files, found, recoded, subgroups))
    hidden: Saying = ()
    if analysis.weight is not None and found.effective < files.minimum_cell:
        hidden = _SAYS.few_weigh(name=analysis.name, weight=analysis.weight)
    elif few := files.of_few & {*before}:
        hidden = few_told(f"What became of the model {analysis.name}", few) + END()
    if hidden:
        return [each.as_withheld(hidden) for each in findings], ComparedModel(**of_analysis, says=text_of(hidden))
    view = compared_model(
        analysis.name, analysis.kind, analysis.formula, found, files.minimum_cell, analysis.by, subgroups, recoded
    )
    return findings, view


def _variables(
    analysis: ModelAnalysis, formula: Formula, files: Comparison
) -> tuple[dict[str, ModelVariable], dict[str, ModelVariable]]:
    names = [*formula.variables, *([analysis.weight] if analysis.weight else [])]
    before = original_variables(names, files.original, files.variables)
    after = masked_variables(names, files.original, files.recoded, files.masked, files.variables, files.released)
    return before, after


def _recoded(
    analysis: ModelAnalysis, formula: Formula, files: Comparison, after: dict[str, ModelVariable]
) -> ModelComparison | None:
    """The model of the original recoded as the file is, and of the file; None where that does not tell the response."""
    names = [name for name in after if name in files.recoded]
    recoded = masked_variables(names, files.original, files.recoded, files.recoded, files.variables, files.released)
    left = [formula.response.factor.variable, *([formula.event.factor.variable] if formula.event else [])]
    if any(name not in recoded for name in left):
        return None
    people = people_with_several(files.original, files.variables)
    found = compare_models(formula, analysis.kind, recoded, after, analysis.weight, people)
    return found if found.changes else None


def _subgroups(
    analysis: ModelAnalysis,
    formula: Formula,
    files: Comparison,
    before: dict[str, ModelVariable],
    after: dict[str, ModelVariable],
) -> dict[str, ModelComparison]:
    """The model in each released category of the variable; nothing where the file does not tell it."""
    by = analysis.by
    if by is None or by not in files.released or by not in files.recoded:
        return {}
    smallest = files.minimum_cell

    def groups(codes: np.ndarray, names: list[str]) -> dict[str, BoolArray]:
        held = {name: codes == place for place, name in enumerate(names)}
        return {name: rows for name, rows in held.items() if rows.sum() >= smallest}

    recoded, masked = files.recoded[by].astype("category"), files.masked[by].astype("category")
    here = groups(codes_of(recoded), [str(each) for each in recoded.cat.categories])
    there = groups(codes_of(masked), [str(each) for each in masked.cat.categories])
    people = people_with_several(files.original, files.variables)
    return compare_subgroups(formula, analysis.kind, before, after, here, there, analysis.weight, people)


def _tells_subgroups(by: str, files: Comparison) -> bool:
    """False where the variable was removed, or recoded to one group while the original has several."""
    if by not in files.released or by not in files.recoded:
        return False
    return files.recoded[by].nunique() > 1 or files.original[by].nunique() < 2


def _findings(
    analysis: ModelAnalysis,
    files: Comparison,
    found: ModelComparison,
    recoded: ModelComparison | None,
    subgroups: dict[str, ModelComparison],
) -> Iterator[Finding]:
    of, lost = len(found.changes), found.lost
    gone = _SAYS.lost(lost=lost, of=of) if lost else ()
    says = _SAYS.overlap(name=analysis.name, overlap=found.overlap) + gone
    yield _finding(analysis.overlap, found.overlap, says, f"{analysis.name}: overlap", of, of)
    of_recoded = 0 if recoded is None else len(recoded.changes)
    overlap = nan if recoded is None else recoded.overlap
    says = _SAYS.as_recoded(overlap=overlap, name=analysis.name)
    if recoded is None:
        says = _SAYS.no_response(name=analysis.name)
    yield _finding(analysis.recoded_overlap, overlap, says, f"{analysis.name}: as recoded", of_recoded, of_recoded)
    difference = found.difference
    says = _SAYS.moved(name=analysis.name, difference=figure(difference))
    yield _finding(analysis.difference, difference, says, f"{analysis.name}: difference", of, of)
    if analysis.by is None:
        return
    scope = f"{analysis.name}: by {analysis.by}"
    if not _tells_subgroups(analysis.by, files):
        says = _SAYS.no_subgroups(name=analysis.name, by=analysis.by)
        yield _finding(analysis.subgroup_overlap, 0.0, says, scope, 0, 0)
    elif not subgroups:
        says = _SAYS.few_in_subgroups(name=analysis.name, by=analysis.by)
        yield _finding(analysis.subgroup_overlap, nan, says, scope, 0, 0)
    else:
        worst = min(subgroups, key=lambda name: subgroups[name].overlap)
        least, count = subgroups[worst].overlap, len(subgroups)
        says = _SAYS.worst_subgroup(count=count, by=analysis.by, overlap=least, category=worst, name=analysis.name)
        yield _finding(analysis.subgroup_overlap, least, says, scope, count, count)


def _finding(
    limit: Floor | Limit | None, value: float, says: Saying, scope: str, attempted: int, completed: int
) -> Finding:
    if isinstance(limit, Limit):
        return Measured(value, says, scope, attempted, completed, written_number).finding("models", limit)
    return floor_finding("models", limit, value, says, scope, attempted, completed)


def _unknown(analysis: ModelAnalysis, says: Saying) -> Iterator[Finding]:
    limits = {"overlap": analysis.overlap, "as recoded": analysis.recoded_overlap, "difference": analysis.difference}
    if analysis.by is not None:
        limits[f"by {analysis.by}"] = analysis.subgroup_overlap
    for what, limit in limits.items():
        binding = limit is not None and limit.binding
        scope = f"{analysis.name}: {what}"
        yield Finding(
            rule="models", verdict=Verdict.UNKNOWN, stage="utility", scope=scope, binding=binding,
            **as_fields(says),
            attempted=1, completed=0,
        )  # fmt: skip


def _refuse(analysis: ModelAnalysis, variables: Variables) -> None:
    refuse_unknown_categories(refuse_unfit_model(analysis, variables), variables)


MODELS = AnalysisKind(
    "models",
    advice=(
        "Coefficients moved or were lost: keep the variables of the model, recode them less, or mask them together "
        "(microaggregation of a group, data_shuffling, ipso); the report names the coefficients that moved most."
    ),
    judge=lambda analysis, files, draws, answer: judge_model(analysis, files),
    refuse=_refuse,
)

"""Comparison: plans side by side, what each keeps, what each discloses and where each fails.

The loss over all variables says little of a plan that removes many of them, so the loss among those that are kept
stands beside it.
"""

from collections.abc import Sequence
from math import isfinite

from pydantic import Field

from sluice.ground.document_parts import FrozenModel
from sluice.ground.errors import DataError
from sluice.ground.variables import NAMES, Role
from sluice.ground.verdict import Finding
from sluice.report.dossier import Dossier, RecordsView
from sluice.report.headline import headline, reasons
from sluice.report.risk_margin import RISK_STAGES, risk_margin, worst_margin
from sluice.report.risk_utility_map import DEFAULT_LOSS, MARGIN, Plan, RiskUtilityMap, letter, risk_utility_map
from sluice.report.small_counts import share
from sluice.report.wording import figure
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.analyses.turned_coefficients import RULE as TURNED
from sluice.utility.marginal_summary import MarginalSummary
from sluice.utility.variable_summary import VariableSummary


class KeptFigures(FrozenModel):
    """None: not measured, or not told."""

    variables: int = Field(description="released, with more than one value")
    of: int = Field(description="variables of the original that describe")
    pairs: float | None = Field(default=None, description="mean loss of the tables of two variables, 0 to 1")
    pairs_released: float | None = Field(default=None, description="the same among released variables")
    k_marginal: float | None = Field(default=None, description="score of the tables of three variables, 1,000: no loss")
    k_marginal_released: float | None = Field(default=None, description="the same among released variables")
    propensity: float | None = Field(default=None, description="S_pMSE of all released variables, 1: as good as drawn")

    def in_words(self) -> str:
        """The figures on one line, those that are known."""
        told = [f"{self.variables} of {self.of} variables kept"]
        if self.pairs_released is not None:
            told.append(f"loss among them {figure(self.pairs_released)}")
        if self.propensity is not None:
            told.append(f"S_pMSE {figure(self.propensity)}")
        return ", ".join(told)


def kept_figures(dossier: Dossier) -> KeptFigures | None:
    """The figures of a dossier on records; None of one on tables, or where nothing was masked."""
    view = dossier.view
    if not isinstance(view, RecordsView):
        return None
    described = [summary for summary in view.variables if summary.role not in (*NAMES, Role.WEIGHT)]
    if not described:
        return None
    shown = view.utility
    marginals = None if shown is None else shown.marginals
    pairs, triples = (None, None) if marginals is None else (marginals.pairs, marginals.triples)
    return KeptFigures(
        variables=sum(_is_kept(summary) for summary in described),
        of=len(described),
        pairs=None if pairs is None else pairs.mean,
        pairs_released=_released(pairs),
        k_marginal=None if triples is None else _score(triples.mean),
        k_marginal_released=_score(_released(triples)),
        propensity=None if shown is None or shown.propensity is None else shown.propensity.standardised,
    )


def _is_kept(summary: VariableSummary) -> bool:
    return summary.kind_after is not None and not (summary.entropy_before and summary.entropy_after == 0)


def _released(summary: MarginalSummary | None) -> float | None:
    if summary is None:
        return None
    return summary.mean_released if summary.removed else summary.mean


def _score(loss: float | None) -> float | None:
    return None if loss is None else 1000 * (1 - loss)


_ANALYSES = frozenset((*Analyses.model_fields, TURNED))  # each has figures of its own, not all of them losses


class Told(FrozenModel):
    """What one rule found, the worst of its findings."""

    observed: float | None
    limit: float | None
    margin: float | None = Field(description="1 is at the limit, more is worse; None: not known, or without bound")
    verdict: str
    binding: bool


class PlanCompared(FrozenModel):
    """One plan: figures of its dossier."""

    letter: str
    name: str
    title: str
    verdict: str
    says: str = Field(description="the verdict in a sentence")
    policy: str
    records_original: int
    records_released: int
    steps: tuple[str, ...]
    variables: dict[str, str] = Field(description="what became of each variable, in words")
    keeps: dict[str, float | None] = Field(description="figures of information loss, more is worse; None: not measured")
    kept: KeptFigures | None = Field(default=None, description="variables, their tables and S_pMSE")
    withheld: tuple[str, ...] = Field(default=(), description="measures whose figures decide and are not told")
    analyses: dict[str, float | None] = Field(
        default={}, description="figures of the analyses that were asked for: of overlaps, ratios and agreements 1 is "
        "best, of differences 0"
    )  # fmt: skip
    tells: dict[str, Told] = Field(description="figures of risk, by rule")
    fails: tuple[str, ...] = Field(description="why the policy is not met; none: it is")
    report: str | None


class Comparison(FrozenModel):
    """Any number of plans on one map and side by side; aggregates of their dossiers alone."""

    map: RiskUtilityMap
    plans: tuple[PlanCompared, ...]


def compare(plans: Sequence[Plan], loss: str = DEFAULT_LOSS, risk: str = MARGIN) -> Comparison:
    """Put plans side by side; `loss` and `risk` as `risk_utility_map` takes them.

    raises : DataError when a plan is of tables, or no plan has the finding that an axis asks for
    """
    for plan in plans:
        if not isinstance(plan.dossier.view, RecordsView):
            raise DataError(f"{plan.name} publishes tables; only files of records can be compared.")
    drawn = risk_utility_map(plans, loss, risk)
    return Comparison(map=drawn, plans=tuple(_compared(letter(at), plan) for at, plan in enumerate(plans)))


def _losses(findings: Sequence[Finding]) -> dict[str, float | None]:
    """The figure of each measure of loss; of several findings of one measure, the worst."""
    found: dict[str, float | None] = {}
    for finding in findings:
        if finding.stage == "utility" and finding.rule not in _ANALYSES:
            known = [value for value in (found.get(finding.rule), finding.observed) if value is not None]
            found[finding.rule] = max(known, default=None)
    return found


def _compared(letter: str, plan: Plan) -> PlanCompared:
    dossier = plan.dossier
    by_rule: dict[str, list[Finding]] = {}
    for finding in dossier.findings:
        if finding.stage in RISK_STAGES:
            by_rule.setdefault(finding.rule, []).append(finding)
    return PlanCompared(
        letter=letter,
        name=plan.name,
        title=dossier.title,
        verdict=dossier.verdict.name,
        says=headline(dossier),
        policy=f"{dossier.policy} {dossier.policy_version}",
        records_original=dossier.records_original,
        records_released=dossier.view.records_released,
        steps=dossier.plan,
        variables=_variables(dossier),
        keeps=_losses(dossier.findings),
        kept=kept_figures(dossier),
        withheld=tuple(dict.fromkeys(finding.rule for finding in dossier.findings if finding.withheld)),
        analyses={
            f"{finding.rule}: {finding.scope}": finding.observed
            for finding in dossier.findings
            if finding.stage == "utility" and finding.rule in Analyses.model_fields
        }
        | _models(dossier),
        tells={rule: _told(found) for rule, found in by_rule.items()},
        fails=tuple(finding.says for finding in reasons(dossier)),
        report=plan.report,
    )


def _models(dossier: Dossier) -> dict[str, float | None]:
    """Coefficients of each model that turned; of one that was drafted, on which there is no finding, its overlap."""
    assert isinstance(dossier.view, RecordsView)
    found: dict[str, float | None] = {}
    for model in (dossier.view.utility and dossier.view.utility.models) or ():
        if model.drafted:
            found[f"models: {model.name}: overlap"] = model.overlap
        if model.coefficients:
            found[f"models: {model.name}: turned"] = float(len(model.turned))
    return found


def _told(found: Sequence[Finding]) -> Told:
    worst = max(found, key=lambda finding: finding.verdict)
    if (known := worst_margin(found).worst) is not None and known.verdict is worst.verdict:
        worst = known
    margin = risk_margin(worst)
    return Told(
        observed=worst.observed,
        limit=worst.limit,
        margin=margin if isfinite(margin) else None,
        verdict=worst.verdict.name,
        binding=any(finding.binding for finding in found),
    )


def _variables(dossier: Dossier) -> dict[str, str]:
    assert isinstance(dossier.view, RecordsView)
    released = dossier.view.records_released
    return {
        summary.name: _fate(summary, released, dossier.minimum_cell)
        for summary in dossier.view.variables
        if summary.role not in NAMES
    }


def _fate(summary: VariableSummary, released: int, smallest: int) -> str:
    """What became of a variable: how much of its entropy is left, and how many cells changed."""
    if summary.kind_after is None:
        return "not released"
    told = []
    if summary.entropy_before and summary.entropy_after is not None:
        left = min(1.0, summary.entropy_after / summary.entropy_before)
        told.append("all bits" if left > 0.9995 else f"{100 * left:.0f} % of its bits")
    if summary.changed:
        told.append(f"{share(summary.changed, released, smallest)} changed")
    if summary.suppressed:
        told.append(f"{share(summary.suppressed, released, smallest)} suppressed")
    return ", ".join(told) or "as it was"

"""Risk-utility map: plans as points, loss to the right and risk upwards, with what leads nowhere in two corners.

Source: Duncan, Keller-McNulty and Stokes (2001). The two corners are the file as it is, without loss and as risky as
it can be, and no file at all, without risk and of no use. On the Pareto front are the plans than which no other is
better in one respect and as good in the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan, nan
from string import ascii_uppercase

import numpy as np
import numpy.typing as npt
from pydantic import Field

from sluice.ground.arrays import FloatArray
from sluice.ground.document_parts import FrozenModel
from sluice.ground.errors import DataError
from sluice.ground.verdict import Finding, Verdict
from sluice.report.dossier import Dossier, RecordsView
from sluice.report.risk_margin import RISK_STAGES, RiskMargin, risk_margin, worst_margin
from sluice.report.wording import rule_words

DEFAULT_LOSS = "pair_marginals"
MARGIN = "margin"
DISCLOSURE_RISK = "dr"

# Measures that are 1 when nothing of the original is left.
_AT_MOST_ONE = ("pair_marginals", "triple_marginals", "generalization", "entropy", "changed_share", "suppressed_share")


class Axis(FrozenModel):
    """What is drawn in one direction."""

    name: str = Field(description="of the findings it is read from, or 'margin': the worst of all that decide")
    says: str = Field(description="what 0 and 1 mean, and which direction is worse")
    share: bool = Field(default=False, description="from 0 to 1 and no further")
    limits: tuple[float, ...] = Field(description="what the plans' policies allow")


class MapPoint(FrozenModel):
    """One plan."""

    letter: str
    name: str
    loss: float | None = Field(description="None: not measured, so that it is on no map")
    risk: float | None = Field(description="None: not known, or beyond every limit")
    withheld: bool = Field(default=False, description="the loss was measured and is not told: it tells of a few people")
    beyond: bool = Field(default=False, description="something was found of which the policy allows nothing")
    unknown: tuple[str, ...] = Field(default=(), description="rules that could not be judged: it may be riskier")
    worst: str = Field(default="", description="the rule from which the risk comes")
    verdict: str
    on_front: bool = Field(description="no other plan loses less and is as safe, or is safer and loses as little")
    report: str | None = Field(default=None, description="link to its report")


class Corner(FrozenModel):
    """The end that the map has in a corner; None where that is not known."""

    loss: float | None
    risk: float | None
    says: str


class RiskUtilityMap(FrozenModel):
    """Aggregates of the plans' dossiers alone."""

    loss: Axis
    risk: Axis
    points: tuple[MapPoint, ...]
    no_masking: Corner
    no_release: Corner
    notes: tuple[str, ...] = Field(default=(), description="why points should not be compared, or are missing")


@dataclass(frozen=True)
class Plan:
    """What is drawn as one point: a name, what is known of it, and where its report lies."""

    name: str
    dossier: Dossier
    report: str | None = None


def letter(place: int) -> str:
    """A to Z, then AA, AB and so on: the name of a plan on the map."""
    before, last = divmod(place, len(ascii_uppercase))
    return (letter(before - 1) if before else "") + ascii_uppercase[last]


def risk_utility_map(plans: Sequence[Plan], loss: str = DEFAULT_LOSS, risk: str = MARGIN) -> RiskUtilityMap:
    """Where each plan lies.

    plans  : at least one; of the same data, or the map says so
    loss   : a finding of stage "utility"; higher is a greater loss
    risk   : "margin", the worst margin (see `risk_margin`) of what decides: findings of reference standard and attacks,
             and rules on the file that are broken or could not be judged; all rules, where nothing else was measured. A
             rule, whose own worst margin it is then, whether it decides or not; or "dr", the
             disclosure risk DR of the score, where the policy asks for that
    raises : DataError when no plan has the finding that is asked for
    """
    _refuse_unknown("loss", loss, [f for p in plans for f in p.dossier.findings if f.stage == "utility"])
    if risk == DISCLOSURE_RISK and all(_disclosure_risk(plan.dossier).worst is None for plan in plans):
        raise DataError("--risk dr: no plan has a disclosure risk; its policy must have a limit on utility.score.")
    if risk not in (MARGIN, DISCLOSURE_RISK):
        _refuse_unknown("risk", risk, [f for p in plans for f in _risks(p.dossier)], MARGIN, DISCLOSURE_RISK)
    losses = [_loss(plan.dossier, loss) for plan in plans]
    margins = [
        _disclosure_risk(plan.dossier) if risk == DISCLOSURE_RISK else worst_margin(_looked_at(plan.dossier, risk))
        for plan in plans
    ]
    front = pareto_front(
        np.array([nan if found is None or found.observed is None else found.observed for found in losses]),
        np.array([nan if margin.unknown else margin.value for margin in margins]),
    )
    points = tuple(
        _point(letter(place), plan, found, margin, bool(front[place]))
        for place, (plan, found, margin) in enumerate(zip(plans, losses, margins, strict=True))
    )
    limits = sorted({found.limit for found in losses if found is not None and found.limit is not None})
    return RiskUtilityMap(
        loss=Axis(name=loss, says=f"{rule_words(loss)}: 0 is no loss, more is worse", limits=tuple(limits)),
        risk=Axis(
            name=risk,
            says=_risk_says(risk),
            share=risk == DISCLOSURE_RISK,
            limits=() if risk == DISCLOSURE_RISK else (1.0,),
        ),
        points=points,
        no_masking=_no_masking(plans, risk),
        no_release=_no_release(loss),
        notes=tuple(_notes(plans, points, loss)),
    )


def _disclosure_risk(dossier: Dossier) -> RiskMargin:
    """DR as if it were a margin; the finding on the score stands for the rule."""
    view = dossier.view
    shown = view.utility.score if isinstance(view, RecordsView) and view.utility is not None else None
    found = next((f for f in dossier.findings if f.stage == "utility" and f.rule == "score"), None)
    if shown is None or found is None:
        return RiskMargin(nan, None, ())
    return RiskMargin(shown.disclosure_risk, found, ())


_ON_THE_FILE = "masked"  # stage of rules whose figures are counted: kept is kept, however near, and no draw of luck


def _risk_says(risk: str) -> str:
    if risk == DISCLOSURE_RISK:
        return "disclosure risk DR, a weighted mean of shares linked and of values disclosed: 0 is none, 1 is all"
    of = "the worst of reference standard, attacks and broken rules" if risk == MARGIN else rule_words(risk)
    return f"figure of {of} as a share of its limit: 0 tells nothing, 1 is at the limit, more is worse"


def _refuse_unknown(axis: str, name: str, findings: Sequence[Finding], *further: str) -> None:
    known = sorted({finding.rule for finding in findings} | {*further})
    if name not in known:
        raise DataError(
            f"--{axis} {name}: none of the plans has it. Known: {', '.join(known)}.", came=name, allowed=known
        )


def _loss(dossier: Dossier, name: str) -> Finding | None:
    return next((f for f in dossier.findings if f.stage == "utility" and f.rule == name), None)


def _risks(dossier: Dossier) -> list[Finding]:
    return [finding for finding in dossier.findings if finding.stage in RISK_STAGES]


def _looked_at(dossier: Dossier, risk: str) -> list[Finding]:
    if risk != MARGIN:
        return [finding for finding in _risks(dossier) if finding.rule == risk]
    deciding = [finding for finding in _risks(dossier) if finding.binding]
    estimated = [finding for finding in deciding if finding.stage != _ON_THE_FILE]
    if worst_margin(estimated).worst is None:
        return deciding
    return [*estimated, *(f for f in deciding if f.stage == _ON_THE_FILE and f.verdict is not Verdict.PASS)]


def _point(letter: str, plan: Plan, loss: Finding | None, margin: RiskMargin, on_front: bool) -> MapPoint:
    return MapPoint(
        letter=letter,
        name=plan.name,
        loss=loss.observed if loss else None,
        withheld=loss is not None and loss.withheld,
        risk=margin.value if isfinite(margin.value) else None,
        beyond=margin.value == inf,
        unknown=margin.unknown,
        worst=margin.worst.rule if margin.worst else "",
        verdict=plan.dossier.verdict.name,
        on_front=on_front,
        report=plan.report,
    )


def _no_masking(plans: Sequence[Plan], risk: str) -> Corner:
    """By the rules that were held against the original; attacks are not played against it."""
    found = [
        (risk_margin(finding), finding.rule)
        for plan in plans
        for finding in plan.dossier.findings
        if finding.stage == "original" and risk in (MARGIN, finding.rule)
    ]
    known = [(margin, rule) for margin, rule in found if not isnan(margin)]
    if not known:
        says = "The data as they are: no loss. Its risk was not measured by this figure."
        return Corner(loss=0.0, risk=None, says=says)
    margin, rule = max(known)
    says = f"The data as they are: no loss; the risk is at least as drawn, by {rule_words(rule)}."
    if risk == MARGIN:
        says += " Attacks were not played against it."
    return Corner(loss=0.0, risk=margin if isfinite(margin) else None, says=says)


def _no_release(loss: str) -> Corner:
    if loss in _AT_MOST_ONE:
        return Corner(loss=1.0, risk=0.0, says="No file at all: nothing is told, and everything is lost.")
    return Corner(
        loss=None, risk=0.0, says=f"No file at all: nothing is told; {rule_words(loss)} has no largest value."
    )


def _notes(plans: Sequence[Plan], points: Sequence[MapPoint], loss: str) -> list[str]:
    notes = []
    if len({plan.dossier.dataset for plan in plans}) > 1 or len({p.dossier.records_original for p in plans}) > 1:
        notes.append("These plans are not of the same data: their figures do not measure the same thing.")
    policies = {(plan.dossier.policy, plan.dossier.policy_version) for plan in plans}
    if len(policies) > 1:
        notes.append("These plans were judged by different policies: at the limit is not the same risk for all.")
    if hidden := [f"{p.letter} ({p.name})" for p in points if p.withheld]:
        notes.append(
            f"Not on the map, for {rule_words(loss)} is not told, as it tells of a few people: {', '.join(hidden)}."
        )
    if absent := [f"{p.letter} ({p.name})" for p in points if p.loss is None and not p.withheld]:
        notes.append(f"Not on the map, for {rule_words(loss)} was not measured: {', '.join(absent)}.")
    if unrisked := [f"{p.letter} ({p.name})" for p in points if p.risk is None and not p.beyond and not p.unknown]:
        notes.append(f"Drawn at the top, for their risk was not measured by this figure: {', '.join(unrisked)}.")
    if unsure := [f"{p.letter} ({', '.join(map(rule_words, p.unknown))})" for p in points if p.unknown]:
        notes.append(f"Riskier than drawn, perhaps, for rules could not be judged: {', '.join(unsure)}.")
    return notes


def pareto_front(loss: FloatArray, risk: FloatArray) -> npt.NDArray[np.bool_]:
    """Which points no other one dominates; of both coordinates less is better.

    loss, risk : shape (n,), any finite unit each, infinite allowed; a point with a NaN is on no front and dominates
                 none
    returns    : shape (n,); points that are equal in both are on the front together
    raises     : DataError when the lengths differ
    cost       : O(n log n)

    Source: Duncan, Keller-McNulty and Stokes (2001), who draw risk against utility; the front is the set of
    undominated points.
    """
    if loss.shape != risk.shape or loss.ndim != 1:
        raise DataError(f"loss and risk must have one value for each plan; got shapes {loss.shape} and {risk.shape}.")
    front = np.zeros(len(loss), dtype=bool)
    known = np.flatnonzero(~(np.isnan(loss) | np.isnan(risk)))
    order = known[np.lexsort((risk[known], loss[known]))]
    best_risk, its_loss = np.inf, np.nan
    for at in order:
        if risk[at] < best_risk or (risk[at] == best_risk and (loss[at] == its_loss or not front.any())):
            front[at] = True
            best_risk, its_loss = risk[at], loss[at]
    return front

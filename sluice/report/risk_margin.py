"""Risk margin: how near a file comes to what its policy allows, on one scale for all rules.

A finding's margin is its figure divided by the limit where little is allowed, and the limit divided by the figure
where much is asked, as of k-anonymity: 0 tells nothing, 1 is at the limit, 2 is twice as bad. Which of the two a rule
is can be read off the verdict.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, nan

from sluice.ground.verdict import Finding, Verdict

RISK_STAGES = ("masked", "reference", "attack")  # what the released file gives away


@dataclass(frozen=True)
class RiskMargin:
    """The worst margin of some findings.

    value   : 0 or more, higher is worse; infinite where something was found of which nothing is allowed, or a rule
              without a figure is broken; NaN where no finding has a figure
    worst   : the finding it comes from, None without one
    unknown : rules that could not be judged: the true margin is `value` at least
    """

    value: float
    worst: Finding | None
    unknown: tuple[str, ...]


def risk_margin(finding: Finding) -> float:
    """One finding's margin; NaN where it could not be judged, or passes without a figure.

    A finding that needs a decision or fails has a margin of at least 1, though its own figure may keep the limit while
    the end of its interval does not. Of a limit of 0 the margin is 0 when nothing was found, or else infinite.
    """
    observed, limit = finding.observed, finding.limit
    if finding.verdict is Verdict.UNKNOWN:
        return nan
    passes = finding.verdict is Verdict.PASS
    if observed is None or limit is None:
        return nan if passes else inf
    asks_for_much = observed > limit if passes else finding.verdict is Verdict.FAIL and observed < limit
    figure, allowed = (limit, observed) if asks_for_much else (observed, limit)
    if allowed <= 0:
        return 0.0 if passes else inf
    found = max(figure, 0.0) / allowed
    return found if passes else max(found, 1.0)


def worst_margin(findings: Iterable[Finding]) -> RiskMargin:
    """The worst margin of findings, the first of equal ones."""
    value, worst, unknown = nan, None, []
    for finding in findings:
        margin = risk_margin(finding)
        if finding.verdict is Verdict.UNKNOWN:
            unknown.append(finding.rule)
        elif margin == margin and not margin <= value:  # the first is not below NaN
            value, worst = margin, finding
    return RiskMargin(value, worst, tuple(dict.fromkeys(unknown)))

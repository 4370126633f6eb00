"""Intruders against their limits: what the dot plot of the first screen draws, and the one sentence below it."""

from collections.abc import Iterable, Sequence
from math import isfinite

from pydantic import Field

from sluice.ground.document_parts import FrozenModel
from sluice.ground.verdict import Finding
from sluice.report.risk_margin import risk_margin
from sluice.report.wording import interval, percent, rule_words
from sluice.risk.attacks.attack_success import AttackSuccess

MOST = 6
_FINDS = {
    "learned_linkage": "finds the record",
    "learned_claims": "is sure and right",
    "attribute_gain": "learns a value",
    "transparency": "knows the method",
    "distance_linkage": "nearest record",
}
_OF_SHARES = ("learned_linkage", "learned_claims", "distance_linkage")  # right guesses as a share of the people


class Intruder(FrozenModel):
    """The figure of one kind of intruder, as a share of its limit."""

    name: str
    verdict: str = Field(description="of the finding: PASS, REVIEW, FAIL or UNKNOWN")
    share: float | None = Field(description="1: at the limit; None: without bound")
    low: float | None = Field(default=None, description="of the 95 % interval; None where none is known")
    high: float | None = None

    @property
    def of_limit(self) -> str:
        """The share in words."""
        return "beyond any limit" if self.share is None else f"{100 * self.share:.0f} % of its limit"


def intruders(findings: Iterable[Finding]) -> tuple[Intruder, ...]:
    """The worst of each kind that decides, the nearest to its limit first, at most MOST; withheld figures left out."""
    worst: dict[str, tuple[float, Finding]] = {}
    for finding in findings:
        if not finding.binding or (finding.rule not in _FINDS and finding.stage != "attack"):
            continue
        margin = risk_margin(finding)
        if margin != margin or finding.observed is None:
            continue
        if finding.rule not in worst or margin > worst[finding.rule][0]:
            worst[finding.rule] = margin, finding
    ranked = sorted(worst.values(), key=lambda pair: -pair[0])[:MOST]
    return tuple(_intruder(margin, finding) for margin, finding in ranked)


def _intruder(margin: float, finding: Finding) -> Intruder:
    name = _FINDS.get(finding.rule) or rule_words(finding.rule)
    low = high = None
    if (ends := _interval(finding)) and finding.limit and isfinite(margin):
        low, high = max(0.0, ends[0]) / finding.limit, ends[1] / finding.limit
    share = margin if isfinite(margin) else None
    return Intruder(name=name, verdict=finding.verdict.name, share=share, low=low, high=high)


def _interval(finding: Finding) -> tuple[float, float] | None:
    """What the finding says, or that of a share of the people who were tried."""
    if said := interval(finding):
        return said
    if finding.rule not in _OF_SHARES or not finding.completed or finding.observed is None:
        return None
    right = min(max(finding.observed, 0.0), 1.0) * finding.completed
    return AttackSuccess(finding.completed, finding.completed, right).exact()


def best_intruder(findings: Sequence[Finding]) -> str:
    """'The best intruder finds 5.2 % of 2,000 women (limit 9.0 %; by chance under 0.1 %).'; '' where none linked."""
    linking = [
        each
        for each in findings
        if each.binding and each.rule in ("learned_linkage", "distance_linkage") and each.observed is not None
    ]
    if not linking:
        return ""
    best = max(linking, key=lambda each: each.observed or 0.0)
    chance = best.data.get("chance")
    by_chance = f"; by chance {percent(chance)}" if isinstance(chance, float) else ""
    limit = f"limit {percent(best.limit)}" if best.limit is not None else "no limit"
    people = people_of([best])
    return f"The best intruder finds {percent(best.observed)} of the {people} ({limit}{by_chance})."


def people_of(findings: Iterable[Finding]) -> str:
    """What the records are of, such as 'women'."""
    return next((unit for each in findings if isinstance(unit := each.data.get("unit"), str)), "records")

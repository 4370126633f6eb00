"""Intruders against their limits: what the dot plot of the first screen draws, and the one sentence below it."""

from collections.abc import Iterable, Sequence
from math import inf, isfinite

from pydantic import Field

from sluice.ground.document_parts import FrozenModel
from sluice.ground.verdict import Finding, Verdict
from sluice.report.risk_margin import risk_margin
from sluice.report.wording import interval, near_limit, percent, rule_words
from sluice.risk.attacks.attack_success import AttackSuccess

MOST = 6
_FINDS = {
    "learned_linkage": "finds the record",
    "learned_claims": "is sure and right",
    "attribute_gain": "learns a value",
    "transparency": "knows the method",
    "distance_linkage": "takes the nearest",
}
_OF_SHARES = ("learned_linkage", "learned_claims", "distance_linkage")  # right guesses as a share of the people


class Intruder(FrozenModel):
    """The figure of one kind of intruder, as a share of its limit; below 1 also where only its interval crosses it."""

    name: str
    verdict: str = Field(description="of the finding: PASS, REVIEW, FAIL or UNKNOWN")
    share: float | None = Field(description="1: at the limit; None: without bound")
    low: float | None = Field(default=None, description="of the 95 % interval; None where none is known")
    high: float | None = None

    @property
    def who(self) -> str:
        """Whom the name is of."""
        return f"the intruder who {self.name}" if self.name in _FINDS.values() else self.name

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
    drawn = [_intruder(margin, finding) for margin, finding in sorted(worst.values(), key=lambda pair: -pair[0])]
    # By what is shown: a figure that has to be large, or whose interval crosses the limit, has another margin.
    return tuple(sorted(drawn, key=lambda one: -inf if one.share is None else -one.share)[:MOST])


def _intruder(margin: float, finding: Finding) -> Intruder:
    name = _FINDS.get(finding.rule) or rule_words(finding.rule)
    share, low, high = margin if isfinite(margin) else None, None, None
    observed, limit = finding.observed, finding.limit
    if share is None or observed is None or not limit or limit < 0:
        return Intruder(name=name, verdict=finding.verdict.name, share=share)
    much = _asks_for_much(finding, observed, limit)
    if ends := _interval(finding):
        low, high = sorted(_of_limit(end, limit, much) for end in ends)
    return Intruder(name=name, verdict=finding.verdict.name, share=_of_limit(observed, limit, much), low=low, high=high)


def _asks_for_much(finding: Finding, observed: float, limit: float) -> bool:
    """Whether the figure has to be at least the limit, by the side on which the finding says that it lies."""
    keeps = finding.verdict is Verdict.PASS
    if said := near_limit(finding):
        keeps = said.data.get("side") == "keeps"
    elif finding.verdict is Verdict.REVIEW:
        return False
    return observed != limit and keeps == (observed > limit)


def _of_limit(figure: float, limit: float, much: bool) -> float:
    if much:
        return limit / figure if figure > 0 else inf
    return max(0.0, figure) / limit


def _interval(finding: Finding) -> tuple[float, float] | None:
    """What the finding says, or that of a share of the people who were tried."""
    if said := interval(finding):
        return said
    if finding.rule not in _OF_SHARES or not finding.completed or finding.observed is None:
        return None
    right = min(max(finding.observed, 0.0), 1.0) * finding.completed
    return AttackSuccess(finding.completed, finding.completed, right).exact()


def best_intruder(findings: Sequence[Finding], short: bool = False) -> str:
    """'The best intruder finds 5.2 % of the women (limit 9.0 %; by chance under 0.1 %).'; '' where none linked.

    short : the figure and its limit alone
    """
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
    if short:
        return f"The best intruder finds {percent(best.observed)} ({limit})."
    people = people_of([best])
    return f"The best intruder finds {percent(best.observed)} of the {people} ({limit}{by_chance})."


def people_of(findings: Iterable[Finding]) -> str:
    """What the records are of, such as 'women'."""
    return next((unit for each in findings if isinstance(unit := each.data.get("unit"), str)), "records")

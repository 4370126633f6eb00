"""Rules on values that have ranks: how near each lies to its masked value, and the score of risk and loss together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, isfinite, nextafter
from statistics import fmean
from typing import Annotated, ClassVar, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from policies.reported_shares import disclosed_share
from policies.rules.attack_rule import RankedRule, Window, ranks_or_numbers
from policies.rules.linkage_rules import DistanceLinkage, ProbabilisticLinkage, RankSwappingLinkage
from sluice.ground.arrays import IntArray
from sluice.ground.sentence import END, Sentence, Sentences
from sluice.ground.verdict import Finding
from sluice.risk.linkage import interval_disclosure as intervals
from sluice.risk.linkage.interval_disclosure import interval_disclosure
from sluice.risk.linkage.linkage_score import FIGURES, Figure, Weighting, disclosure_risk, linkage_score
from sluice.risk.measurement import Measurement
from sluice.risk.reference.reference_attack import some_of
from sluice.utility.comparison import Comparison
from sluice.utility.continuous.mean_variations import il1s

_INTERVALS = Sentences(
    "interval_disclosure",
    inside="{share:Percent} of the original values of {names:commas} lie in a narrow interval around their masked "
    "value ({interval}).",
    no_values="No value is present both before and after masking.",
)

_SAYS = Sentences(
    "linkage_score",
    no_values="No value is present both before and after masking.",
    no_loss="A constant variable was changed, a loss without bound that has no score.",
    score=", with an information loss of {loss:percent} a score of {score:percent}.",
    unmasked=" Unmasked, the file has a score of {bare:percent}; a masked one must have a lower one.",
)

_LINKED = {
    "rsld": "{rsld:percent} by the window of rank swapping",
    "dld": "{dld:percent} by distance",
    "pld": "{pld:percent} by agreement",
}
_KNOWN = "Among the {unit}, somebody who knows their {names:commas} links "
_INSIDE = (
    "; {id:percent} of the values lie in a narrow interval around their masked value. Together this is a disclosure "
    "risk (DR) of {risk:percent}"
)
_RISK = {
    parts: Sentence(
        f"linkage_score.risk_{'_'.join(parts)}", _KNOWN + ", ".join(_LINKED[part] for part in parts) + _INSIDE
    )
    for parts in (("dld", "pld"), ("rsld",), tuple(_LINKED))
}

_MOST_KNOWN = 7  # variables, of the intruders over whom Torra (2013) averages


class MeasuredRisk(NamedTuple):
    """The disclosure risk DR of some variables, and the figures of which it is the weighted mean."""

    names: tuple[str, ...]
    parts: Mapping[Figure, Measurement]
    risk: Measurement


class LinkageScore(RankedRule):
    """Linkage and interval disclosure together, alone (DR) or averaged with the information loss (Score), stay low."""

    rule: Literal["linkage_score"] = "linkage_score"
    example: ClassVar[str] = "{rule: linkage_score, limit: 0.5}"
    about: ClassVar[str] = (
        "Disclosure risk and score: linkage, interval disclosure and information loss drawn together into one figure."
    )
    source: ClassVar[str] = (
        'Source: Torra (2013), "Rank swapping: Example II", "Example VI" and "Average of 1-7 variables". Information '
        "loss is IL1s (Yancey, Winkler and Creecy 2002), of which 1 is about what a random file has; the slides leave "
        "the measure open."
    )
    advice: ClassVar[str] = (
        "The finding names the part that weighs most: against linkage perturb over longer distances, against interval "
        "disclosure perturb each value more; where the score fails by its information loss, mask more gently."
    )
    of: Literal["risk", "score"] = Field(
        default="risk", description="risk: DR, a weighted mean of shares; score: the mean of DR and the loss IL1s"
    )
    weighting: Weighting = Field(
        default="generic",
        description=(
            "generic: a quarter each for distance-based and probabilistic linkage, half for intervals; "
            "specific: half each for rank swapping and intervals; with_specific, table: all four"
        ),
    )
    window: Window | None = Field(
        default=None, description="of the rank swapping, share of the records; for the weightings that play against it"
    )
    records: int = Field(
        default=5_000, ge=1, description="original records that are linked, drawn at random when there are more"
    )

    @property
    def bounds(self) -> Mapping[str, float]:
        """The information loss within a score has no largest figure."""
        return super().bounds if self.of == "risk" else {}

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if ("rsld" in FIGURES[self.weighting]) != (self.window is not None):
            raise ValueError("window is needed for the weightings specific, with_specific and table, and for no other")
        if self.of == "score" and (self.limit is None or self.excess is not None):
            raise ValueError("of: score takes limit and no excess, for no file has a score without being released")
        return self

    def measure(self, files: Comparison) -> MeasuredRisk | None:
        """DR of paired files, judged by no limit; None where no variable, or no value of one, can be compared.

        Linkage is the average over intruders who know the first variable, the first two and so on to seven, as in the
        table of Torra (2013); intervals are of all variables.
        """
        names = self._known(files)
        if not names or not len(files.masked):
            return None
        rows = some_of(len(files.masked), min(len(files.masked), self.records), files.rng)
        original, masked = (ranks_or_numbers(files, names, which) for which in ("recoded", "masked"))
        parts: dict[Figure, Measurement] = {"id": interval_disclosure(original, masked)}
        first = [names[:known] for known in range(1, min(len(names), _MOST_KNOWN) + 1)]
        for figure in FIGURES[self.weighting]:
            if figure == "dld":
                parts[figure] = DistanceLinkage(limit=1, scenario="average").link(files, first[-1], rows)[0]
            elif figure == "pld":
                rule = ProbabilisticLinkage(limit=1)
                parts[figure] = _average([rule.link(files, known, rows)[0] for known in first])
            elif figure == "rsld" and self.window is not None:
                swapping = RankSwappingLinkage(limit=1, window=self.window)
                parts[figure] = _average([swapping.link(files, known, rows)[0] for known in first])
        return MeasuredRisk(tuple(names), parts, self._risk(parts)) if parts["id"].completed else None

    def attack(self, files: Comparison, names: list[str]) -> Finding:
        original, masked = (ranks_or_numbers(files, names, which) for which in ("recoded", "masked"))
        rows = some_of(len(masked), min(len(masked), self.records), files.rng)
        parts = self._parts(files, names, rows)
        scope = ", ".join(names)
        if not parts["id"].completed:
            return self.unknown(_SAYS.no_values(), len(masked), scope)
        risk, loss = self._risk(parts), il1s(original, masked)
        shares = {name: disclosed_share(part.value, part.completed, files.minimum_cell) for name, part in parts.items()}
        linked = tuple(name for name in _LINKED if name in parts)
        says = _RISK[linked](unit=files.unit, names=names, risk=risk.value, **shares)
        if self.of == "risk":
            return self.judge(risk, says + END(), scope)
        if not isfinite(loss):
            return self.unknown(_SAYS.no_loss(), scope=scope)
        ends = [linkage_score(loss, end) for end in risk.interval or (risk.value, risk.value)]
        score = Measurement(
            linkage_score(loss, risk.value), risk.attempted, risk.completed, interval=(ends[0], ends[1])
        )
        says = says + _SAYS.score(loss=loss, score=score.value)
        # The original has no loss, and so a score of at most 0.5: one that is no better says nothing for the masking.
        bare = linkage_score(0.0, self._risk(self._parts(replace(files, masked=files.recoded), names, rows)).value)
        if score.value < bare:
            return self.judge(score, says, scope)
        said = says + _SAYS.unmasked(bare=bare)
        stricter = self.model_copy(update={"limit": min(self.limit or 0.0, nextafter(bare, -inf))})
        return stricter.judge(Measurement(score.value, score.attempted, score.completed), said, scope)

    def _parts(self, files: Comparison, names: list[str], rows: IntArray) -> dict[Figure, Measurement]:
        """The figures of which the disclosure risk is the mean."""
        original, masked = (ranks_or_numbers(files, names, which) for which in ("recoded", "masked"))
        parts: dict[Figure, Measurement] = {"id": interval_disclosure(original, masked)}
        for figure in FIGURES[self.weighting]:
            if figure == "dld":
                parts[figure] = DistanceLinkage(limit=1, scenario="average").link(files, names, rows)[0]
            elif figure == "pld":
                parts[figure] = ProbabilisticLinkage(limit=1).link(files, names, rows)[0]
            elif figure == "rsld" and self.window is not None:
                parts[figure] = RankSwappingLinkage(limit=1, window=self.window).link(files, names, rows)[0]
        return parts

    def _risk(self, parts: Mapping[Figure, Measurement]) -> Measurement:
        """DR of the figures, of their baselines and of the ends of their intervals."""

        def weighed(figures: dict[str, float]) -> float:
            return disclosure_risk(self.weighting, **figures)

        low, high = (
            weighed({name: (part.interval or (part.value, part.value))[end] for name, part in parts.items()})
            for end in (0, 1)
        )
        value = weighed({name: part.value for name, part in parts.items()})
        baseline = weighed({name: part.baseline or 0.0 for name, part in parts.items()})
        fewest = min(parts.values(), key=lambda part: part.completed)
        interval = (min(low, value), max(high, value))
        return Measurement(value, fewest.attempted, fewest.completed, interval=interval, baseline=baseline)

    def describe(self) -> str:
        what = "disclosure risk (DR)" if self.of == "risk" else "mean of disclosure risk and information loss (Score)"
        known = "quasi-identifiers and sensitive variables" if self.columns is None else ", ".join(self.columns)
        return f"The {what} of linkage and interval disclosure by {known} is low ({self.weighting} weights)."


def _average(found: Sequence[Measurement]) -> Measurement:
    """The mean of shares of the same records; the mean of their intervals' ends holds it at least as surely."""
    ends = [one.interval or (one.value, one.value) for one in found]
    return Measurement(
        fmean(one.value for one in found),
        found[0].attempted,
        found[0].completed,
        interval=(fmean(low for low, _ in ends), fmean(high for _, high in ends)),
        baseline=fmean(one.baseline or 0.0 for one in found),
    )


class IntervalDisclosure(RankedRule):
    """Few original values lie in a narrow interval around their masked value."""

    rule: Literal["interval_disclosure"] = "interval_disclosure"
    example: ClassVar[str] = "{rule: interval_disclosure, limit: 0.6}"
    about: ClassVar[str] = "Interval disclosure: original values that lie near their masked value."
    source: ClassVar[str] = (
        'Source: Torra (2013), "Average of 1-7 variables"; Mateo-Sanz, Sebe and Domingo-Ferrer (2004) for intervals in '
        "standard deviations."
    )
    advice: ClassVar[str] = (
        "Masked values stay within a narrow interval of the original ones: mask these variables with a larger amount "
        "of noise, window or base. It matters most for sensitive amounts, where nearly right is right."
    )
    by: Literal["rank", "spread"] = Field(
        default="rank", description="what the widths are shares of: the records in order, or a (robust) spread"
    )
    widths: Annotated[tuple[Window, ...], Field(min_length=1)] = Field(
        default=intervals.WIDTHS, description="half widths of the intervals over which the share is averaged, in (0, 1]"
    )

    def attack(self, files: Comparison, names: list[str]) -> Finding:
        original, masked = (ranks_or_numbers(files, names, which) for which in ("recoded", "masked"))
        measured = intervals.interval_disclosure(original, masked, self.by, self.widths)
        if not measured.completed:
            return self.unknown(_INTERVALS.no_values(), measured.attempted, ", ".join(names))
        share = disclosed_share(measured.value, measured.completed, files.minimum_cell)
        says = _INTERVALS.inside(share=share, names=names, interval=self._interval)
        return self.judge(measured, says, ", ".join(names), files.minimum_cell)

    @property
    def _interval(self) -> str:
        of = "the records in order" if self.by == "rank" else "the variable's spread"
        low, high = 100 * min(self.widths), 100 * max(self.widths)
        return f"{low:g} % of {of} to either side" if low == high else f"{low:g} to {high:g} % of {of} to either side"

    def describe(self) -> str:
        what = "quasi-identifiers and sensitive variables" if self.columns is None else ", ".join(self.columns)
        return f"Few original values of {what} lie near their masked value ({self._interval}; interval disclosure)."

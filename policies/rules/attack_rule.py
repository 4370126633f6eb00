"""AttackRule: a rule that plays an intruder with the original records against the masked file."""

from abc import abstractmethod
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from policies.check import Check, check
from sluice.ground.rule import NOT_JUDGED, DisclosureRule
from sluice.ground.sentence import Saying, Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.measurement import Measurement, if_near, verdict_within
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "attack",
    allows=" The policy allows {bound} {limit:percent}.",
    allows_beyond_baseline=" Without the file an intruder reaches {baseline:percent}; the policy allows "
    "{excess:percent} {direction}.",
    worse_than_guessing=" The attack did worse than guessing without the file, so it says nothing of the risk.",
    no_case=" No case could be examined.",
    no_baseline=" There is no baseline to compare it with.",
    not_played=" This attack was not played.",
)

Figure = Annotated[float, Field(allow_inf_nan=False)]


class AttackRule(DisclosureRule):
    """An attack, and the worst that it may achieve."""

    needs: ClassVar[str] = (
        "Give the attack what it lacks: columns that original and released file have in common, enough records, or a "
        "setting under which it does better than guessing."
    )
    limit: Figure | None = Field(default=None, description="worst figure allowed, in the unit of the measure")
    excess: Figure | None = Field(
        default=None, description="how much worse than its baseline the figure may be, in the unit of the measure"
    )
    binding: bool = Field(default=True, description="false: reported, but does not decide")

    @model_validator(mode="after")
    def _has_a_limit(self) -> Self:
        if self.limit is None and self.excess is None:
            raise ValueError(f"{self.rule} needs limit, excess or both; without either nothing could fail")
        return self

    @property
    def decides(self) -> bool:
        return self.binding

    @property
    def checks(self) -> list[Check]:
        return [check(self.rule, "attack", self.find)]

    @abstractmethod
    def find(self, files: Comparison) -> list[Finding]:
        """What the attack finds: at least one finding. Raises DataError when the files lack what it needs."""

    def judge(self, measured: Measurement, says: Saying, scope: str = "", minimum_cell: int = 0) -> Finding:
        """A finding on one figure; `says` gives it in words; the limits are added here.

        minimum_cell : a share of fewer people decides, and is not told; 0 where `says` tells it, or it is no share

        PASS when the whole interval keeps the limits, FAIL when none of it does, REVIEW between: what the sample
        cannot decide, a person does. Nothing completed, or an attack that does worse than its own baseline beyond
        chance (it was then played badly, and says nothing of the risk), is UNKNOWN.
        """
        said, few = says, 0 < measured.value * measured.completed < minimum_cell
        sign = 1.0 if measured.worse == "higher" else -1.0
        low, high = sorted(sign * end for end in (measured.interval or (measured.value, measured.value)))
        limits = []
        if self.limit is not None:
            limits.append(sign * self.limit)
            said += _SAYS.allows(bound="at most" if sign > 0 else "at least", limit=self.figure(self.limit))
        if self.excess is not None and measured.baseline is not None:
            limits.append(sign * measured.baseline + self.excess)
            said += _SAYS.allows_beyond_baseline(
                baseline=self.figure(measured.baseline),
                excess=self.figure(self.excess),
                direction="more" if sign > 0 else "less",
            )
        if measured.completed == 0:
            verdict, said = Verdict.UNKNOWN, says + _SAYS.no_case()
        elif not limits:
            verdict, said = Verdict.UNKNOWN, says + _SAYS.no_baseline()
        elif measured.baseline is not None and high < sign * measured.baseline:
            verdict = Verdict.UNKNOWN
            said += _SAYS.worse_than_guessing()
        else:
            allowed = min(limits)
            verdict = verdict_within((low, high), allowed)
            said += if_near(verdict, sign * measured.value, allowed)  # without ends, which might tell of a few
        return Finding(
            rule=self.rule,
            verdict=verdict,
            stage="attack",
            scope=scope,
            observed=None if few else measured.value,
            withheld=few,
            limit=sign * min(limits) if limits else None,
            attempted=measured.attempted,
            completed=measured.completed,
            binding=self.binding,
            **as_fields(said),
        )

    def figure(self, value: float) -> float | str:
        """A figure as the sentences have it, a share; one of another unit in words."""
        return value

    def not_applicable(self, why: Saying, attempted: int = 0, scope: str = "") -> Finding:
        """A finding that the attack has no sense on these files, so that a person decides whether it is missed."""
        return Finding(
            rule=self.rule, verdict=Verdict.REVIEW, stage="attack", scope=scope, attempted=attempted, completed=0,
            binding=self.binding, **as_fields(why + _SAYS.not_played()),
        )  # fmt: skip

    def unknown(self, why: Saying, attempted: int = 0, scope: str = "") -> Finding:
        """A finding that nothing could be measured, and why."""
        return Finding(
            rule=self.rule, verdict=Verdict.UNKNOWN, stage="attack", scope=scope, attempted=attempted, completed=0,
            binding=self.binding, **as_fields(why + NOT_JUDGED()),
        )  # fmt: skip

"""Verdict and Finding: the words that every layer speaks.

A measure, a rule or a gate ends in a `Finding`; findings add up to one `Verdict`. The worst binding finding decides,
and nothing at all is `UNKNOWN`: a release is never let through because a check was missing.
"""

from collections.abc import Iterable
from datetime import date
from enum import IntEnum
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from sluice.ground.sentence import Datum, Saying, Statement, as_fields
from sluice.ground.visible_text import one_line

_OneLine = Annotated[str, AfterValidator(one_line)]


class Verdict(IntEnum):
    """Ordered from good to bad; only `PASS` publishes. `REVIEW` is what people read as "needs a decision"."""

    PASS = 0
    REVIEW = 1
    FAIL = 2
    UNKNOWN = 3

    def __str__(self) -> str:
        return self.name


URGENCY = (Verdict.FAIL, Verdict.REVIEW, Verdict.UNKNOWN, Verdict.PASS)
"""The order in which people read of them: what could not be judged never stands before what fails."""


class Acceptance(BaseModel):
    """A person's word that a finding which needed a decision is accepted, for one release and until a day."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    by: _OneLine = Field(description="name on the roster")
    at: str = Field(description="ISO 8601, UTC: when it was recorded")
    until: date = Field(description="last day on which it holds")
    reason: _OneLine

    @property
    def says(self) -> str:
        """In a sentence."""
        return f"{self.by}, for this release until {self.until}: {self.reason}"


class Finding(BaseModel):
    """What one rule, gate or measure found. Holds aggregates only, never a value of a confidential column."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: str = Field(description="name of the rule or measure, as in the policy")
    verdict: Verdict
    says: _OneLine = Field(description="one or two plain sentences for a reader who is no statistician")
    code: str = Field(default="", description="what kind of finding it is; stays when the words of `says` change")
    data: dict[str, Datum] = Field(default_factory=dict, description="the figures and names that `says` tells")
    notes: tuple[Statement, ...] = Field(default=(), description="what `says` adds to that, each by its code and data")
    scope: _OneLine = Field(default="", description="what was looked at: a column, a group of columns, a step")
    stage: str = Field(default="", description="contract, original, masked, reference, attack, utility or pipeline")
    observed: float | None = None
    limit: float | None = None
    attempted: int | None = Field(default=None, description="cases the measure set out to examine")
    completed: int | None = Field(default=None, description="cases it did examine; the denominator of every share")
    withheld: bool = Field(
        default=False, description="True: there is a figure, which decides and is not told, as it tells of a few people"
    )
    advice: _OneLine = Field(default="", description="what to do about it when it did not pass, by `tasks.checks`")
    where: tuple[_OneLine, ...] = Field(
        default=(), description="the variables and released categories through which the rule is broken, the most first"
    )
    binding: bool = Field(default=True, description="False: reported, but does not decide")
    waiver: _OneLine | None = Field(
        default=None, description="who waived it, why and until when; stays visible in the report"
    )
    accepted: Acceptance | None = Field(
        default=None,
        exclude_if=lambda accepted: accepted is None,  # findings of before there were any stay the ones they were
        description="who accepted it for this release, where it needed a decision; stays visible in the report",
    )

    @property
    def applies(self) -> bool:
        """Whether there was any case to examine: a rule that passes without one does not apply."""
        return self.attempted != 0 or self.verdict is not Verdict.PASS

    @property
    def excused(self) -> bool:
        """Whether it keeps nothing back although it did not pass.

        A waiver excuses `REVIEW` and `FAIL`, an acceptance `REVIEW` alone; nothing excuses `UNKNOWN`.
        """
        if self.verdict is Verdict.REVIEW:
            return bool(self.waiver or self.accepted)
        return bool(self.waiver) and self.verdict is Verdict.FAIL

    def as_withheld(self, saying: Saying) -> "Finding":
        """The same finding, whose figure decides and is not told; it says this instead."""
        return self.model_copy(update={"observed": None, "withheld": True} | as_fields(saying))

    def adding(self, saying: Saying) -> "Finding":
        """The same finding, which says this besides."""
        if not self.code:
            return self.model_copy(update={"says": self.says + "".join(said.text for said in saying)})
        return self.model_copy(update=as_fields((*self.saying, *saying)))

    @property
    def saying(self) -> Saying:
        """What it says, by code and data; () of a finding without a code."""
        return (Statement(code=self.code, data=self.data), *self.notes) if self.code else ()

    def as_reported(self) -> "Finding":
        """The same finding, reported but not deciding."""
        return self.model_copy(update={"binding": False})


def keeping_back(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that keep a release back: what fails, what needs a decision, what could not be judged; otherwise in
    their order.

    What could not be judged stands last, so that it never hides what fails.
    """
    deciding = [finding for finding in findings if finding.binding and finding.verdict is not Verdict.PASS]
    left = (finding for finding in deciding if not finding.excused)
    return sorted(left, key=lambda finding: URGENCY.index(finding.verdict))


def codes_of(findings: Iterable[Finding]) -> list[str]:
    """The code of each, once and in their order; the rule's name where a finding has none. No figure, no name of data:
    the ledger and its lists can have them."""
    return list(dict.fromkeys(finding.code or finding.rule for finding in findings))


def decide(findings: Iterable[Finding]) -> Verdict:
    """The worst verdict among the binding findings that nothing excuses; `UNKNOWN` if there is none to decide by."""
    deciding = [Verdict.PASS if finding.excused else finding.verdict for finding in findings if finding.binding]
    return max(deciding, default=Verdict.UNKNOWN)

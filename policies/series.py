"""Approval of a series: people who approve an edition may approve those that follow it, within limits.

The people see one edition; every later one is judged by the whole policy as ever, and goes out without another decision
only while it stays near the one that they saw and the one before it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

from sluice.ground.sentence import percent
from sluice.ground.verdict import Finding, Verdict


class SeriesLimits(BaseModel):
    """What one approval of a series covers. Each limit holds against the edition that people approved and the last."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    editions: int = Field(ge=1, le=400, description="how many further editions")
    days: int = Field(ge=1, le=1100, description="for how long, from the first of the approvals")
    drift: float = Field(
        default=0.05,
        ge=0,
        lt=1,
        description="share of the records that would have to change to restore a variable's distribution (total "
        "variation distance)",
    )
    records: float = Field(default=0.1, ge=0, lt=1, description="change of the number of records, as a share of it")
    room: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description="share of what a figure, of risk or of information loss, had left to its limit that it may use up",
    )

    def describe(self) -> str:
        """The demand in one sentence, for the dossier."""
        return (
            f"Who approves with --series approves {self.editions} further editions, too, for {self.days} days; none of "
            f"them may differ by more than {percent(self.drift)} of a distribution, {percent(self.records)} of the "
            f"records, or {percent(self.room)} of what was left to a limit."
        )

    def departures(
        self,
        moved: Mapping[str, float],
        records: tuple[int, int],
        findings: tuple[Iterable[Finding], Iterable[Finding]],
    ) -> list[str]:
        """In what an edition leaves the limits, held against an earlier one; a sentence each.

        moved    : by variable, the total variation distance of its distribution; nan where it cannot be told
        records  : how many there are, and were
        findings : of this edition, and of the earlier one
        """
        found = [
            f"the distribution of '{name}' "
            + (f"moved by {percent(d)}, more than {percent(self.drift)}" if d == d else "could not be compared")
            for name, d in moved.items()
            if not d <= self.drift + 1e-9
        ]
        now, then = records
        if abs(now - then) > self.records * then + 1e-9:
            found.append(f"there are {now:,} records, and were {then:,}: a change of more than {percent(self.records)}")
        shown, before = ([each for each in some if each.stage not in _NOT_OF_IT] for some in findings)
        return [*found, *_worse(shown, before), *self._less_room(shown, before)]

    def _less_room(self, now: Sequence[Finding], before: Sequence[Finding]) -> Iterator[str]:
        """Which figures came too near to their limits. One that looked at nothing that was looked at then, such as at
        another group of variables, is held against the nearest of its rule."""
        known: dict[tuple[str, ...], float] = {}
        for each in before:
            if (room := _room(each)) is not None:
                for of in ((each.rule, each.stage), (each.rule, each.stage, each.scope)):
                    known[of] = min(room, known.get(of, room))
        for each in now:
            of_rule = (each.rule, each.stage)
            then, room = known.get((*of_rule, each.scope), known.get(of_rule)), _room(each)
            if room is not None and then is not None and then - room > self.room * abs(then) + 1e-9:
                yield f"{_called(each)} used up more than {percent(self.room)} of what it had left to its limit"


_NOT_OF_IT = ("original", "pipeline")  # the risk before masking, and remarks on waivers


def _worse(now: Sequence[Finding], before: Sequence[Finding]) -> Iterator[str]:
    """What has a worse verdict than it had, which a waiver excuses, or which is only reported: people saw it then."""
    then = {(each.rule, each.stage, each.scope): each.verdict for each in sorted(before, key=lambda each: each.verdict)}
    for each in now:
        was = then.get((each.rule, each.stage, each.scope), Verdict.PASS)
        if each.verdict > was:
            yield f"{_called(each)} is {each.verdict.name}, and was {was.name}"


def _room(finding: Finding) -> float | None:
    """How far a figure stays off its limit, below 0 on the wrong side; None where there is no figure.

    The verdict tells the side, be the limit a highest or a lowest value.
    """
    if finding.observed is None or finding.limit is None:
        return None
    distance = abs(finding.observed - finding.limit)
    return distance if finding.verdict is Verdict.PASS else -distance


def _called(finding: Finding) -> str:
    return f"{finding.rule} ({finding.stage}{f', {finding.scope}' if finding.scope else ''})"

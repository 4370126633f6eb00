"""Approval of a series: people who approve an edition may approve those that follow it, within limits.

The people see one edition; every later one is judged by the whole policy as ever, and goes out without another decision
only while it stays near the one that they saw and the one before it.
"""

from collections.abc import Collection, Iterable, Mapping
from itertools import groupby

from pydantic import BaseModel, ConfigDict, Field

from sluice.verdict import Finding, Verdict


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
    nearer: float = Field(
        default=0.1,
        ge=0,
        le=10,
        description="how much nearer a figure, of risk or of information loss, comes to its limit, as a share of the "
        "limit",
    )

    def describe(self) -> str:
        """The demand in one sentence, for the dossier."""
        return (
            f"Who approves with --series approves {self.editions} further editions, too, for {self.days} days; none of "
            f"them may differ by more than {self.drift:.1%} of a distribution, {self.records:.1%} of the records, or "
            f"{self.nearer:.1%} of a limit."
        )

    def departures(
        self,
        moved: Mapping[str, float],
        records: tuple[int, int],
        findings: tuple[Collection[Finding], Collection[Finding]],
    ) -> list[str]:
        """In what an edition leaves the limits, held against an earlier one; a sentence each.

        moved    : by variable, the total variation distance of its distribution; nan where it cannot be told
        records  : how many there are, and were
        findings : of this edition, and of the earlier one; both met the policy
        """
        found = [
            f"the distribution of '{name}' "
            + (f"moved by {d:.1%}, more than {self.drift:.1%}" if d == d else "could not be compared")
            for name, d in moved.items()
            if not d <= self.drift + 1e-9
        ]
        now, then = records
        if abs(now - then) > self.records * then + 1e-9:
            found.append(f"there are {now:,} records, and were {then:,}: more than {self.records:.1%} of a change")
        waived, before_waived = ({(each.rule, each.scope) for each in of if each.waiver} for of in findings)
        found += [f"{rule} is not met and needs a waiver now" for rule, _ in sorted(waived - before_waived)]
        rooms, before = (_room(each) for each in findings)
        for name in sorted(rooms.keys() & before.keys()):  # what compares editions has no figure in the first of them
            lost = before[name] - rooms[name]
            if lost > self.nearer + 1e-9:
                found.append(f"{name} came nearer to its limit by {lost:.1%} of it, more than {self.nearer:.1%}")
        return found


def _room(findings: Iterable[Finding]) -> dict[str, float]:
    """How far each rule's figure stays off its limit, as a share of it; the nearest where a rule has several.

    What passed is inside its limit, and what is waived is beyond it, so that the distance means the same for a figure
    with a highest and with a lowest value. Where the limit is 0 it is the figure itself.
    """
    figures = sorted(
        (f"{each.rule} ({each.stage})", _side(each) * abs(each.observed - each.limit) / (abs(each.limit) or 1))
        for each in findings
        if each.binding and each.observed is not None and each.limit is not None
    )
    return {name: min(room for _, room in of_rule) for name, of_rule in groupby(figures, lambda figure: figure[0])}


def _side(finding: Finding) -> int:
    return 1 if finding.verdict is Verdict.PASS else -1

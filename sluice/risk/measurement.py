"""Measurement: what every measure of disclosure risk returns, so that a policy can hold any of them to a limit.

What a finding adds where its interval lies on both sides of the limit.
"""

from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

from sluice.ground.sentence import Saying, Sentence
from sluice.ground.verdict import Verdict

_CHANCE = "that may be chance."
NEAR = Sentence(
    "near_limit",
    f" The figure itself {{side}} the limit, but its {{level:percent}} confidence interval crosses it: {_CHANCE}",
)
NEAR_WITH_ENDS = Sentence(
    "near_limit.interval",
    " The figure itself {side} the limit, but its {level:percent} confidence interval, {low:percent} to "
    f"{{high:percent}}, crosses it: {_CHANCE}",
)


@dataclass(frozen=True)
class Measurement:
    """One figure with all that is needed to judge it.

    value     : the figure, in the unit that the measure's docstring states
    attempted : cases (records, guesses, cells) that the measure set out to examine
    completed : cases that it did examine; the denominator of every share. None examined: nothing was measured
    worse     : the direction in which the risk grows
    interval  : confidence interval at `level`; None: the figure is exact, no chance was involved
    baseline  : the same figure for an intruder who has no released file (or one that the person is not in); None: the
                measure has none
    """

    value: float
    attempted: int
    completed: int
    worse: Literal["higher", "lower"] = "higher"
    interval: tuple[float, float] | None = None
    level: float = 0.95
    baseline: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.completed <= self.attempted:
            raise ValueError(f"completed must be from 0 to attempted, {self.attempted}; got {self.completed}")
        if self.interval is not None and not self.interval[0] <= self.value <= self.interval[1]:
            raise ValueError("the interval must hold the value")

    @property
    def excess(self) -> float | None:
        """How much worse than the baseline, below 0 where it is better; None without a baseline."""
        if self.baseline is None:
            return None
        return (self.value - self.baseline) * (1 if self.worse == "higher" else -1)

    def at(self, level: float, widened: float = 1) -> "Measurement":
        """The same with the interval of another level, by the normal law on either side of the value, so much wider."""
        if self.interval is None:
            return self
        normal = NormalDist()
        by = widened * normal.inv_cdf((1 + level) / 2) / normal.inv_cdf((1 + self.level) / 2)
        low, high = (self.value + (end - self.value) * by for end in self.interval)
        return replace(self, interval=(low, high), level=level)

    def moved_to(self, value: float) -> "Measurement":
        """The same excess, from another baseline."""
        if self.baseline is None or self.interval is None:
            return self
        by, (low, high) = value - self.value, self.interval
        return replace(self, value=value, baseline=self.baseline + by, interval=(low + by, high + by))

    def at_least_baseline(self) -> "Measurement":
        """What an intruder achieves who may leave the masked file aside: never less than without it."""
        if self.baseline is None or self.interval is None:
            return self
        low, high = (max(end, self.baseline) for end in self.interval)
        return replace(self, value=max(self.value, self.baseline), interval=(low, high))

    def either_way(self) -> "Measurement":
        """The figure of an intruder who does the opposite where that does better than the baseline, beyond chance."""
        if self.baseline is None or self.interval is None or self.worse == "lower":
            return self
        if self.interval[1] >= self.baseline:
            return self
        high, low = (2 * self.baseline - end for end in self.interval)
        return replace(self, value=2 * self.baseline - self.value, interval=(low, high))

    def beyond_baseline(self) -> "Measurement":
        """The excess as a figure of its own, whose baseline is 0; itself where there is no baseline or no case."""
        if self.baseline is None or not self.completed:
            return self
        sign = 1 if self.worse == "higher" else -1
        ends = self.interval and sorted(sign * (end - self.baseline) for end in self.interval)
        return Measurement(
            value=sign * (self.value - self.baseline),
            attempted=self.attempted,
            completed=self.completed,
            interval=(ends[0], ends[1]) if ends else None,
            level=self.level,
            baseline=0.0,
        )


def verdict_within(interval: tuple[float, float], limit: float) -> Verdict:
    """PASS when the whole interval keeps the limit, FAIL when none of it does, REVIEW between; the larger is worse."""
    low, high = interval
    return Verdict.PASS if high <= limit else Verdict.FAIL if low > limit else Verdict.REVIEW


def if_near(
    verdict: Verdict,
    value: float,
    limit: float,
    interval: tuple[float | str, float | str] | None = None,
    level: float = 0.95,
) -> Saying:
    """What to add when the interval crosses the limit; else nothing.

    value, limit : the larger is worse; the sentence says on which side of the limit the figure itself lies
    interval     : its ends, as words where they are written in another way; None where they would tell of a few people
    """
    if verdict is not Verdict.REVIEW:
        return ()
    side = "keeps" if value <= limit else "is beyond"
    if interval is None:
        return NEAR(side=side, level=level)
    return NEAR_WITH_ENDS(side=side, level=level, low=interval[0], high=interval[1])

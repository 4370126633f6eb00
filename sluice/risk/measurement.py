"""Measurement: what every measure of disclosure risk returns, so that a policy can hold any of them to a limit."""

from dataclasses import dataclass
from typing import Literal


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

"""How long a search may take, and whom it tells how far it is.

The clock comes from outside, so that a search without a budget depends on its arguments alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from sluice.ground.errors import DataError

Clock = Callable[[], float]
Progress = Callable[[str, int, int], None]
"""(stage, done, of): stages are 'protect', 'clean up' and 'shake', and 'prove' of `optimise`; `done` may fall again"""


@dataclass(frozen=True)
class Effort:
    """Without limit when not given: the outcome is then always the same.

    deadline : by the clock; what makes a pattern safe is finished whatever the time, what makes it cheaper is left
    clock    : seconds since some moment, the same in all processes (time.monotonic)
    progress : is called now and then
    """

    deadline: float = float("inf")
    clock: Clock | None = None
    progress: Progress | None = None

    @classmethod
    def of(cls, seconds: float | None, clock: Clock, progress: Progress | None = None) -> "Effort":
        """From now on for so many seconds; without limit when None. Raises DataError for less than 0."""
        if seconds is None:
            return cls(progress=progress)
        if not seconds >= 0:
            raise DataError(f"seconds must be 0 or more; got {seconds:g}.")
        return cls(clock() + seconds, clock, progress)

    @property
    def left(self) -> float:
        """Seconds, 0 or more."""
        return float("inf") if self.clock is None else max(0.0, self.deadline - self.clock())

    @property
    def spent(self) -> bool:
        """Whether no time is left."""
        return self.left <= 0

    def part(self, share: float) -> "Effort":
        """This share of the time that is left."""
        if self.clock is None:
            return self
        return replace(self, deadline=self.clock() + share * self.left)

    def unseen(self) -> "Effort":
        """Without progress: what another process can be given."""
        return replace(self, progress=None)

    def tell(self, stage: str, done: int, of: int) -> None:
        """Report progress."""
        if self.progress is not None:
            self.progress(stage, done, of)

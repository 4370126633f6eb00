"""The time that a search has, its last judgement included, and whether somebody asked it to stop."""

from collections.abc import Callable
from math import inf
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

_KEPT = 0.25  # share of the time that is kept for judging the best plans again
_LONGER = 1.5  # times what a judgement took: another may take longer
_JUDGEMENTS = 2  # of the best plan


class Allowance:
    """Asked before each trial. Nothing is begun that would end too late, by what the dearest so far took.

    minutes : from now on; None for no limit
    clock   : seconds of any origin
    """

    def __init__(self, minutes: float | None = None, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._begun, self._seconds = clock, clock(), inf
        self._dearest = 0.0
        self.stopped = False
        self.limit(minutes)

    def limit(self, minutes: float | None) -> None:
        """Allow so many minutes from the beginning."""
        if minutes is not None:
            self._seconds = 60 * minutes

    def stop(self) -> None:
        """Somebody asks the search to stop."""
        self.stopped = True

    def refuse_stopped(self) -> None:
        """Raise KeyboardInterrupt once somebody asked to stop: a library may have made another error of the first."""
        if self.stopped:
            raise KeyboardInterrupt

    def took(self, seconds: float) -> None:
        """A judgement of all records under attack took so long."""
        self._dearest = max(self._dearest, seconds)

    @property
    def left(self) -> float:
        """Seconds."""
        return self._seconds - (self._clock() - self._begun)

    @property
    def for_search(self) -> bool:
        """Whether another trial may begin, and the best plan be judged again after it."""
        kept = max(_KEPT * self._seconds, _JUDGEMENTS * _LONGER * self._dearest) if self._seconds < inf else 0.0
        return self.left > kept

    @property
    def for_judgement(self) -> bool:
        """Whether one more plan may be judged on all records."""
        return self.allows(1)

    def allows(self, judgements: float) -> bool:
        """Whether so many plans may be judged, each as long as the dearest so far and somewhat longer."""
        return self.left > judgements * _LONGER * self._dearest

    def timed(self, judge: Callable[[], T]) -> T:
        """What a judgement of all records comes to; the time that it takes is noted."""
        begun = self._clock()
        found = judge()
        self.took(self._clock() - begun)
        return found

"""The time that a search has, its last judgement included, and whether somebody, or the clock, asked it to stop."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf, isfinite
from threading import current_thread, main_thread
from time import monotonic
from typing import Any, TypeVar

T = TypeVar("T")

_KEPT = 0.25  # share of the time that is kept for judging the best plans again
_LONGER = 1.5  # times what a judgement took: another may take longer
_JUDGEMENTS = 2  # of the best plan
_SOONEST = 0.001  # seconds until an alarm rings: of 0 it never does


class Allowance:
    """Asked before each trial. Nothing is begun that would end too late, by what the dearest so far took.

    minutes : from now on; None for no limit
    clock   : seconds of any origin
    """

    def __init__(self, minutes: float | None = None, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._begun, self._seconds = clock, clock(), inf
        self._dearest = 0.0
        self._whole = self
        self._is_stopped = False
        self.limit(minutes)

    def part(self, seconds: float) -> "Allowance":
        """So many of the seconds that are left, at most all of them, for judgements of another price. Who stops one of
        both stops both."""
        found = Allowance(min(seconds, self.left) / 60, self._clock)
        found._whole = self._whole
        return found

    @property
    def stopped(self) -> bool:
        return self._whole._is_stopped

    def limit(self, minutes: float | None) -> None:
        """Allow so many minutes from the beginning."""
        if minutes is not None:
            self._seconds = 60 * minutes

    def stop(self) -> None:
        """Somebody asks the search to stop."""
        self._whole._is_stopped = True

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
        return not self.stopped and self.left > judgements * _LONGER * self._dearest

    def timed(self, judge: Callable[[], T]) -> T:
        """What a judgement of all records comes to; the time that it takes is noted."""
        begun = self._clock()
        found = judge()
        self.took(self._clock() - begun)
        return found


@contextmanager
def stopping(allowance: Allowance) -> Iterator[None]:
    """Ctrl-C and SIGTERM end the search, of which it is said what was found; a second one ends the command.

    raises: KeyboardInterrupt inside, after `allowance.stop()`; nothing but in the main thread
    """
    if current_thread() is not main_thread():
        yield
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {each: signal.getsignal(each) for each in signals}

    def stop(number: int, frame: Any) -> None:
        allowance.stop()
        for each in signals:
            signal.signal(each, before[each])
        on_ctrl_c = before[signal.SIGINT]
        if callable(on_ctrl_c):
            on_ctrl_c(number, frame)
        raise KeyboardInterrupt

    try:
        for each in signals:
            signal.signal(each, stop)
        yield
    finally:
        for each in signals:
            signal.signal(each, before[each])


@contextmanager
def until_stopped(allowance: Allowance) -> Iterator[None]:
    """What is done inside ends where the allowance is stopped, and what comes after it goes on."""
    try:
        yield
    except KeyboardInterrupt:
        if not allowance.stopped:
            raise


def until_the_end(allowance: Allowance, work: Callable[[], None]) -> None:
    """Work that ends where the allowance is stopped, or its time is over, in the midst of a judgement if need be.

    A function, not a context: the alarm may ring between any two lines, also those that enter a block or leave it.
    Time is kept in the main thread alone.
    """
    if current_thread() is not main_thread() or not isfinite(allowance.left):
        with until_stopped(allowance):
            work()
        return
    before, ended = signal.getsignal(signal.SIGALRM), False

    def ring(number: int, frame: Any) -> None:
        if not ended:
            allowance.stop()
            raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, ring)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, max(allowance.left, _SOONEST))
            work()
        finally:
            ended = True
    except KeyboardInterrupt:
        if not allowance.stopped:
            raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

"""Which step runs, and for how long: for whoever waits."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

from sluice.ground.log import log
from sluice.ground.progress import report

Listener = Callable[[str, float | None], None]
"""(step, seconds it took; None when it begins)"""

_QUIET = 30.0  # seconds between two lines of one stage

_listeners: list[Listener] = []
_readers: list[Callable[[str], None]] = []


@contextmanager
def listening(listener: Listener, reader: Callable[[str], None] | None = None) -> Iterator[None]:
    """Let `listener` know of every step that runs in this process meanwhile, and `reader` of each remark."""
    _listeners.append(listener)
    readers = [reader] if reader else []
    _readers.extend(readers)
    try:
        yield
    finally:
        _listeners.remove(listener)
        for each in readers:
            _readers.remove(each)


def remark(says: str) -> None:
    """Say at once what a step found, and what else stands in the report that comes at the end."""
    for reader in _readers:
        reader(says)


@contextmanager
def announced(step: str) -> Iterator[None]:
    """Let whoever listens know that a step begins and, however it ends, that it ended."""
    begun = perf_counter()
    log("step begins", step=step)
    for listener in _listeners:
        listener(step, None)
    try:
        yield
    finally:
        seconds = perf_counter() - begun
        log("step ends", step=step, seconds=round(seconds, 3))
        for listener in _listeners:
            listener(step, seconds)


class SearchLog:
    """Writes to the log how far a search within a step is: when a stage begins, and every half a minute of it."""

    def __init__(self, step: str) -> None:
        self._step, self._stage, self._said = step, "", 0.0

    def __call__(self, stage: str, done: int, of: int) -> None:
        report(stage, done, max(of, 1))
        now = perf_counter()
        if stage != self._stage or now - self._said >= _QUIET:
            self._stage, self._said = stage, now
            log("search", step=self._step, detail=f"{stage}: {100 * done // max(of, 1)} %")

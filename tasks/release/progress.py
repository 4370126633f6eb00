"""Which step runs, and for how long: for whoever waits."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

from sluice.log import log

Listener = Callable[[str, float | None], None]
"""(step, seconds it took; None when it begins)"""

_listeners: list[Listener] = []


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let `listener` know of every step that runs in this process meanwhile."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


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

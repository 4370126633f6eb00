"""Progress: what a long computation does and how far it is, for whoever waits for it.

The outer loops of what takes long say where they are; nothing of the data is in it, and where nobody listens it costs a
look at a variable. A listener hears what runs in its own thread: loops in other threads and processes are counted by
the one that waits for them; of whole jobs side by side `in_threads` tells.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

Listener = Callable[[str, int, int], None]
"""(what is being done, how many parts of it are, of how many); of 0: something begins that is not counted"""

_listener: ContextVar[Listener | None] = ContextVar("progress", default=None)


@contextmanager
def reported_to(listener: Listener) -> Iterator[None]:
    """Let `listener` hear how far the computations are that run meanwhile."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def listener() -> Listener | None:
    """Who hears of this thread's computations."""
    return _listener.get()


def report(what: str, done: int = 0, of: int = 0) -> None:
    """Say what begins, or how much of it is done."""
    if (listener := _listener.get()) is not None:
        listener(what, done, of)


def counted(items: Iterable[T], what: str, of: int) -> Iterable[T]:
    """The same items, of which there are `of`; each is done when the next is asked for."""
    return items if _listener.get() is None else _counted(items, what, of)


def _counted(items: Iterable[T], what: str, of: int) -> Iterator[T]:
    report(what, 0, of)
    for done, item in enumerate(items, start=1):
        yield item
        report(what, done, of)

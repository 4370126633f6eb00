"""Independent jobs, several at a time: in threads, as numpy and compiled kernels let go of the interpreter meanwhile,
and in processes that end with the one that they work for.

A parent that is killed tells its pool nothing: its workers would go on with what they have, and then wait for ever,
each with the records in its memory.
"""

import os
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import lru_cache
from multiprocessing import parent_process
from threading import Event, Lock, Thread
from time import sleep
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from sluice.ground.machine import threads
from sluice.ground.progress import Listener, listener, reported_to

_EACH = 1.0  # second, in which the parent is looked for

_AHEAD = 4  # items a thread that are begun before the first is asked for

S = TypeVar("S")
T = TypeVar("T")


def in_threads(jobs: Sequence[Callable[[], T]], at_once: int) -> list[T]:
    """What each job returns, in their order.

    at_once : so many run at a time
    raises  : what the first of them to fail raised. The others, as at Ctrl-C, end where they next say how far they are,
              or do not begin.
    """
    if at_once < 2:
        return [job() for job in jobs]
    told = _Told(listener())
    # Linear algebra that takes every core for each job waits more than it computes: the jobs share them. Two libraries
    # that silence their warnings at a time put back each other's filters.
    libraries = _libraries(len(sys.modules))
    each = max(1, max((pool["num_threads"] for pool in libraries.info()), default=1) // at_once)
    with libraries.limit(limits=each), warnings.catch_warnings(), ThreadPoolExecutor(at_once) as pool:
        running = [pool.submit(copy_context().run, told.run, at, job) for at, job in enumerate(jobs)]
        try:
            wait(running, return_when=FIRST_EXCEPTION)
            if told.failed:
                raise told.failed[0]
        finally:
            told.stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
        return [each.result() for each in running]


@lru_cache(maxsize=1)
def _libraries(modules: int) -> Any:
    """Those of linear algebra in this process, looked for again where a module was loaded since: 2 ms."""
    return ThreadpoolController()  # type: ignore[no-untyped-call]


def each_in_threads(look: Callable[[S], T], items: Sequence[S], at_once: int | None = None) -> Iterator[T]:
    """What `look` returns for each item, in their order; looked at in as many threads as compiled kernels have.

    at_once : so many threads instead. Of one nobody begins it: to hand over takes longer than many a small look
    memory  : so many results are held as keep the threads busy
    """
    workers = threads() if at_once is None else at_once
    if min(workers, len(items)) < 2:
        yield from map(look, items)
        return
    with ThreadPoolExecutor(workers) as pool:
        begun: deque[Future[T]] = deque()
        for item in items:
            begun.append(pool.submit(look, item))
            if len(begun) > _AHEAD * workers:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()


class _Stopped(BaseException):
    """Nobody waits for this job any more. No `Exception`: a measure that failed is something else."""


class _Told:
    """What the jobs say of their progress: whoever listens hears the first of those that run."""

    def __init__(self, tell: Listener | None) -> None:
        self.stopped = Event()
        self.failed: list[BaseException] = []  # the first comes first
        self._tell = tell or (lambda what, done, of: None)
        self._lock = Lock()
        self._stages: dict[int, str] = {}  # of each job that runs

    def run(self, at: int, job: Callable[[], T]) -> T:
        def heard(what: str, done: int, of: int) -> None:
            if self.stopped.is_set():
                raise _Stopped
            with self._lock:
                if not of:
                    self._stages[at] = what
                if at == min(self._stages):
                    self._tell(what, done, of)

        with self._lock:
            if self.stopped.is_set():
                raise _Stopped
            self._stages[at] = ""
        try:
            with reported_to(heard):
                return job()
        except BaseException as error:
            with self._lock:
                self.failed.append(error)
                self.stopped.set()
            raise
        finally:
            with self._lock:
                was_first = at == min(self._stages)
                del self._stages[at]
                if was_first and self._stages:
                    self._tell(self._stages[min(self._stages)], 0, 0)


def end_with_parent() -> None:
    """In a process of a pool, for its initializer: end within a second or two of the process that made it.

    raises : RuntimeError in a process that `multiprocessing` did not make
    """
    parent = parent_process()
    if parent is None or parent.pid is None:
        raise RuntimeError("this process has no parent")
    Thread(target=_end_after, args=(parent.pid,), name="end with parent", daemon=True).start()


def _end_after(parent: int) -> None:
    while os.getppid() == parent:  # an orphan gets another
        sleep(_EACH)
    os._exit(1)  # what is at work here has nobody to give its result to

"""Processes that try plans beside each other; each holds the records once."""

from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

from sluice.ground.child_process import end_with_parent
from tasks.tuning.records_at_hand import RecordsAtHand

_THERE: list[tuple[RecordsAtHand, RecordsAtHand | None]] = []


@contextmanager
def processes(records: RecordsAtHand, workers: int, whole: RecordsAtHand | None = None) -> Iterator[Executor | None]:
    """So many processes that have the records, as `records_there` gives them; None for one, which is this one.

    They get the records through a pipe, and write nothing to a disk. What was not begun when the block ends is
    not done.
    """
    if workers < 2:
        yield None
        return
    context = get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(records, whole, workers))
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def records_there() -> tuple[RecordsAtHand, RecordsAtHand | None]:
    """In such a process: the records that it holds, and all records where these are a part of them."""
    return _THERE[0]


def _begin(records: RecordsAtHand, whole: RecordsAtHand | None, workers: int) -> None:
    """What a process does before its first trial: keep the records and its share of the threads."""
    import numba

    end_with_parent()
    numba.set_num_threads(max(1, numba.config.NUMBA_NUM_THREADS // workers))
    _THERE[:] = [(records, whole)]

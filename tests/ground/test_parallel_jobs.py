"""Processes of a pool do not outlive the one that made it."""

import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from threading import Barrier, Event, get_ident

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sluice.ground.parallel_jobs import each_in_threads, end_with_parent, in_threads
from sluice.ground.progress import report, reported_to
from tests.golden import golden

POOL = """
import os, sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from sluice.ground.parallel_jobs import end_with_parent

def work(_):
    os.write(1, f"{os.getpid()}\\n".encode())
    while True:
        pass

if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=get_context(sys.argv[1]), initializer=end_with_parent) as pool:
        list(pool.map(work, [None] * 2))
"""


@pytest.mark.servers
@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_workers_end_when_their_parent_is_killed(tmp_path: Path, start: str) -> None:
    """All of them write to one pipe, whose end is read when the last of them is gone."""
    script = tmp_path / "pool.py"
    script.write_text(POOL)
    parent = subprocess.Popen([sys.executable, str(script), start], stdout=subprocess.PIPE)
    try:
        assert parent.stdout is not None
        workers = {int(parent.stdout.readline()) for _ in range(2)}
        assert len(workers) == 2
        assert parent.poll() is None
    finally:
        parent.kill()
    assert parent.communicate(timeout=60)[0] == b""


def test_it_is_for_children_alone() -> None:
    golden.refused(RuntimeError, end_with_parent)


# Jobs beside each other: all results in order, one voice, and nobody left running.


@pytest.mark.parametrize(
    ("at_once", "awaits"), [(1, {}), (2, {0: 4}), (7, {0: 1, 1: 2, 2: 3, 3: 4})], ids=["alone", "last first", "reverse"]
)
def test_results_come_in_the_order_of_the_jobs(at_once: int, awaits: dict[int, int]) -> None:
    done = [Event() for _ in range(5)]

    def job(number: int) -> int:
        assert number not in awaits or done[awaits[number]].wait(20)
        done[number].set()
        return number

    assert in_threads([partial(job, number) for number in range(5)], at_once) == [0, 1, 2, 3, 4]
    assert in_threads([], at_once) == []


def test_jobs_run_beside_each_other() -> None:
    met = Barrier(2, timeout=20)  # nobody passes it alone
    assert sorted(in_threads([met.wait, met.wait], 2)) == [0, 1]


def test_who_listens_hears_the_first_job_that_runs() -> None:
    first_said, second_said, first_ended = Event(), Event(), Event()
    heard = []

    def listen(*said: object) -> None:
        heard.append(said)
        if said == ("second", 0, 0):  # which is said again when its turn comes
            first_ended.set()

    def first() -> None:
        report("first", 0, 0)
        first_said.set()
        assert second_said.wait(20)
        report("people", 1, 2)

    def second() -> None:
        assert first_said.wait(20)
        report("second", 0, 0)
        report("records", 1, 2)
        second_said.set()
        assert first_ended.wait(20)
        report("records", 2, 2)

    with reported_to(listen):
        in_threads([first, second], 2)
    assert heard == [("first", 0, 0), ("people", 1, 2), ("second", 0, 0), ("records", 2, 2)]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_when_one_fails_the_others_end_where_they_next_report(error: type[BaseException]) -> None:
    begun, started, ended = Event(), [], []

    def endless() -> None:
        started.append("started")
        try:
            while True:
                begun.set()
                report("on and on", 0, 0)
        except Exception:  # a measure that catches its errors does not catch this
            ended.append("caught")
        finally:
            ended.append("ended")

    def failing() -> None:
        assert begun.wait(20)
        raise error("no")

    with pytest.raises(error, match="no"):
        in_threads([endless, failing, endless], 2)
    assert (started, ended) == (["started"], ["ended"])  # the last did not begin


def test_filters_of_warnings_are_those_of_before() -> None:
    before, entered, left = warnings.filters[:], Barrier(2, timeout=20), Event()

    def first() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            entered.wait()
        left.set()

    def second() -> None:
        with warnings.catch_warnings():
            entered.wait()
            assert left.wait(20)

    in_threads([first, second], 2)
    assert warnings.filters[:] == before


def test_jobs_share_the_threads_of_linear_algebra() -> None:
    def most() -> int:
        np.linalg.inv(np.eye(2))  # the library is loaded
        return max(int(pool["num_threads"]) for pool in threadpool_info() if pool["user_api"] == "blas")

    with threadpool_limits(2):
        assert most() == 2
        assert in_threads([most, most], 2) == [1, 1]
        assert most() == 2


# Items of one kind: results in order, no more held than keep the threads busy, and no thread for a single one.


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_each_item_is_looked_at_in_order_and_no_more_than_needed_ahead(at_once: int) -> None:
    begun: list[int] = []
    looks = each_in_threads(lambda item: begun.append(item) or item**2, range(100), at_once)
    assert [next(looks), next(looks)] == [0, 1]
    assert len(begun) <= 4 * at_once + 2
    assert [*looks] == [item**2 for item in range(2, 100)]
    assert sorted(begun) == [*range(100)]


@pytest.mark.parametrize(("items", "at_once", "here"), [(3, 1, True), (1, 2, True), (2, 2, False)])
def test_nobody_hands_over_what_one_thread_does(items: int, at_once: int, here: bool) -> None:
    assert ({*each_in_threads(lambda _: get_ident(), range(items), at_once)} == {get_ident()}) is here


def test_two_are_looked_at_at_a_time_and_the_first_failure_is_raised() -> None:
    together = Barrier(2, timeout=60)
    assert [*each_in_threads(lambda _: together.wait() in (0, 1), range(2), 2)] == [True, True]
    with pytest.raises(ZeroDivisionError):
        [*each_in_threads(lambda item: 1 / item, [1, 0, 2], 2)]

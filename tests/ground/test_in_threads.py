"""Jobs beside each other: all results in order, one voice, and nobody left running."""

import warnings
from functools import partial
from threading import Barrier, Event

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sluice.ground.parallel_jobs import in_threads
from sluice.ground.progress import report, reported_to


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

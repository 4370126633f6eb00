"""The time of a search: its last judgement is in it, and who stops it is heard."""

import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from tasks.tuning.allowance import Allowance, until_the_end


class Clock:
    """A clock that somebody turns."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_time_is_kept_for_the_last_judgement_by_what_the_dearest_so_far_took() -> None:
    clock = Clock()
    allowance = Allowance(7, clock)
    assert allowance.for_search
    clock.now += 310  # of 420 seconds; a quarter is kept at least
    assert allowance.for_search
    clock.now += 10
    assert not allowance.for_search
    assert allowance.for_judgement
    dear = Allowance(7, clock)

    def judged() -> str:
        clock.now += 100
        return "fails"

    assert dear.timed(judged) == "fails"
    assert dear.left == 320
    clock.now += 30
    assert not dear.for_search  # 290 seconds are left, and two judgements may take 300
    assert dear.for_judgement
    clock.now += 150
    assert not dear.for_judgement


def test_without_a_limit_there_is_always_time_and_a_limit_counts_from_the_beginning() -> None:
    clock = Clock()
    allowance = Allowance(None, clock)
    clock.now += 1e9
    assert allowance.for_search
    assert allowance.for_judgement
    allowance.limit(None)
    assert allowance.for_search
    allowance.limit(1)
    assert not allowance.for_judgement


def test_a_stop_that_became_another_error_is_raised_again() -> None:
    allowance = Allowance()
    allowance.refuse_stopped()
    allowance.stop()
    with pytest.raises(KeyboardInterrupt):
        allowance.refuse_stopped()


def test_a_part_ends_with_the_whole_and_is_stopped_with_it() -> None:
    clock = Clock()
    whole = Allowance(2, clock)
    part, rest = whole.part(50), whole.part(1000)
    assert (part.left, rest.left) == (50, 120)
    part.took(30)
    assert (part.allows(1), part.allows(2), whole.allows(2)) == (True, False, True), "each has its own price"
    part.stop()
    assert whole.stopped
    assert rest.stopped
    assert not rest.for_judgement


def test_the_end_of_the_time_ends_what_is_being_judged() -> None:
    allowance, before = Allowance(0.02 / 60), signal.getsignal(signal.SIGALRM)
    done: list[int] = []

    def work() -> None:
        signal.pause()
        done.append(1)

    until_the_end(allowance, work)
    assert (allowance.stopped, done) == (True, [])
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    assert signal.getsignal(signal.SIGALRM) == before

    def stopped_by_hand() -> None:
        raise KeyboardInterrupt  # as Ctrl-C does, unless whoever runs the tests has it ignored

    with pytest.raises(KeyboardInterrupt):
        until_the_end(Allowance(1), stopped_by_hand)


def test_at_whatever_line_the_alarm_rings_nobody_takes_it_for_a_stop_by_hand() -> None:
    """It once came between the two lines that entered the block, and the command ended as by Ctrl-C."""
    before, rung, stopped = signal.getsignal(signal.SIGALRM), 0, 0
    for place in range(100):
        lines = iter(range(1000))

        def ring(frame: FrameType, event: str, _: Any, place: int = place, lines: Iterator[int] = lines) -> Any:
            if frame.f_globals.get("__name__") != Allowance.__module__:
                return None
            is_set = signal.getitimer(signal.ITIMER_REAL)[0] > 0 and frame.f_code.co_name != "ring"
            if event == "line" and is_set and next(lines) == place:
                signal.raise_signal(signal.SIGALRM)
            return ring

        allowance = Allowance(1)
        sys.settrace(ring)
        try:
            until_the_end(allowance, allowance.refuse_stopped)
        finally:
            sys.settrace(None)
        assert signal.getsignal(signal.SIGALRM) == before
        if next(lines) <= place:
            break
        rung, stopped = rung + 1, stopped + allowance.stopped
    assert rung > stopped > 3, "before the work, in it and after it"

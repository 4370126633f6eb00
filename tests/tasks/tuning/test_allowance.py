"""The time of a search: its last judgement is in it, and who stops it is heard."""

import pytest

from tasks.tuning.allowance import Allowance


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

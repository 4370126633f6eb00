"""Who waits hears how far a computation is, and the computation does not notice."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from sluice.ground.progress import counted, report, reported_to
from sluice.risk.distances.neighbours import nearest_neighbours


def test_the_listener_hears_what_is_done_and_no_longer_than_it_listens() -> None:
    heard: list[tuple[str, int, int]] = []
    with reported_to(lambda *said: heard.append(said)):
        report("a stage")
        assert list(counted("ab", "letters", 2)) == ["a", "b"]
    report("unheard", 1, 2)
    assert list(counted("c", "letters", 1)) == ["c"]
    assert heard == [("a stage", 0, 0), ("letters", 0, 2), ("letters", 1, 2), ("letters", 2, 2)]


def test_threads_of_a_loop_are_counted_by_the_one_that_waits() -> None:
    heard: list[tuple[str, int, int]] = []
    with reported_to(lambda *said: heard.append(said)), ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda number: report("from a thread", number, 9), range(9))
        assert len(list(counted(done, "parts", 9))) == 9
    assert {what for what, _, _ in heard} == {"parts"}


def test_what_is_measured_is_the_same_and_an_error_ends_the_listening() -> None:
    points = np.random.default_rng(1).normal(size=(400, 3))
    alone = nearest_neighbours(points, points, 3)
    heard: list[tuple[str, int, int]] = []

    def stopped() -> None:
        with reported_to(lambda *said: heard.append(said)):
            np.testing.assert_array_equal(nearest_neighbours(points, points, 3).distance, alone.distance)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert heard[-1][0] == "nearest records"
    assert counted("x", "letters", 1) == "x"

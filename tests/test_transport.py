"""Faults of transport are tried again, for a while and with growing pauses; an answer is never asked for twice."""

import logging
from collections.abc import Callable

import pytest

from sluice import transport
from sluice.ground.errors import DataError, DocumentError, SluiceError, TransportError
from sluice.transport import LONGEST_PAUSE, is_of_transport, persistently


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.pauses = 0.0, list[float]()
        monkeypatch.setattr(transport.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(transport.time, "sleep", self._sleep)
        monkeypatch.setattr(transport.random, "uniform", lambda low, high: 1.0)

    def _sleep(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)


def failing(times: int, error: Exception) -> tuple[Callable[[], str], list[int]]:
    calls: list[int] = []

    def call() -> str:
        calls.append(1)
        if len(calls) <= times:
            raise error
        return "answer"

    return call, calls


def test_a_fault_of_transport_is_tried_again_and_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock(monkeypatch)
    call, calls = failing(3, TransportError("the ledger does not answer"))
    with caplog.at_level(logging.WARNING, "sluice"):
        assert persistently(call, 60) == "answer"
    assert (len(calls), clock.pauses) == (4, [0.5, 1, 2])
    assert [record.msg for record in caplog.records] == ["connection is tried again"] * 3


def test_patience_has_an_end_and_pauses_have_a_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    call, _ = failing(1000, TransportError("gone"))
    with pytest.raises(TransportError, match="gone"):
        persistently(call, 120)
    assert clock.now <= 120
    assert max(clock.pauses) == LONGEST_PAUSE
    assert clock.pauses == sorted(clock.pauses)


@pytest.mark.parametrize(
    "error", [SluiceError("no"), DataError("no"), ValueError("no")], ids=lambda e: type(e).__name__
)
def test_an_answer_is_not_asked_for_twice(error: Exception) -> None:
    call, calls = failing(1, error)
    with pytest.raises(type(error)):
        persistently(call, 60)
    assert len(calls) == 1


def test_without_patience_nothing_is_tried_again() -> None:
    call, calls = failing(1, TransportError("gone"))
    with pytest.raises(TransportError):
        persistently(call, 0)
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("says", "is_it"),
    [
        ("connection to server at '10.0.0.1', port 5432 failed: Connection refused", True),
        ("server closed the connection unexpectedly", True),
        ("FATAL:  the database system is starting up", True),
        ("FATAL:  terminating connection due to administrator command", True),
        ('FATAL:  password authentication failed for user "sluice"', False),
        ('FATAL:  database "ledger" does not exist', False),
        ("permission denied for table people", False),
        ("canceling statement due to statement timeout", False),
    ],
)
def test_what_a_driver_says_of_the_connection_and_what_the_server_answers(says: str, is_it: bool) -> None:
    assert is_of_transport(RuntimeError(says)) is is_it


def test_the_setting_is_asked_for_only_after_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release reads its ledger two hundred times: each look through the environment would be one for nothing."""
    monkeypatch.setenv("SLUICE_PATIENCE", "soon")
    assert persistently(lambda: "answer") == "answer"
    call, calls = failing(1, TransportError("gone"))
    with pytest.raises(DocumentError, match="SLUICE_PATIENCE"):
        persistently(call)
    assert len(calls) == 1

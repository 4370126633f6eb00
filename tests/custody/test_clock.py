"""Clocks: one that was set back, or disagrees with the database's, is noticed and publishes nothing."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sluice.custody import clock, ledger
from sluice.custody.clock import clock_faults, refuse_wrong_clock
from sluice.custody.ledger import Ledger
from sluice.ground.errors import SluiceError
from tests.custody.ledgers import KEY
from tests.golden import golden


def at(difference: timedelta) -> Any:
    return SimpleNamespace(now=lambda zone: datetime.now(zone) + difference, fromisoformat=datetime.fromisoformat)


def test_clocks_that_agree_are_believed(lived: Ledger) -> None:
    assert clock_faults(lived) == []
    refuse_wrong_clock(lived)


@pytest.mark.parametrize("back", [timedelta(minutes=10), timedelta(days=40)], ids=["minutes", "days"])
def test_a_clock_that_was_set_back_is_behind_the_latest_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: timedelta
) -> None:
    opened = Ledger(f"sqlite:///{tmp_path}/ledger.db", KEY, tmp_path / "anchor")
    opened.append("fair-1", "received", "amara", {})
    monkeypatch.setattr(clock, "datetime", at(-back))
    with golden.raises(SluiceError, figures=False):
        refuse_wrong_clock(opened)
    monkeypatch.setattr(ledger, "datetime", at(-back))
    opened.append(
        "fair-1", "note", "amara", {}
    )  # a row of the wrong time hides nothing: the latest is no more the last
    assert clock_faults(opened)


@pytest.mark.parametrize(("minutes", "word"), [(-10, "behind"), (10, "ahead of")])
def test_a_clock_apart_from_the_database_s_is_noticed(monkeypatch: pytest.MonkeyPatch, minutes: int, word: str) -> None:
    there = SimpleNamespace(entries=list, database_clock=lambda: datetime.now(UTC) - timedelta(minutes=minutes))
    [fault] = clock_faults(cast(Ledger, there))
    golden.words(fault)


def test_a_database_has_a_clock_of_its_own_and_a_file_has_not(lived: Ledger, url: str) -> None:
    said = lived.database_clock()
    assert (said is None) == url.startswith("sqlite")
    if said:
        assert abs(said - datetime.now(UTC)) < timedelta(minutes=1)


def test_a_clock_that_runs_ahead_of_the_database_s_records_nothing(
    opened: Ledger, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row of next year could not be taken back, and would keep everything from being published until then."""
    opened.append("fair-1", "received", "amara", {})
    monkeypatch.setattr(ledger, "datetime", at(timedelta(minutes=20)))
    if url.startswith("sqlite"):  # there is no other clock to tell
        opened.append("fair-1", "validated", "amara", {})
        assert clock_faults(opened)
        return
    with golden.raises(SluiceError, figures=False):
        opened.append("fair-1", "validated", "amara", {})
    monkeypatch.undo()
    assert [entry.event for entry in opened.entries()] == ["received"]
    opened.append("fair-1", "validated", "amara", {})
    refuse_wrong_clock(opened)

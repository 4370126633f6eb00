"""What people ask for counts by when they said it."""

from dataclasses import replace
from pathlib import Path

import pytest

import tasks.release.decisions.decisions_of_people as withdrawal
from tests.flows.clocks import in_days
from tests.flows.test_verify import SigningHouse


def test_a_request_that_lapsed_does_not_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put into the ledger again by somebody who has its key."""
    house = SigningHouse(tmp_path / "house")
    house.release_approved()
    release = house.id
    house.sluice("withdraw", release, "--reason", "wrong codes", "--as", "amara")
    case = withdrawal.Withdrawable.of(house.workspace(), release)
    asked = next(entry for entry in case.entries if entry.event == "withdrawal")
    assert withdrawal._asks(case, asked) == "amara"

    later = in_days(31)
    monkeypatch.setattr(withdrawal, "datetime", later)
    again = replace(asked, at=later.now().isoformat(timespec="microseconds"))
    assert withdrawal._asks(case, asked) is None
    assert withdrawal._asks(case, again) is None

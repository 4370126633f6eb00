"""Earlier attempts: releases of the same data that were evaluated before, counted by one reading of the ledger."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sluice.custody.ledger import Ledger
from tasks.release.earlier_releases import earlier_attempts
from tests.custody.statements import statements_to_ledgers


@pytest.mark.slow
def test_earlier_attempts_on_the_same_data_are_counted_by_one_statement(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db", bytes(32), tmp_path / "anchor")
    for number in range(9):
        of_these_data = {"data": {"sha256": "a" if number % 3 else "b"}}
        ledger.append(f"release-{number}", "received", "amara", of_these_data)
        for event in ("validated", "masked", "evaluated")[: number % 4]:
            ledger.append(f"release-{number}", event, "amara", {})
    workspace = SimpleNamespace(ledger=Ledger(f"sqlite:///{tmp_path}/ledger.db", bytes(32), tmp_path / "anchor"))
    release: Any = SimpleNamespace(
        id="release-8", data=SimpleNamespace(sha256="a"), product=SimpleNamespace(workspace=workspace)
    )
    with statements_to_ledgers() as sent:
        assert earlier_attempts(release) == 1  # release-7; release-3 was evaluated, but on other data
    assert len(sent) == 1

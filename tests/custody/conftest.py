"""Ledgers on SQLite and PostgreSQL."""

from pathlib import Path

import pytest

from sluice.custody.ledger import Ledger
from tests.custody.ledgers import KEY, LIFE


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.servers)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.db"
    address: str = request.getfixturevalue("ledger_in_postgresql").writer
    return address


@pytest.fixture
def opened(url: str, tmp_path: Path) -> Ledger:
    return Ledger(url, KEY, tmp_path / "anchor")


@pytest.fixture
def lived(opened: Ledger) -> Ledger:
    for number, event in enumerate(LIFE):
        opened.append("fair-1", event, "amara", {"step": number})
    return opened

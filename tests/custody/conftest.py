"""Ledgers on SQLite and PostgreSQL."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sluice.custody.ledger import Ledger
from sluice.custody.ledger_chain import Chain
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


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the rows whose hash is computed, as it happens."""
    rows: list[int] = []
    plain = Chain.hash_of

    def noted(chain: Chain, fields: Sequence[Any]) -> str:
        rows.append(fields[0])
        return plain(chain, fields)

    monkeypatch.setattr(Chain, "hash_of", noted)
    return rows

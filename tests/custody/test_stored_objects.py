"""The store's files: what is there, and what may be taken out."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sluice.custody.stored_objects import discard, stored_objects
from sluice.custody.vault import Vault


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path / "vault")


def _age(vault: Vault, name: str, days: int) -> None:
    at = (datetime.now(UTC) - timedelta(days=days)).timestamp()
    os.utime(vault.objects / name, (at, at))


def test_objects_are_listed_and_deleted(vault: Vault) -> None:
    name = f"{vault.keep_bytes(b'records', '.parquet')}.parquet"
    seen = stored_objects(vault)[name]
    assert (seen.size, seen.plain, seen.names) == (7, True, 1)
    assert discard(vault, seen)
    assert discard(vault, seen), "deleted by somebody else"
    assert stored_objects(vault) == {}


def test_what_was_kept_again_since_it_was_seen_stays(vault: Vault) -> None:
    """A run brings the same data while they are being deleted."""
    name = f"{vault.keep_bytes(b'records', '.parquet')}.parquet"
    _age(vault, name, days=400)
    seen = stored_objects(vault)[name]
    vault.keep_bytes(b"records", ".parquet")
    assert not discard(vault, seen)
    assert list(stored_objects(vault)) == [name]


def test_a_link_is_no_object_and_nothing_is_deleted_through_it(vault: Vault, tmp_path: Path) -> None:
    name = f"{vault.keep_bytes(b'records', '.parquet')}.parquet"
    elsewhere = (vault.objects / name).rename(tmp_path / "elsewhere")
    (vault.objects / name).symlink_to(elsewhere)
    (vault.objects / "notes.txt").write_text("of a person")
    seen = stored_objects(vault)
    assert {entry: each.plain for entry, each in seen.items()} == {name: False, "notes.txt": False}
    assert not any(discard(vault, each) for each in seen.values())
    assert elsewhere.read_bytes() == b"records"


def test_other_names_of_a_file_are_seen(vault: Vault, tmp_path: Path) -> None:
    name = f"{vault.keep_bytes(b'records', '.parquet')}.parquet"
    os.link(vault.objects / name, tmp_path / "copy")
    assert stored_objects(vault)[name].names == 2

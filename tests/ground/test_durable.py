"""Durable files: whole or not at all, closed to others."""

import errno
import hashlib
import os
from pathlib import Path

import pytest

from sluice.ground.durable import create_once, disk_of, replace, sha256_of, write_new
from sluice.ground.errors import DataError
from tests.golden import golden


def test_a_new_file_is_written_with_its_mode_and_hash(tmp_path: Path) -> None:
    content = os.urandom(3 << 20)
    old = os.umask(0o077)
    try:
        digest = write_new(tmp_path / "a", content, 0o644)
    finally:
        os.umask(old)
    assert digest == hashlib.sha256(content).hexdigest()
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644
    assert write_new(tmp_path / "b", tmp_path / "a", 0o600) == digest
    with (tmp_path / "b").open("rb") as file:
        assert sha256_of(file) == digest
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "a", b"other", 0o600)
    assert (tmp_path / "a").read_bytes() == content


def test_of_two_who_create_a_file_the_first_wins(tmp_path: Path) -> None:
    assert create_once(tmp_path / "secret", b"first") == b"first"
    assert create_once(tmp_path / "secret", b"second") == b"first"
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_a_replacement_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace(tmp_path / "page", b"old", 0o600)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with golden.raises(DataError), disk_of("the disk of reports"):
        replace(tmp_path / "page", b"new", 0o600)
    assert (tmp_path / "page").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["page"]


def test_other_errors_of_a_disk_keep_their_text() -> None:
    with pytest.raises(PermissionError), disk_of("the disk"):
        raise PermissionError(errno.EACCES, "Permission denied")

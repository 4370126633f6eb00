"""A pair that is made here is one of OpenSSH, for its owner alone, and takes no other's place."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from sluice.custody.signing.keys_at_hand import make_key_pair
from sluice.custody.signing.public_key import PublicKey
from sluice.custody.signing.ssh_signature import signed_by_file, verified_key
from sluice.ground.errors import SluiceError
from tests.golden import golden

needs_openssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_the_private_key_is_for_its_owner_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        key = make_key_pair(tmp_path / "ssh" / "id", "amara@office")
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "ssh", *(tmp_path / "ssh").iterdir())}
    assert modes == {"ssh": 0o700, "id": 0o600, "id.pub": 0o644}
    assert (tmp_path / "ssh" / "id.pub").read_text() == f"{key.line} amara@office\n"
    assert verified_key(b"words", signed_by_file(b"words", tmp_path / "ssh" / "id")) == key


@pytest.mark.parametrize("there", ["id", "id.pub"])
def test_no_key_is_overwritten(tmp_path: Path, there: str) -> None:
    (tmp_path / there).write_text("somebody's")
    with golden.raises(SluiceError):
        make_key_pair(tmp_path / "id", "")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(there, "somebody's")]


def test_no_key_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "id").symlink_to(tmp_path / "elsewhere")
    with golden.raises(SluiceError):
        make_key_pair(tmp_path / "id", "")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.servers
@needs_openssh
def test_openssh_reads_it(tmp_path: Path) -> None:
    key = make_key_pair(tmp_path / "id", "amara@office")
    shown = subprocess.run(["ssh-keygen", "-y", "-f", tmp_path / "id"], capture_output=True, text=True, check=True)
    assert PublicKey.parse(shown.stdout) == key
    shown = subprocess.run(["ssh-keygen", "-l", "-f", tmp_path / "id.pub"], capture_output=True, text=True, check=True)
    assert key.fingerprint in shown.stdout


@pytest.mark.servers
@needs_openssh
def test_a_passphrase_is_asked_for_by_openssh_and_again_at_each_signature(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asker = tmp_path / "asker"
    asker.write_text("#!/bin/sh\necho 'rain on the lock'\n")
    asker.chmod(0o700)
    for name, value in {"SSH_ASKPASS": str(asker), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":0"}.items():
        monkeypatch.setenv(name, value)
    key = make_key_pair(tmp_path / "id", "amara@office", passphrase=True)
    assert verified_key(b"words", signed_by_file(b"words", tmp_path / "id")) == key
    asker.write_text("#!/bin/sh\necho 'another'\n")
    with golden.raises(SluiceError):
        signed_by_file(b"words", tmp_path / "id")


def test_without_openssh_nobody_asks_for_a_passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with golden.raises(SluiceError):
        make_key_pair(tmp_path / "id", "", passphrase=True)
    assert [*tmp_path.iterdir()] == []

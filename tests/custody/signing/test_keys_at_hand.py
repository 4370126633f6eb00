"""Which keys somebody can sign by: those whose private part is in `~/.ssh`, or in the agent."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sluice.custody.signing.keys_at_hand import keys_at_hand, make_key_pair
from tests.golden import golden

needs_agent = pytest.mark.skipif(shutil.which("ssh-agent") is None, reason="ssh-agent is not installed")


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder `~/.ssh` of somebody without an agent."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return tmp_path / ".ssh"


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    socket = tmp_path / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
    while not socket.exists():
        assert process.poll() is None
    yield
    process.terminate()
    process.wait()


@pytest.mark.servers
def test_nothing_is_at_hand_where_there_is_no_folder(ssh: Path) -> None:
    assert keys_at_hand() == []


@pytest.mark.servers
def test_a_public_key_alone_is_another_s(ssh: Path) -> None:
    own, other = make_key_pair(ssh / "id.office", "me"), make_key_pair(ssh / "jonas", "jonas")
    (ssh / "jonas").unlink()
    (ssh / "old.pub").write_text("ssh-rsa AAAA old\n")
    (ssh / "notes.pub").write_bytes(b"\xff\xfe")
    found = {each.key: each for each in keys_at_hand()}
    assert found.keys() == {own, other}
    assert (found[own].can_sign, found[own].private) == (True, ssh / "id.office")
    assert (found[other].can_sign, found[other].file) == (False, ssh / "jonas.pub")


@pytest.mark.servers
@needs_agent
def test_the_agent_signs_by_keys_without_a_file(ssh: Path, agent: None) -> None:
    key = make_key_pair(ssh / "id", "me")
    subprocess.run(["ssh-add", "-q", ssh / "id"], check=True, env=os.environ)
    [both] = keys_at_hand()
    assert (both.private, both.in_agent) == (ssh / "id", True)
    (ssh / "id").unlink()
    [beside] = keys_at_hand()
    assert (beside.private, beside.file, beside.can_sign) == (None, ssh / "id.pub", True)
    (ssh / "id.pub").unlink()
    [alone] = keys_at_hand()
    assert (alone.key, alone.file, alone.can_sign) == (key, None, True)
    assert str(alone).startswith(key.fingerprint)
    golden(str(alone))

"""Signatures of SSH, held against OpenSSH's own program."""

import base64
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from sluice.custody.signing.public_key import PublicKey, packed
from sluice.custody.signing.ssh_signature import signed_by_file, signed_by_key, verified_key
from sluice.ground.errors import SluiceError
from tests.golden import golden

pytestmark = pytest.mark.servers

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = PublicKey.of(KEY.public_key())

needs_openssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")


def key_file(folder: Path, *options: str) -> Path:
    path = folder / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-C", "somebody", "-f", path, *(options or ("-t", "ed25519", "-N", ""))], check=True
    )
    return path


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_a_signature_is_of_its_message_and_key_alone(message: bytes, other: bytes) -> None:
    signature = signed_by_key(message, KEY)
    assert verified_key(message, signature) == PUBLIC
    assert other == message or verified_key(other, signature) is None


@given(st.data())
def test_no_signature_with_a_changed_sign_holds(data: st.DataObject) -> None:
    lines = signed_by_key(b"message", KEY).splitlines()
    row = data.draw(st.integers(0, len(lines) - 1))
    place = data.draw(st.integers(0, len(lines[row]) - 1))
    sign = data.draw(st.characters(min_codepoint=33, max_codepoint=126).filter(lambda each: each != lines[row][place]))
    lines[row] = lines[row][:place] + sign + lines[row][place + 1 :]
    assert verified_key(b"message", "\n".join(lines)) is None


@given(st.text(max_size=300))
def test_other_texts_are_no_signature(text: str) -> None:
    assert verified_key(b"message", text) is None
    assert verified_key(b"message", f"-----BEGIN SSH SIGNATURE-----\n{text}\n-----END SSH SIGNATURE-----") is None


@pytest.mark.smoke
@needs_openssh
def test_openssh_reads_what_is_signed_here(tmp_path: Path) -> None:
    (tmp_path / "signers").write_text(f"amara {PUBLIC.line}\n")
    (tmp_path / "signature").write_text(signed_by_key(b"a statement", KEY))
    command = ["ssh-keygen", "-Y", "verify", "-n", "sluice", "-I", "amara"]
    command += ["-f", str(tmp_path / "signers"), "-s", str(tmp_path / "signature")]
    assert subprocess.run(command, input=b"a statement", capture_output=True).returncode == 0
    assert subprocess.run(command, input=b"another statement", capture_output=True).returncode != 0


@needs_openssh
@pytest.mark.parametrize("options", [("-t", "ed25519"), ("-t", "ecdsa", "-b", "256")])
def test_what_openssh_signs_is_read_here(tmp_path: Path, options: tuple[str, ...]) -> None:
    key = key_file(tmp_path, *options, "-N", "")
    public = PublicKey.parse(key.with_suffix(".pub").read_text())
    signature = signed_by_file(b"a statement", key)
    assert verified_key(b"a statement", signature) == public
    assert verified_key(b"another", signature) is None
    shown = subprocess.run(["ssh-keygen", "-l", "-f", key], capture_output=True, text=True, check=True).stdout
    assert public.fingerprint == shown.split()[1]


@needs_openssh
def test_a_plain_key_signs_without_openssh_to_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = key_file(tmp_path)
    by_openssh = subprocess.run(
        ["ssh-keygen", "-Y", "sign", "-f", key, "-n", "sluice"], input=b"a statement", capture_output=True, check=True
    ).stdout.decode()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert signed_by_file(b"a statement", key) == by_openssh


@pytest.mark.smoke
@needs_openssh
def test_what_was_signed_for_another_purpose_counts_for_nothing(tmp_path: Path) -> None:
    key = key_file(tmp_path)
    for_git = subprocess.run(
        ["ssh-keygen", "-Y", "sign", "-f", key, "-n", "git"], input=b"a statement", capture_output=True, check=True
    ).stdout.decode()
    assert verified_key(b"a statement", for_git) is None


@needs_openssh
def test_an_rsa_key_is_refused_with_the_kinds_that_are_allowed(tmp_path: Path) -> None:
    key = key_file(tmp_path, "-t", "rsa", "-b", "2048", "-N", "")
    with golden.raises(SluiceError):
        PublicKey.parse(key.with_suffix(".pub").read_text())
    assert verified_key(b"a statement", signed_by_file(b"a statement", key)) is None


@needs_openssh
def test_a_key_that_cannot_sign_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    key = key_file(tmp_path)
    key.unlink()
    with golden.raises(SluiceError):
        signed_by_file(b"a statement", key.with_suffix(".pub"))
    with golden.raises(SluiceError):
        signed_by_file(b"a statement", key)


@needs_openssh
def test_a_key_with_a_passphrase_needs_openssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = key_file(tmp_path, "-t", "ed25519", "-N", "passphrase")
    monkeypatch.setenv("PATH", str(tmp_path))
    with golden.raises(SluiceError):
        signed_by_file(b"a statement", key)


@pytest.mark.parametrize(
    "line", ["", "ssh-ed25519", "ssh-ed25519 AAAA", "ssh-ed25519 !!!!", f"ssh-ed25519 {PUBLIC.line[12:-8]}"]
)
def test_a_damaged_line_is_no_key(line: str) -> None:
    with pytest.raises(SluiceError, match="key"):
        PublicKey.parse(line)


@needs_openssh
def test_a_key_in_a_token_is_left_to_openssh(tmp_path: Path) -> None:
    """Its private part is a handle, which only OpenSSH knows how to use; here the token is not plugged in."""
    kind, blob = b"sk-ssh-ed25519@openssh.com", PUBLIC.blob[-32:]
    public = packed(kind) + packed(blob) + packed(b"ssh:")
    private = bytes(8) + public + b"\x01" + packed(b"handle") + packed(b"") + packed(b"")
    private += bytes(range(1, 1 + -len(private) % 8))
    parts = packed(b"none") + packed(b"none") + packed(b"") + (1).to_bytes(4, "big") + packed(public) + packed(private)
    text = base64.b64encode(b"openssh-key-v1\0" + parts).decode()
    key = tmp_path / "id_sk"
    key.write_text(f"-----BEGIN OPENSSH PRIVATE KEY-----\n{text}\n-----END OPENSSH PRIVATE KEY-----\n")
    key.chmod(0o600)
    with golden.raises(SluiceError):
        signed_by_file(b"words", key)

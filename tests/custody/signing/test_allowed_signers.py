"""Files of allowed signers are read as OpenSSH reads them, or refused with the line that is wrong."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sluice.custody.signing.allowed_signers import AllowedSigner, parse_allowed_signers, read_allowed_signers
from sluice.custody.signing.public_key import PublicKey
from sluice.errors import DocumentError

KEY = PublicKey.of(Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key())


def test_a_line_is_read_back_as_it_was_written() -> None:
    after, before = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
    signer = AllowedSigner(("amara", "a.okafor"), KEY, after, before)
    assert parse_allowed_signers([signer.line, AllowedSigner(("jonas",), KEY).line], "keys") == [
        signer,
        AllowedSigner(("jonas",), KEY),
    ]
    assert not signer.holds(datetime(2026, 1, 2, 3, 4, 4, tzinfo=UTC))
    assert signer.holds(after)
    assert not signer.holds(before)


@pytest.mark.parametrize(
    "line",
    [
        f"amara {KEY.line} a comment with blanks",
        f'"amara" {KEY.line}',
        f'amara namespaces="git,sluice" {KEY.line}',
        f'amara namespaces="*" {KEY.line}',
        f"  amara   {KEY.line}",
    ],
)
def test_lines_as_people_write_them(line: str) -> None:
    assert parse_allowed_signers(["# the office", "", line], "keys") == [AllowedSigner(("amara",), KEY)]


def test_a_key_for_other_purposes_is_none_of_ours() -> None:
    assert parse_allowed_signers([f'amara namespaces="git,file" {KEY.line}'], "keys") == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("amara", r"keys: line 2: must be NAME \[OPTIONS\] KIND KEY"),
        ("amara ssh-rsa AAAA", "line 2: must be NAME"),
        (f"amara cert-authority {KEY.line}", "the option cert-authority is not understood"),
        (f'amara valid-after="soon" {KEY.line}', "a time must be YYYYMMDD"),
        (f'amara valid-after="20261399" {KEY.line}', "a time must be YYYYMMDD"),
        (f"* {KEY.line}", "a pattern would let one key stand for several people"),
        (f"amara {KEY.line[:-9]}", "damaged"),
    ],
)
def test_what_would_be_read_otherwise_is_refused(line: str, says: str) -> None:
    with pytest.raises(DocumentError, match=says):
        parse_allowed_signers(["", line], "keys")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="keys: cannot be read"):
        read_allowed_signers(tmp_path / "keys")
    (tmp_path / "keys").write_text(f"amara {KEY.line}\n")
    assert read_allowed_signers(tmp_path / "keys") == [AllowedSigner(("amara",), KEY)]

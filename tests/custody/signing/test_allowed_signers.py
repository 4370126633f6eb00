"""Files of allowed signers are read as OpenSSH reads them, or refused with the line that is wrong."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sluice.custody.signing.allowed_signers import PUBLISHER, AllowedSigner, parse_allowed_signers, read_allowed_signers
from sluice.custody.signing.public_key import PublicKey
from sluice.ground.errors import DocumentError
from tests.golden import golden
from tests.publication.signed_folder import PUBLISHING, STRANGER

KEY = PublicKey.of(Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key())
GOOD, EVIL = (PublicKey.of(key.public_key()).line for key in (PUBLISHING, STRANGER))


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
    "line",
    [
        "amara",
        "amara ssh-rsa AAAA",
        f"amara cert-authority {KEY.line}",
        f'amara valid-after="soon" {KEY.line}',
        f'amara valid-after="20261399" {KEY.line}',
        f"* {KEY.line}",
        f"amara {KEY.line[:-9]}",
        *(
            f"jonas {options} {GOOD}"
            for options in (  # that ssh-keygen does not take
                'namespaces="*,!sluice"',  # not permitted
                'namespaces="git",namespaces="sluice"',  # multiple "namespaces" clauses
                'valid-before="20200101",valid-before="20300101"',  # the same; Sluice takes the last
                'valid-before="20300101" valid-before="20400101"',  # invalid key
                'valid-after="20200101"valid-before="20300101"',
                'namespaces="git\\",namespaces="sluice"',
                "namespaces",
                "123",
                ",",
            )
        ),
    ],
)
def test_what_would_be_read_otherwise_is_refused(line: str) -> None:
    with golden.raises(DocumentError):
        parse_allowed_signers(["", line], "keys")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with golden.raises(DocumentError):
        read_allowed_signers(tmp_path / "keys")
    (tmp_path / "keys").write_text(f"amara {KEY.line}\n")
    assert read_allowed_signers(tmp_path / "keys") == [AllowedSigner(("amara",), KEY)]


@pytest.mark.parametrize("sign", ["\x85", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\r"])
@pytest.mark.parametrize("before", [f"jonas {GOOD} of the desk", "# an old note"])
def test_a_comment_holds_no_line_of_its_own(tmp_path: Path, sign: str, before: str) -> None:
    """A comment comes from whoever made the key pair; `ssh-keygen` ends lines by a line feed alone."""
    file = tmp_path / "keys"
    file.write_bytes(f"{before}{sign}{PUBLISHER} {EVIL}\n".encode())
    with golden.raises(DocumentError):
        read_allowed_signers(file)


def test_lines_of_windows_are_read(tmp_path: Path) -> None:
    (tmp_path / "keys").write_bytes(f"jonas {GOOD} of the desk\r\n{PUBLISHER} {EVIL}\r\n".encode())
    assert [each.names for each in read_allowed_signers(tmp_path / "keys")] == [("jonas",), (PUBLISHER,)]

"""Keys in tokens: by the real library, over a token that stands in for one, and over SoftHSM where it is installed."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    SECP384R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256, SHA384
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from sluice.custody.signing.envelope import Envelope
from sluice.custody.signing.public_key import ECDSA_P256, PublicKey
from sluice.custody.signing.ssh_signature import signed_by_token, token_key, verified_key
from sluice.ground.errors import SluiceError
from tests.golden import golden

pkcs11 = pytest.importorskip("pkcs11", reason="the extra 'hsm' is not installed")
pytest.importorskip("securesystemslib", reason="the extra 'hsm' is not installed")
from asn1crypto.core import OctetString  # noqa: E402
from pkcs11.util.ec import encode_named_curve_parameters  # noqa: E402

PIN, LABEL = "4711", "Amara's card"
URI = "hsm:2?label=Amara%27s+card"


class Public(pkcs11.PublicKey):  # type: ignore[misc]
    def __init__(self, key: EllipticCurvePrivateKey) -> None:
        self._key = key

    def __getitem__(self, attribute: Any) -> bytes:
        public = self._key.public_key()
        if attribute == pkcs11.Attribute.EC_PARAMS:
            named: bytes = encode_named_curve_parameters(public.curve.name)
            return named
        point: bytes = OctetString(public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)).dump()
        return point


class Private(pkcs11.PrivateKey, pkcs11.SignMixin):  # type: ignore[misc]
    def __init__(self, key: EllipticCurvePrivateKey) -> None:
        self._key = key

    def sign(self, data: bytes, mechanism: Any = None, **_: Any) -> bytes:
        """r and s, as PKCS#11 has them."""
        assert mechanism == pkcs11.Mechanism.ECDSA
        size = self._key.key_size // 8
        made = self._key.sign(data, ECDSA(Prehashed(SHA256() if size == 32 else SHA384())))
        return b"".join(number.to_bytes(size, "big") for number in decode_dss_signature(made))


@dataclass
class Card:
    """A token as python-pkcs11 shows one, whose public key may be seen with the PIN only."""

    key: EllipticCurvePrivateKey = field(default_factory=lambda: generate_private_key(SECP256R1()))
    label: str = LABEL
    hidden: bool = False
    tries: int = 0
    inside: bool = False

    def get_token(self, token_label: str | None, **_: Any) -> Self:
        if token_label not in (None, self.label):
            raise pkcs11.exceptions.NoSuchToken
        return self

    def open(self, user_pin: str | None = None) -> Self:
        if user_pin is not None:
            self.tries += 1
            if user_pin != PIN:
                raise pkcs11.exceptions.PinIncorrect
        self.inside = user_pin is not None
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.inside = False

    def get_key(self, object_class: Any, key_type: Any, id: bytes) -> Any:
        private = object_class == pkcs11.ObjectClass.PRIVATE_KEY
        if id != b"\x02" or key_type != pkcs11.KeyType.EC or ((private or self.hidden) and not self.inside):
            raise pkcs11.exceptions.NoSuchKey
        return Private(self.key) if private else Public(self.key)


Insert = Callable[[Card], Card]


@pytest.fixture
def insert(monkeypatch: pytest.MonkeyPatch) -> Insert:
    def inserted(card: Card) -> Card:
        monkeypatch.setenv("PYKCS11LIB", "/usr/lib/libcard.so")
        monkeypatch.setattr(pkcs11, "lib", lambda _: card)
        monkeypatch.setattr("getpass.getpass", lambda asked: {f"PIN of {LABEL}: ": PIN}[asked])
        return card

    return inserted


@pytest.mark.parametrize("hidden", [False, True])
def test_what_a_token_signs_is_a_signature_of_ssh_by_its_key(insert: Insert, hidden: bool) -> None:
    card = insert(Card(hidden=hidden))
    public = PublicKey.of(card.key.public_key())
    assert (public.kind, PublicKey.parse(public.line)) == (ECDSA_P256, public)
    assert token_key(URI) == public
    for number in range(20):  # r and s begin with a zero byte, or need one, in some of them
        message = f"statement {number}".encode()
        signature = signed_by_token(message, URI)
        assert verified_key(message, signature) == public
        assert verified_key(b"another", signature) is None


@pytest.mark.servers
@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_openssh_verifies_it(insert: Insert, tmp_path: Path) -> None:
    public = PublicKey.of(insert(Card()).key.public_key())
    (tmp_path / "signers").write_text(f"amara {public.line}\n")
    (tmp_path / "signature").write_text(signed_by_token(b"a statement", URI))
    assert openssh_verifies(tmp_path, b"a statement")
    assert not openssh_verifies(tmp_path, b"another statement")


def openssh_verifies(folder: Path, message: bytes) -> bool:
    command = ["ssh-keygen", "-Y", "verify", "-n", "sluice", "-I", "amara", "-f", "signers", "-s", "signature"]
    return subprocess.run(command, input=message, cwd=folder, capture_output=True, check=False).returncode == 0


def test_the_pin_is_asked_for_once_and_a_wrong_one_is_tried_once(
    insert: Insert, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three wrong ones lock a card."""
    card = insert(Card(hidden=True))
    asked: list[str] = []
    monkeypatch.setattr("getpass.getpass", lambda prompt: asked.append(prompt) or PIN)
    signed_by_token(b"a statement", URI)
    assert len(asked) == 1
    monkeypatch.setenv("SLUICE_HSM_PIN", "0000")
    card.tries = 0
    with golden.raises(SluiceError) as error:
        signed_by_token(b"a statement", URI)
    assert (card.tries, "0000" in str(error.value)) == (1, False)
    monkeypatch.setenv("SLUICE_HSM_PIN", PIN)
    assert verified_key(b"a statement", signed_by_token(b"a statement", URI))


def test_only_what_ssh_can_verify_is_taken(insert: Insert) -> None:
    insert(Card(generate_private_key(SECP384R1())))
    with golden.raises(SluiceError):
        signed_by_token(b"a statement", URI)


@pytest.mark.parametrize("uri", ["hsm:", "hsm:two", "hsm:2?lable=x", "hsm:3", "hsm:2?label=Jonas"])
def test_what_is_not_there_is_named(insert: Insert, uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    insert(Card())
    monkeypatch.setenv("SLUICE_HSM_PIN", PIN)
    with golden.raises(SluiceError):
        token_key(uri)


def test_without_a_library_or_the_extra_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYKCS11LIB", raising=False)
    with golden.raises(SluiceError):
        token_key(URI)
    monkeypatch.setenv("PYKCS11LIB", "/nowhere.so")
    with golden.raises(SluiceError):
        token_key(URI)
    monkeypatch.setitem(sys.modules, "pkcs11", None)
    with golden.raises(SluiceError):
        signed_by_token(b"a statement", URI)


# By SoftHSM where it is installed, with nothing in between


def softhsm() -> Path | None:
    """Its PKCS#11 library."""
    program = shutil.which("softhsm2-util")
    found = sorted(Path(program).resolve().parents[1].glob("lib*/**/libsofthsm2.so")) if program else []
    return found[0] if found else None


if softhsm():

    def test_a_software_token_signs_by_the_commands(tmp_path: Path) -> None:
        key = generate_private_key(SECP256R1())
        (tmp_path / "tokens").mkdir()
        (tmp_path / "softhsm2.conf").write_text(f"directories.tokendir = {tmp_path / 'tokens'}\n")
        (tmp_path / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        environment = os.environ | {
            "SOFTHSM2_CONF": str(tmp_path / "softhsm2.conf"), "PYKCS11LIB": str(softhsm()), "SLUICE_HSM_PIN": PIN,
            "COLUMNS": "300",
        }  # fmt: skip

        def run(*command: str) -> str:
            return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

        run("softhsm2-util", "--init-token", "--free", "--label", LABEL, "--pin", PIN, "--so-pin", "0815")
        brought = f"--import {tmp_path}/key.pem --label x --id 02 --pin {PIN}".split()
        run("softhsm2-util", *brought, "--token", LABEL)
        program = "import sys; from flows.cli.main import main; sys.exit(main(sys.argv[1:]))"
        sluice = (sys.executable, "-c", program)
        public = PublicKey.of(key.public_key())
        assert public.line in run(*sluice, "key", "show", URI)
        statement = {
            "_type": "https://in-toto.io/Statement/v1", "predicateType": "urn:test:1", "predicate": {},
            "subject": [{"name": "people.csv", "digest": {"sha256": "a" * 64}}],
        }  # fmt: skip
        (tmp_path / "statement").write_text(json.dumps(statement))
        envelope = Envelope.from_json(run(*sluice, "sign", str(tmp_path / "statement"), "--key", URI))
        assert envelope.signed_by() == (public,)

"""Signed statements: who changes, adds or takes away anything, or signs another type, has signed nothing."""

import base64
import hashlib
import json
from functools import partial
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from sluice.custody.signing.envelope import Envelope, Statement, pre_authentication
from sluice.custody.signing.public_key import PublicKey, packed
from sluice.custody.signing.ssh_signature import signed_by_key
from sluice.ground.errors import SluiceError
from tests.golden import golden

KEY, OTHER = (Ed25519PrivateKey.from_private_bytes(bytes([each]) * 32) for each in (1, 2))
STATEMENT = Statement.about({"people.csv": "ab" * 32}, "urn:sluice:decision:1", {"decision": "approve"})


def signed(payload: bytes = STATEMENT.payload(), key: Ed25519PrivateKey = KEY) -> Envelope:
    return Envelope.sign(payload, partial(signed_by_key, key=key))


def test_the_bytes_under_the_signature_are_those_of_the_format() -> None:
    assert pre_authentication(b"hello") == b"DSSEv1 28 application/vnd.in-toto+json 5 hello"


def test_an_envelope_tells_its_key_and_statement_after_a_round_trip() -> None:
    envelope = Envelope.from_json(json.dumps(signed().as_json()))
    assert envelope.signed_by() == (PublicKey.of(KEY.public_key()),)
    assert envelope.statement() == STATEMENT
    assert envelope.statement().files == {"people.csv": "ab" * 32}
    assert json.loads(envelope.content)["_type"] == "https://in-toto.io/Statement/v1"


@given(st.binary(max_size=300))
def test_another_payload_bears_no_signature(payload: bytes) -> None:
    other = signed().model_copy(update={"payload": base64.b64encode(payload).decode()})
    assert other.signed_by() == (() if payload != STATEMENT.payload() else (PublicKey.of(KEY.public_key()),))


def test_a_statement_that_was_signed_without_its_type_counts_for_nothing() -> None:
    armoured = base64.b64encode(signed_by_key(STATEMENT.payload(), KEY).encode()).decode()
    bare = signed().as_json() | {"signatures": [{"keyid": "", "sig": armoured}]}
    assert Envelope.from_json(json.dumps(bare)).signed_by() == ()


def test_the_name_beside_a_signature_makes_no_key() -> None:
    """What counts is the key within the signature, whatever `keyid` claims."""
    claimed = signed().as_json()
    claimed["signatures"][0]["keyid"] = PublicKey.of(OTHER.public_key()).fingerprint
    assert Envelope.from_json(json.dumps(claimed)).signed_by() == (PublicKey.of(KEY.public_key()),)


TOKEN = b"sk-ssh-ed25519@openssh.com"


def signed_by_security_key(
    signed_flags: int = 1, flags: int = 1, signed_for: bytes = b"ssh:", namespace: bytes = b"sluice"
) -> tuple[PublicKey, ...]:
    """The keys that an envelope names, signed as a security key does (OpenSSH, PROTOCOL.u2f, PROTOCOL.sshsig)."""
    parts = (namespace, b"", b"sha256")
    message = hashlib.sha256(pre_authentication(STATEMENT.payload())).digest()
    message = b"SSHSIG" + b"".join(map(packed, (*parts, message)))
    counter, app = (7).to_bytes(4, "big"), hashlib.sha256(signed_for).digest()
    signature = KEY.sign(app + bytes([signed_flags]) + counter + hashlib.sha256(message).digest())
    blob = packed(TOKEN) + packed(KEY.public_key().public_bytes_raw()) + packed(b"ssh:")
    value = packed(TOKEN) + packed(signature) + bytes([flags]) + counter
    content = b"SSHSIG" + (1).to_bytes(4, "big") + b"".join(map(packed, (blob, *parts, value)))
    armoured = "\n".join(
        ("-----BEGIN SSH SIGNATURE-----", base64.b64encode(content).decode(), "-----END SSH SIGNATURE-----", "")
    )
    sig = base64.b64encode(armoured.encode()).decode()
    return Envelope.from_json(json.dumps(signed().as_json() | {"signatures": [{"sig": sig}]})).signed_by()


@pytest.mark.parametrize("flags", [1, 5])
def test_a_security_key_signs_where_somebody_touched_it(flags: int) -> None:
    [key] = signed_by_security_key(flags, flags)
    assert key.kind == TOKEN.decode()
    assert key.point == KEY.public_key().public_bytes_raw()


@pytest.mark.parametrize(
    "otherwise",
    [
        {"signed_flags": 0, "flags": 0},  # a program used it, and nobody was there
        {"signed_flags": 4, "flags": 4},
        {"signed_flags": 0},  # says that it was touched, and did not sign that
        {"signed_for": b"https://mail.example"},  # signed on to a site
        {"namespace": b"git"},
    ],
)
def test_of_a_security_key_nothing_else_counts(otherwise: dict[str, Any]) -> None:
    assert signed_by_security_key(**otherwise) == ()


def test_one_key_counts_once_however_often_it_signed() -> None:
    twice = signed().as_json()
    twice["signatures"] += [*twice["signatures"], *signed(key=OTHER).as_json()["signatures"]]
    keys = Envelope.from_json(json.dumps(twice)).signed_by()
    assert keys == tuple(PublicKey.of(key.public_key()) for key in (KEY, OTHER))


@pytest.mark.parametrize(
    "change",
    [{"payloadType": "text/plain"}, {"signatures": []}, {"signatures": [{"sig": 1}]}, {"more": 1}, {"payload": 3}],
)
def test_what_is_no_envelope_is_refused(change: dict[str, Any]) -> None:
    with golden.raises(SluiceError):
        Envelope.from_json(json.dumps(signed().as_json() | change))


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"[]",
        b"{}",
        STATEMENT.payload().replace(b"v1", b"v2"),
        b'{"_type": "x", ' + STATEMENT.payload()[1:],  # a key twice: two programs may read two things
        STATEMENT.payload().replace(b"abab", b"ABAB"),
    ],
)
def test_what_is_no_statement_is_refused_though_it_is_signed(payload: bytes) -> None:
    with golden.raises(SluiceError):
        signed(payload).statement()


def test_an_envelope_that_says_a_thing_twice_is_refused() -> None:
    text = json.dumps(signed().as_json())
    with golden.raises(SluiceError):
        Envelope.from_json(text[:-1] + ', "payload": "e30="}')


def test_nothing_is_made_of_what_was_not_signed() -> None:
    with golden.raises(SluiceError):
        Envelope.sign(b"payload", lambda _: signed_by_key(b"another", KEY))

"""The roster: no spelling, account or key may mean two people."""

import base64
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import ValidationError

from policies.people import Person, Roster
from sluice.custody.signing.public_key import ECDSA_P256, ED25519, TOKEN, PublicKey, packed
from sluice.documents.document_reading import parse_document, read_yaml
from sluice.ground.errors import DocumentError, SluiceError
from tests.golden import golden

KEY, OTHER = (PublicKey.of(Ed25519PrivateKey.from_private_bytes(bytes([each]) * 32).public_key()) for each in (1, 2))
ROSTER = Roster.model_validate(
    {
        "people": {
            "Amara Okafor": {"roles": ["methodologist"], "account": "amara", "keys": [f"{KEY.line} amara@office"]},
            "jonas": {"roles": ["data_steward"]},
        }
    }
)


def load_roster(file: Path) -> Roster:
    return parse_document(Roster, read_yaml(file), str(file))


def test_people_are_found_by_name_and_account() -> None:
    assert ROSTER.person(" amara OKAFOR") == ROSTER.person("AMARA") == "Amara Okafor"
    assert ROSTER.person("JONAS") == "jonas"
    assert ROSTER.person("Amara-Okafor") == "Amara Okafor"  # as a file of allowed signers has her
    assert ROSTER.person("nobody") is None
    assert ROSTER.by_account("amara") == "Amara Okafor"
    assert ROSTER.by_account("Amara") is None  # another account, letter for letter
    assert ROSTER.by_account("jonas") is None  # he has none


@pytest.mark.parametrize(
    "people",
    [
        "{Ann: {roles: [a]}, ' ann ': {roles: [a]}}",
        "{Ann: {roles: [a], account: x}, Bo: {roles: [a], account: X}}",
        "{Ann: {roles: [a], account: bo}, Bo: {roles: [a]}}",
        "{' ': {roles: [a]}}",
        # To `ssh-keygen -Y verify` they would be everybody, everybody but one, and Ann.
        "{'*': {roles: [a]}}",
        "{'!Ann': {roles: [a]}}",
        "{Ann: {roles: [a]}, 'Bo,Ann': {roles: [a]}}",
        "{Ann Lee: {roles: [a]}, Ann-Lee: {roles: [a]}}",
        "{Ann: {roles: []}}",
        "{}",
        "{Ann: {roles: [a], acount: x}}",
    ],
)
def test_a_roster_that_leaves_doubt_is_refused(tmp_path: Path, people: str) -> None:
    file = tmp_path / "people.yaml"
    file.write_text(f"people: {people}\n")
    golden.refused(DocumentError, load_roster, file)


def test_a_roster_is_loaded(tmp_path: Path) -> None:
    file = tmp_path / "people.yaml"
    file.write_text("people:\n  amara:\n    roles: [methodologist]\n    account: amara\n")
    assert load_roster(file).people["amara"].roles == ("methodologist",)


def test_people_are_found_by_their_key_whatever_its_comment() -> None:
    assert ROSTER.by_key(KEY) == "Amara Okafor"
    assert ROSTER.by_key(OTHER) is None


@pytest.mark.parametrize("keys", [f"[{KEY.line} a], [{KEY.line} b]", "[ssh-rsa AAAA], []", "[ssh-ed25519 AAAA], []"])
def test_a_key_is_one_person_s(tmp_path: Path, keys: str) -> None:
    first, second = keys.split("], [")
    people = f"Ann: {{roles: [a], keys: {first}]}}, Bo: {{roles: [a], keys: [{second}}}"
    file = tmp_path / "people.yaml"
    file.write_text(f"people: {{{people}}}\n")
    golden.refused(DocumentError, load_roster, file)


def test_a_person_counts_from_the_first_to_the_last_day() -> None:
    person = Person.model_validate({"roles": ["a"], "valid_from": "2026-02-01", "valid_until": "2026-02-28"})
    days = ("2026-01-31T23:59", "2026-02-01T00:00", "2026-02-28T23:59", "2026-03-01T00:00")
    counts = [person.counts(datetime.fromisoformat(day).replace(tzinfo=UTC)) for day in days]
    assert counts == [False, True, True, False]
    assert Person(roles=("a",)).counts(datetime.now(UTC))


@pytest.mark.parametrize("name", ["publisher", "Publisher", "pub lisher"])
def test_no_person_has_the_name_of_the_installation(name: str) -> None:
    golden.refused(ValidationError, Roster.model_validate, {"people": {name: {"roles": ["head"]}}})


def test_one_key_in_two_spellings_is_one_key() -> None:
    """A point of P-256 written short, and an Ed25519 key listed as that of a token: two lines, one private key."""
    point = ec.generate_private_key(ec.SECP256R1()).public_key()
    forms = (serialization.PublicFormat.UncompressedPoint, serialization.PublicFormat.CompressedPoint)
    long, short = (ecdsa_line(point.public_bytes(serialization.Encoding.X962, form)) for form in forms)
    assert PublicKey.parse(long).line == long
    with pytest.raises(SluiceError, match="damaged"):
        PublicKey.parse(short)
    raw = KEY.blob[-32:]
    token = wire_line(TOKEN, packed(raw) + packed(b"ssh:"))
    with golden.raises(ValidationError):
        Roster.model_validate(
            {"people": {"Ann": {"roles": ["a"], "keys": [KEY.line]}, "Bo": {"roles": ["a"], "keys": [token]}}}
        )


def test_a_key_by_which_anybody_can_sign_is_refused() -> None:
    """Points of small order: a signature that holds for every message is made without a private key."""
    prime = 2**255 - 19
    eighth = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
    for y in (0, 1, prime - 1, eighth, prime - eighth, prime, prime + 1):  # the last two are 0 and 1 again
        point = y.to_bytes(32, "little")
        with pytest.raises(SluiceError, match="damaged"):
            PublicKey.parse(wire_line(ED25519, packed(point)))
        with pytest.raises(SluiceError, match="damaged"):
            PublicKey.parse(wire_line(TOKEN, packed(point) + packed(b"ssh:")))


def wire_line(kind: str, rest: bytes) -> str:
    return f"{kind} {base64.b64encode(packed(kind.encode()) + rest).decode()}"


def ecdsa_line(point: bytes) -> str:
    return wire_line(ECDSA_P256, packed(b"nistp256") + packed(point))

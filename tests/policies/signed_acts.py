"""Acts of people as the ledger keeps them, signed by keys that a test holds."""

import base64
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policies.adoption import ADOPTED, FOUNDED, PREDICATE, Adoption, adoption_predicate
from policies.people import Roster
from sluice.custody.ledger_chain import START
from sluice.custody.ledger_entry import Entry
from sluice.custody.signing.envelope import Envelope, Statement
from sluice.custody.signing.public_key import PublicKey
from sluice.custody.signing.ssh_signature import signed_by_key
from sluice.custody.states import OFFICE
from sluice.documents.document_reading import document_sha256

BEGAN = datetime(2026, 3, 1, 9, tzinfo=UTC)
OFFICE_ID = "0f" * 16
PEOPLE = {
    "amara": ["head", "methodologist"],
    "jonas": ["data_steward", "owner"],
    "mina": ["methodologist"],
    "noor": ["legal"],
}
POLICY = Adoption(kind="policy", name="public-use-file", version="1", sha256="a" * 64)


def private_key(name: str) -> Ed25519PrivateKey:
    """Always the same one for a name."""
    return Ed25519PrivateKey.from_private_bytes(name.encode().ljust(32, b".")[:32])


def key_line(name: str) -> str:
    return PublicKey.of(private_key(name).public_key()).line


def roster(people: Mapping[str, list[str]] = PEOPLE, **more: dict[str, Any]) -> Roster:
    """People known by signature, each with the key of its name; `more`: name -> other fields of that person."""
    return Roster.model_validate(
        {
            "people": {
                name: {"roles": roles, "keys": [key_line(name)], "account": name, **more.get(name, {})}
                for name, roles in people.items()
            }
        }
    )


def adopts_roster(brought: Roster) -> Adoption:
    return Adoption(kind="roster", name="roster", sha256=document_sha256(brought))


def signed(predicate_type: str, predicate: Mapping[str, Any], *signers: str) -> dict[str, Any]:
    """An envelope with the signature of each."""
    payload = Statement.about({"policy": "a" * 64}, predicate_type, predicate).payload()
    envelopes = [Envelope.sign(payload, lambda m, who=who: signed_by_key(m, private_key(who))) for who in signers]
    return envelopes[0].as_json() | {"signatures": [each.as_json()["signatures"][0] for each in envelopes]}


def act(
    who: str,
    *adoptions: Adoption,
    at: datetime = BEGAN,
    said_at: datetime | None = None,
    by: str | tuple[str, ...] | None = None,
    office: str = OFFICE_ID,
    brought: Roster | None = None,
    event: str = ADOPTED,
    comment: str = "",
) -> Entry:
    """One person's adoption.

    at, said_at : when it was recorded, and when it was signed; by default at once
    by          : who signs, if not its author
    """
    dumped = [each.model_dump(mode="json") for each in adoptions]
    time = (said_at or at).isoformat(timespec="seconds")
    predicate = adoption_predicate(office, dumped, comment, time)
    signers = (who,) if by is None else (by,) if isinstance(by, str) else by
    body: dict[str, Any] = {
        "identity": "key", "account": "vault", "comment": comment, "said_at": time, "office": office,
        "adoptions": dumped, "envelope": signed(PREDICATE, predicate, *signers),
    }  # fmt: skip
    body |= {"roster": brought.model_dump(mode="json")} if brought else {}
    return Entry(1, at.isoformat(timespec="microseconds"), OFFICE, event, who, body, START, START)


def founding(first: Roster | None = None, *adoptions: Adoption, who: str = "amara") -> Entry:
    brought = first or roster()
    return act(who, adopts_roster(brought), *adoptions, brought=brought, event=FOUNDED, at=later(days=-1))


def later(**time: float) -> datetime:
    return BEGAN + timedelta(**time)


def another_spelling(entry: Entry) -> Entry:
    """The same envelope, its payload in base64 with other unused bits: the bytes under the signature are the same."""
    text = entry.body["envelope"]["payload"]
    assert text.endswith("="), "the payload needs bits that are not used; give the act a comment of another length"
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    last = text.rstrip("=")[-1]
    other = text.rstrip("=")[:-1] + alphabet[alphabet.index(last) ^ 1] + "=" * text.count("=")
    assert base64.b64decode(other, validate=True) == base64.b64decode(text)
    return replace(entry, body=entry.body | {"envelope": entry.body["envelope"] | {"payload": other}})

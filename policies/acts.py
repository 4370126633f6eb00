"""What a person did, by the ledger: whether it was that person who did it, verified by the roster."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from policies.people import Roster, at_least
from sluice.custody.ledger import Entry
from sluice.custody.signing.envelope import Envelope
from sluice.custody.signing.public_key import PublicKey
from sluice.errors import SluiceError

KNOWN_BY: Mapping[str, str] = {"key": "signature", "account": "the account of the system", "declared": "a typed name"}


def digest_of_words(words: str) -> str:
    """What is signed in the place of a comment: signed decisions are published, and the words stay in the ledger."""
    return hashlib.sha256(words.encode()).hexdigest()


def verified_person(entry: Entry, roster: Roster, predicate_type: str, predicate: Mapping[str, Any]) -> str:
    """The person on the roster who did what an entry records, in the way that the entry claims.

    predicate_type, predicate : what a signature must be of
    raises                    : SluiceError, saying why the act does not count
    """
    who, identity = roster.person(entry.actor), entry.body.get("identity")
    if who is None:
        raise SluiceError("its author is not on the roster")
    if not roster.people[who].counts(datetime.fromisoformat(entry.at)):
        raise SluiceError("its author is not on the roster at that time")
    if not at_least(identity, roster.identity):
        raise SluiceError(f"people of this office are known by {KNOWN_BY[roster.identity]}")
    if identity == "account" and entry.body.get("account") != roster.people[who].account:
        raise SluiceError("it was given under another account than its author's")
    if identity == "key":
        envelope = Envelope.from_json(json.dumps(entry.body.get("envelope")))
        signers = {roster.by_key(key) for key in envelope.signed_by()}
        if who not in signers:
            raise SluiceError("no key of its author signed it")
        statement = envelope.statement()
        if (statement.predicate_type, statement.predicate) != (predicate_type, dict(predicate)):
            raise SluiceError("what was signed is not what is recorded")
    return who


def signatures(entry: Entry) -> set[tuple[str, PublicKey]]:
    """What was signed, with each key that signed it; two people may sign the very same words."""
    try:
        envelope = Envelope.from_json(json.dumps(entry.body.get("envelope")))
        return {(envelope.payload, key) for key in envelope.signed_by()}
    except SluiceError:
        return set()

"""What a person did, by the ledger: whether it was that person who did it, verified by the roster."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from policies.people import Roster, at_least
from sluice.custody.ledger_entry import Entry
from sluice.custody.signing.envelope import Envelope
from sluice.ground.errors import SluiceError

KNOWN_BY: Mapping[str, str] = {"key": "signature", "account": "the account of the system", "declared": "a typed name"}


def digest_of_words(words: str, salt: str) -> str:
    """What is published or signed in the place of words, such as a comment: the words and the salt stay in the house,
    so that nobody outside can try out what they may be."""
    return hashlib.sha256(f"{salt}\n{words}".encode()).hexdigest()


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
    ran = entry.body.get("account")
    if identity == "account" and (ran is None or ran != roster.people[who].account):
        raise SluiceError("it was given under another account than its author's")
    if identity == "declared" and ran and roster.by_account(ran) not in (None, who):
        raise SluiceError(f"it was given under the account of {roster.by_account(ran)}")
    if identity == "key":
        envelope = Envelope.from_json(json.dumps(entry.body.get("envelope")))
        if {roster.by_key(key) for key in envelope.signed_by()} - {None} != {who}:
            raise SluiceError("its author, and nobody else on the roster, must have signed it")
        statement = envelope.statement()
        if (statement.predicate_type, statement.predicate) != (predicate_type, dict(predicate)):
            raise SluiceError("what was signed is not what is recorded")
    return who


def said_at(entry: Entry) -> datetime:
    """When its author said it, which may be days before it was recorded. Raises SluiceError for what is no time."""
    try:
        said = datetime.fromisoformat(entry.body.get("said_at") or entry.at)
    except (TypeError, ValueError):
        said = None
    if said is None or said.tzinfo is None:
        raise SluiceError("when it was said is not a time in UTC")
    return said

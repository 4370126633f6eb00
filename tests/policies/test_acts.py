"""Acts: what somebody signed counts once, and as the word of each who signed it."""

from functools import partial

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policies.approvals import PREDICATE, Approvals, decision_predicate
from policies.people import Roster
from sluice.custody.ledger import Entry
from sluice.custody.signing.envelope import Envelope, Statement
from sluice.custody.signing.public_key import PublicKey
from sluice.custody.signing.ssh_signature import signed_by_key
from tests.policies.test_approvals import NOW

KEYS = {
    name: Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32) for number, name in enumerate(("amara", "jonas"))
}
ROSTER = Roster.model_validate(
    {
        "people": {
            name: {"roles": ["methodologist"], "keys": [PublicKey.of(key.public_key()).line]}
            for name, key in KEYS.items()
        }
    }
)
SUBJECT, AT = "a" * 64, NOW.isoformat(timespec="seconds")


def signed(who: str, by: str, number: int) -> Entry:
    """A decision under one name by the key of another, in the same words and the same second as every other."""
    predicate = decision_predicate("house", "fair-1", "approve", SUBJECT, "", AT)
    payload = Statement.about({"fair.csv": "b" * 64}, PREDICATE, predicate).payload()
    envelope = Envelope.sign(payload, partial(signed_by_key, key=KEYS[by])).as_json()
    body = {
        "decision": "approve",
        "subject": SUBJECT,
        "identity": "key",
        "comment": "",
        "said_at": AT,
        "envelope": envelope,
    }
    return Entry(number, NOW.isoformat(), "fair-1", "decision", who, body | {"envelope": envelope}, "", "")


@pytest.mark.parametrize(
    ("acts", "approved", "void"),
    [
        ([("amara", "amara"), ("jonas", "jonas")], True, []),
        ([("amara", "amara"), ("amara", "amara")], False, ["is a copy of an earlier one"]),
        ([("amara", "amara"), ("jonas", "amara")], False, ["is a copy of an earlier one"]),
        (
            [("jonas", "amara"), ("amara", "amara")],
            False,
            ["no key of its author signed it", "is a copy of an earlier one"],
        ),
    ],
)
def test_two_people_may_sign_the_same_words_in_the_same_second(
    acts: list[tuple[str, str]], approved: bool, void: list[str]
) -> None:
    entries = [signed(who, by, number) for number, (who, by) in enumerate(acts, 1)]
    standing = Approvals(count=2, identity="key").standing(entries, SUBJECT, ["owner"], ROSTER, NOW, "house")
    assert (standing.complete, [each.reason for each in standing.void]) == (approved, void)

"""What a person did: by the signature, account or name that the ledger holds of it, verified by the roster."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.acts import said_at, verified_person
from policies.approvals import PREDICATE, Approvals, decision_predicate
from policies.decision_table import DECISION
from policies.people import Identity, Roster
from sluice.custody.ledger_chain import START
from sluice.custody.ledger_entry import Entry
from sluice.ground.errors import SluiceError
from tests.golden import golden
from tests.policies.signed_acts import BEGAN, OFFICE_ID, PEOPLE, key_line, later, roster, signed

SUBJECT = "d" * 64
RELEASE = "people-puf-000000000001"
TWO = Approvals(count=2, identity="key")
PREDICATE_OF_ONE = {"office": OFFICE_ID, "comment": "", "at": BEGAN.isoformat()}


def known_by(identity: Identity) -> Roster:
    return roster().model_copy(update={"identity": identity})


def acted(who: str, identity: object = "key", by: str | tuple[str, ...] = "", **body: Any) -> Entry:
    signers = (by or who,) if isinstance(by, str) else by
    content = {"identity": identity, "account": who, **body}
    if identity == "key":
        content |= {"envelope": signed("urn:test:1", PREDICATE_OF_ONE, *signers)}
    return Entry(1, BEGAN.isoformat(), RELEASE, "test", who, content | body, START, START)


def verified(entry: Entry, people: Roster) -> str:
    return verified_person(entry, people, "urn:test:1", PREDICATE_OF_ONE)


@pytest.mark.parametrize("asked", ["key", "account", "declared"])
def test_an_act_is_known_as_it_claims_and_no_weaker_than_the_office_asks(asked: Identity) -> None:
    identities: tuple[Identity, ...] = ("declared", "account", "key")
    for identity in identities:
        entry = acted("mina", identity)
        if identities.index(identity) >= identities.index(asked):
            assert verified(entry, known_by(asked)) == "mina"
        else:
            golden.refused(SluiceError, verified, entry, known_by(asked))


@pytest.mark.parametrize(
    "entry",
    [
        acted("mallory", "account"),
        acted("mina", "account", account="jonas"),
        acted("mina", "account", account=None),
        acted("mina", "declared", account="jonas"),
        acted("mina", None),
        acted("mina", "guessed"),
        acted("mina", by="jonas"),
        acted("mina", by="mallory"),
        acted("mina", by=("mina", "jonas")),
        acted("mina", envelope=None),
        acted("mina", envelope={"payload": "", "payloadType": "x", "signatures": []}),
        replace(acted("mina"), at="2031-01-01T00:00:00+00:00"),
    ],
)
def test_an_act_that_cannot_be_verified_is_nobody_s(entry: Entry) -> None:
    people = roster(PEOPLE, mina={"valid_until": "2030-12-31"}).model_copy(update={"identity": "declared"})
    golden.refused(SluiceError, verified, entry, people)


def test_a_person_without_an_account_acts_by_none() -> None:
    people = roster(PEOPLE, mina={"account": None}).model_copy(update={"identity": "account"})
    golden.refused(SluiceError, verified, acted("mina", "account", account=None), people)


@pytest.mark.parametrize("wrong", [{"office": "other"}, {"comment": "x"}, {"at": "2026-03-01"}, {"more": 1}])
def test_what_was_signed_must_be_what_is_recorded(wrong: dict[str, Any]) -> None:
    golden.refused(SluiceError, verified_person, acted("mina"), roster(), "urn:test:1", PREDICATE_OF_ONE | wrong)
    golden.refused(SluiceError, verified_person, acted("mina"), roster(), "urn:test:2", PREDICATE_OF_ONE)


@pytest.mark.parametrize("wrong", ["yesterday", "2026-03-01T09:00:00", 5, ["x"]])
def test_a_time_that_is_none_is_refused(wrong: object) -> None:
    golden.refused(SluiceError, said_at, acted("mina", said_at=wrong))
    assert said_at(acted("mina", said_at="2026-02-01T09:00:00+00:00")).month == 2
    assert said_at(acted("mina")) == BEGAN


# -- decisions that are signed


def decided(
    who: str, recorded: str = "approve", at: int = 1, said: int | None = None, by: str = "", **other: Any
) -> Entry:
    """A decision that was recorded at an hour and said at one, signed by its author."""
    time = later(hours=at if said is None else said).isoformat()
    said_so = {"office": OFFICE_ID, "release": RELEASE, "decision": recorded, "subject": SUBJECT, "comment": ""} | other
    predicate = decision_predicate(**said_so, at=time)
    body = {
        "identity": "key", "account": "vault", "decision": recorded, "subject": SUBJECT, "comment": "", "said_at": time,
        "envelope": signed(PREDICATE, predicate, by or who),
    }  # fmt: skip
    return Entry(1, later(hours=at).isoformat(), RELEASE, DECISION, who, body, START, START)


def standing(*entries: Entry, people: Roster | None = None, approvals: Approvals = TWO, hours: int = 24) -> Any:
    return approvals.standing(entries, SUBJECT, ["emil"], people or roster(), later(hours=hours), OFFICE_ID)


WEEK = TWO.model_copy(update={"valid_days": 7})
LATE = 8 * 24
COPY = replace(decided("jonas"), at=later(days=7).isoformat())
BOTH = decided("mina"), decided("jonas")
RENEWED = roster(PEOPLE, jonas={"keys": [key_line("jonas anew")]})
WITH_TWO_KEYS = roster(PEOPLE, jonas={"keys": [key_line("jonas anew"), key_line("jonas")]})


@pytest.mark.parametrize(
    ("entries", "given", "complete"),
    [
        (BOTH, {}, True),
        ((decided("mina"), decided("mina", at=2)), {}, False),
        ((decided("mina"), decided("jonas", by="mina")), {}, False),
        # An approval holds from when it was signed, and a copy is no new one.
        ((decided("mina", at=LATE - 24), decided("jonas")), {"approvals": WEEK, "hours": 7 * 24}, True),
        ((decided("mina", at=LATE - 24), decided("jonas"), COPY), {"approvals": WEEK, "hours": LATE}, False),
        # A key that was taken away decides nothing, even what it decided before.
        (BOTH, {"people": RENEWED}, False),
        (BOTH, {"people": WITH_TWO_KEYS}, True),
        ((decided("jonas"), decided("jonas", at=2, by="jonas anew")), {"people": WITH_TWO_KEYS}, False),
        (BOTH, {"people": roster(PEOPLE, jonas={"valid_until": "2026-02-28"})}, False),  # who does not count any more
    ],
)
def test_two_people_who_sign_approve_by_keys_that_are_theirs(
    entries: tuple[Entry, ...], given: dict[str, Any], complete: bool
) -> None:
    found = standing(*entries, **given)
    assert (found.complete, found.missing_count == 0) == (complete, complete)


@pytest.mark.parametrize(
    "other",
    [
        {"office": "ab" * 16},
        {"release": "people-puf-000000000002"},
        {"decision": "reject"},
        {"subject": "e" * 64},
        {"comment": "only if it is masked further"},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_signature_under_anything_else_is_no_decision_here(other: dict[str, str]) -> None:
    """Another office, release, decision, evaluation or comment than the one that is recorded."""
    found = standing(decided("mina"), decided("jonas", **other))
    assert not found.complete
    golden([each.reason for each in found.void])


@pytest.mark.parametrize("changed", ["reject", "request_changes", "conflicted"])
def test_a_decision_that_is_replayed_after_its_author_changed_the_mind_does_not_count(changed: str) -> None:
    approval = decided("jonas", at=1)
    again = replace(approval, at=later(hours=3).isoformat())
    found = standing(decided("mina"), approval, decided("jonas", changed, at=2), again)
    assert not found.complete
    golden([each.reason for each in found.void])
    text = again.body["envelope"]["payload"]
    spelled = replace(again, body=again.body | {"envelope": again.body["envelope"] | {"payload": text + "\n"}})
    assert not standing(decided("mina"), approval, decided("jonas", changed, at=2), spelled).complete


def test_a_decision_that_was_kept_back_does_not_undo_a_later_one() -> None:
    """Signed at nine, not sent; another signed and recorded at ten; the first one recorded at eleven."""
    found = standing(decided("mina", at=0), decided("jonas", "reject", at=2), decided("jonas", at=3, said=1))
    assert not found.complete
    assert len(found.void) == 1
    assert standing(decided("mina"), decided("jonas", "reject", at=3, said=1), decided("jonas", at=4, said=2)).complete


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["amara", "jonas", "mina", "noor"]),
            st.sampled_from(["approve", "approve", "reject", "conflicted"]),
            st.integers(0, 30),
            st.sampled_from(["", "", "", "mallory", "mina"]),
        ),
        max_size=6,
    )
)
def test_nothing_is_approved_but_by_the_last_words_of_two_who_signed_them(
    said: list[tuple[str, str, int, str]],
) -> None:
    """Recorded in any order, signed by anybody: of each person what was said last and truly counts, and who stood aside
    does so for good."""
    found = standing(*(decided(who, what, at=31, said=when, by=by) for who, what, when, by in said), hours=32)
    true = [(when, number, who, what) for number, (who, what, when, by) in enumerate(said) if by in ("", who)]
    last = {who: what for _, _, who, what in sorted(true)}
    for when, number, who, what in true:
        if what == "conflicted" and all(
            then <= when for then, place, name, _ in true if name == who and place < number
        ):
            last[who] = what
    approving = [who for who, what in last.items() if what == "approve"]
    refusing = [who for who, what in last.items() if what == "reject"]
    assert found.complete == (len(approving) >= 2 and len(approving) > len(refusing))

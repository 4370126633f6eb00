"""Adoption: no document counts without two people of the roster of that time, one of them in the role; nor after its
end, nor by acts that were altered, replayed or signed by others."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from policies.adoption import ADOPTED, FOUNDED, Adoption, Office, adoption_of_publisher, read_office
from policies.decision_table import OFFICE_DECISIONS
from policies.people import HEAD, Roster
from sluice.custody.ledger_entry import Entry
from sluice.custody.signing.public_key import PublicKey
from sluice.ground.errors import SluiceError
from tests.golden import golden
from tests.policies.signed_acts import (
    BEGAN,
    PEOPLE,
    POLICY,
    act,
    adopts_roster,
    another_spelling,
    founding,
    key_line,
    later,
    roster,
)

CONTRACT = Adoption(kind="contract", name="people", version="1", sha256="b" * 64)
NOW = later(days=1)


def office(*entries: Entry) -> Office:
    found = read_office([replace(entry, seq=row) for row, entry in enumerate([founding(), *entries], 1)])
    assert found is not None
    return found


def counts(found: Office, adoption: Adoption = POLICY) -> bool:
    return found.fault(adoption.kind, adoption.name, adoption.sha256, "people", ("emil",), NOW) is None


def test_an_office_is_founded_by_its_head_with_what_it_brings() -> None:
    found = read_office([founding(None, POLICY)])
    assert (found.founder.who, found.roster, counts(found)) == ("amara", roster(), True)
    golden(found.in_force["policy", "public-use-file"].says)
    assert "2026-02-28" in found.in_force["policy", "public-use-file"].says
    assert read_office([]) is None


def edited(entry: Entry, **body: Any) -> Entry:
    return replace(entry, body=entry.body | body)


@pytest.mark.parametrize(
    "entry",
    [
        founding(who="jonas"),
        replace(founding(), event=ADOPTED),
        act("amara", POLICY, brought=roster(), event=FOUNDED),
        edited(founding(), roster=roster({"amara": ["head"]}).model_dump(mode="json")),
        act("amara", adopts_roster(roster()), brought=roster(), event=FOUNDED, by="mallory"),
        edited(founding(), office="other"),
        edited(founding(), adoptions=None),
        edited(founding(), identity="declared"),
        founding(None, POLICY, POLICY.model_copy(update={"sha256": "c" * 64})),
    ],
)
def test_a_founding_that_cannot_be_verified_founds_nothing(entry: Entry) -> None:
    golden.refused(SluiceError, read_office, [entry])


def test_an_office_is_founded_once() -> None:
    found = office(founding(roster({"mallory": ["head"]}), who="mallory"), founding())
    assert found.roster == roster()
    assert len(found.void) == 2
    assert "is not an act of a founded office" in [*found.void.values()][1]


@pytest.mark.parametrize(
    ("acts", "complete"),
    [
        ([act("mina", POLICY)], False),
        ([act("mina", POLICY), act("mina", POLICY, at=later(minutes=1))], False),
        ([act("jonas", POLICY), act("noor", POLICY)], False),  # no methodologist
        ([act("mina", POLICY), act("jonas", POLICY)], True),  # the statement names no signer: two may sign the same
        ([act("noor", POLICY), act("mina", POLICY)], True),
        ([act("amara", POLICY), act("mina", POLICY)], True),
        ([act("mallory", POLICY), act("mina", POLICY)], False),  # who is on no roster
        ([act("mina", POLICY, office="ab" * 16), act("jonas", POLICY)], False),
        ([act("jonas", POLICY), act("mina", POLICY, by="mallory")], False),
        ([act("jonas", POLICY), act("mina", POLICY, by="jonas")], False),
        ([act("jonas", POLICY), act("mina", POLICY, by=("mina", "jonas"))], False),
        ([act("jonas", POLICY), act("mina", POLICY, by=("jonas", "amara"))], False),
        ([act("jonas", POLICY), act("mina", POLICY, by=("mallory", "mina"))], True),  # mallory adds and takes nothing
    ],
)
def test_a_policy_takes_two_people_each_by_the_one_own_signature_one_of_them_a_methodologist(
    acts: list[Entry], complete: bool
) -> None:
    found = office(*acts)
    assert counts(found) is complete
    assert (POLICY in found.proposed) is not complete
    if found.void:
        golden.words([*found.void.values()])


def test_what_is_missing_is_said() -> None:
    golden(office(act("noor", POLICY)).missing(POLICY, office(act("noor", POLICY)).proposed[POLICY]))
    golden(office().missing(POLICY, []))
    golden(office(act("mina", POLICY)).missing(POLICY, office(act("mina", POLICY)).proposed[POLICY]))


# -- who acts


@pytest.mark.parametrize("copy", [lambda entry: entry, another_spelling], ids=["copied", "another spelling"])
def test_an_act_counts_once(copy: Callable[[Entry], Entry]) -> None:
    """Two people adopt a policy, then its successor: their first acts, replayed, do not bring it back."""
    first = [act("mina", POLICY, comment="first ."), act("jonas", POLICY, comment="first .")]
    successor = POLICY.model_copy(update={"sha256": "c" * 64, "version": "2"})
    second = [act(who, successor, at=later(hours=1)) for who in ("mina", "jonas")]
    replayed = [replace(copy(entry), at=later(hours=2).isoformat()) for entry in first]
    found = office(*first, *second, *replayed)
    assert counts(found, successor)
    assert not counts(found, POLICY)
    assert [
        "given before the policy 'public-use-file', version 2 was adopted" in each for each in found.void.values()
    ] == [True] * 2


def test_what_was_signed_before_another_was_adopted_does_not_replace_it() -> None:
    """Two people sign a policy and do not send it; they adopt a stricter one; somebody records the first."""
    stricter = POLICY.model_copy(update={"sha256": "c" * 64, "version": "2"})
    adopted = [act(who, stricter, at=later(hours=1)) for who in ("mina", "jonas")]
    kept_back = [act(who, POLICY, at=later(hours=2), said_at=BEGAN) for who in ("mina", "jonas")]
    found = office(*adopted, *kept_back)
    assert counts(found, stricter)
    golden(next(iter(found.void.values())))


def test_a_proposal_lapses() -> None:
    """What one person proposed and everybody forgot is not completed years later by one other."""
    assert counts(office(act("mina", POLICY), act("jonas", POLICY, at=later(days=29))))
    found = office(act("mina", POLICY), act("jonas", POLICY, at=later(days=31)))
    assert not counts(found)
    assert [each.who for each in found.proposed[POLICY]] == ["jonas"]


def test_two_who_adopt_different_terms_adopt_nothing() -> None:
    narrow = POLICY.model_copy(update={"datasets": ("people",)})
    ending = POLICY.model_copy(update={"valid_until": date(2030, 1, 1)})
    found = office(act("mina", narrow), act("jonas", POLICY), act("amara", ending))
    assert not counts(found)
    assert len(found.proposed) == 3


# -- the roster changes


INVENTED = roster({**PEOPLE, "mallory": ["head"]})
SMALLER = roster({"amara": PEOPLE["amara"], "mina": ["methodologist"]})
HEADLESS = roster({"amara": ["methodologist"], "jonas": ["owner"]})


@pytest.mark.parametrize(
    ("brought", "people", "changes"),
    [
        (INVENTED, ("amara", "mallory"), False),  # the roster of the time decides, not the one that is proposed
        (SMALLER, ("jonas", "mina"), False),  # none of them the head
        (SMALLER, ("amara", "jonas"), True),  # jonas may remove himself
        (HEADLESS, ("amara", "jonas"), False),  # it would be the last one
    ],
    ids=["invented", "without the head", "smaller", "headless"],
)
def test_two_people_one_of_them_the_head_change_the_roster(
    brought: Roster, people: tuple[str, ...], changes: bool
) -> None:
    acts = [act(who, adopts_roster(brought), brought=brought, at=later(minutes=n)) for n, who in enumerate(people)]
    found = office(*acts, act("jonas", POLICY, at=later(hours=1)))
    assert found.roster == (brought if changes else roster())
    if found.void:
        golden.words([*found.void.values()])


def test_an_act_by_a_key_that_was_taken_from_its_owner_completes_nothing() -> None:
    """A stolen key proposes a policy; the office gives its owner a new one; one more adoption is not the second."""
    renewed = roster(PEOPLE, mina={"keys": [key_line("mina anew")]})
    change = [act(who, adopts_roster(renewed), brought=renewed, at=later(hours=1)) for who in ("amara", "jonas")]
    found = office(act("mina", POLICY), *change, act("jonas", POLICY, at=later(hours=2)))
    assert found.roster == renewed
    assert not counts(found)
    kept = office(act("noor", POLICY), *change, act("amara", POLICY, at=later(hours=2)))
    assert counts(kept)  # her key is the same as before


def test_a_name_that_passes_to_another_person_brings_no_act_with_it() -> None:
    another = roster(PEOPLE, noor={"keys": [key_line("another noor")]})
    change = [act(who, adopts_roster(another), brought=another, at=later(hours=1)) for who in ("amara", "jonas")]
    found = office(act("noor", POLICY), *change)
    assert found.proposed.get(POLICY, []) == []


def test_who_does_not_count_yet_or_any_more_adopts_nothing() -> None:
    found = read_office(
        [
            founding(roster(PEOPLE, mina={"valid_until": "2026-03-02"})),
            act("mina", POLICY, at=later(days=2)),
            act("jonas", POLICY, at=later(days=2)),
        ]
    )
    assert not counts(found)
    golden.words(next(iter(found.void.values())))


def test_an_act_that_counts_for_nothing_changes_nothing() -> None:
    """Half of it would else count: a policy, beside a roster that is not the one it says."""
    other = roster({"amara": ["head"], "jonas": ["owner"]})
    both = (POLICY, adopts_roster(other))
    found = office(act("amara", *both, brought=other), act("jonas", *both, brought=roster(), at=later(minutes=1)))
    golden.words(next(iter(found.void.values())))
    assert not counts(found)
    assert [each.who for each in found.proposed[POLICY]] == ["amara"]


@pytest.mark.parametrize("terms", [{"valid_until": "2030-01-01"}, {"datasets": ["people"]}, {"submitters": ["emil"]}])
def test_a_roster_has_no_terms(terms: dict[str, Any]) -> None:
    """An end would leave an office without people; the days of each person stand in the roster."""
    with pytest.raises(ValidationError, match="roster"):
        Adoption(kind="roster", name="roster", sha256="a" * 64, **terms)


# -- what a document counts for


FIRST_OF_MARCH = {"valid_until": date(2026, 3, 2)}


@pytest.mark.parametrize(
    ("terms", "asked", "says"),
    [
        ({}, {}, None),
        ({"datasets": ("firms", "people")}, {}, None),
        ({"datasets": ("firms",)}, {}, "for firms only, not for 'people'"),
        ({"submitters": ("Jonas ",)}, {"submitter": "jonas"}, None),
        ({"submitters": ("jonas",)}, {}, "by jonas only, not by 'emil'"),
        (FIRST_OF_MARCH, {"now": datetime(2026, 3, 2, 23, 59, tzinfo=UTC)}, None),
        (FIRST_OF_MARCH, {"now": datetime(2026, 3, 3, tzinfo=UTC)}, "ended on 2026-03-02"),
        ({}, {"sha256": "d" * 64}, "with other content"),
        ({}, {"name": "Public-Use-File"}, "no policy named"),
        ({}, {"kind": "contract"}, "no contract named"),
    ],
)
def test_a_document_counts_under_its_terms_its_name_and_its_content(
    terms: dict[str, Any], asked: dict[str, Any], says: str | None
) -> None:
    adoption = POLICY.model_copy(update=terms)
    given = {"kind": "policy", "name": POLICY.name, "sha256": POLICY.sha256, "submitter": "emil", "now": NOW} | asked
    fault = office(act("mina", adoption), act("jonas", adoption)).fault(
        given["kind"], given["name"], given["sha256"], "people", (given["submitter"],), given["now"]
    )
    assert (fault is None) if says is None else (says in str(fault))


# -- random histories

AT = st.integers(0, 40 * 24)
ADOPTIONS = [
    POLICY,
    POLICY.model_copy(update={"sha256": "c" * 64}),
    POLICY.model_copy(update={"valid_until": date(2026, 3, 20)}),
    CONTRACT,
]
ROSTERS = [
    roster(PEOPLE, mina={"valid_until": "2026-03-10"}),
    roster({"amara": ["head"], "jonas": ["owner", "methodologist"], "mallory": ["legal"]}),
    roster(PEOPLE, jonas={"keys": [key_line("jonas anew")]}),
]
NAMES = [*PEOPLE, "mallory", "jonas anew"]


@st.composite
def histories(draw: st.DrawFn) -> list[Entry]:
    """Acts in order of time by anybody, signed by anybody, some of them copies of earlier ones."""
    entries = [founding()]
    for hour in sorted(draw(st.lists(AT, max_size=7))):
        at = later(hours=hour)
        if len(entries) > 1 and draw(st.integers(0, 4)) == 0:
            entries.append(replace(draw(st.sampled_from(entries[1:])), at=at.isoformat()))
            continue
        who = draw(st.sampled_from(NAMES))
        by = draw(st.sampled_from([who, who, who, *NAMES]))
        if draw(st.booleans()):
            brought = draw(st.sampled_from(ROSTERS))
            entries.append(act(who, adopts_roster(brought), brought=brought, by=by, at=at))
        else:
            entries.append(act(who, draw(st.sampled_from(ADOPTIONS)), by=by, at=at))
    return entries


@pytest.mark.chain
@given(histories(), AT)
def test_nothing_counts_without_two_people_of_the_roster_of_that_time(entries: list[Entry], hour: int) -> None:
    """Whoever acts, signs and replays whatever: told by the entries alone, not by how the office keeps them."""
    force: dict[tuple[str, str], str] = {}
    for number in range(1, len(entries) + 1):
        before, found = read_office(entries[: number - 1]), read_office(entries[:number])
        new = {key: held for key, held in found.in_force.items() if before is None or before.in_force.get(key) != held}
        for (kind, name), held in new.items():
            force[kind, name] = held.adoption.sha256
            if before is None:
                continue
            wanted = held.adoption.model_dump(mode="json")
            signed = {
                entry.actor
                for entry in entries[1:number]
                if wanted in entry.body["adoptions"]
                and before.roster.by_key(_signer(entry)) == entry.actor
                and before.roster.people[entry.actor].counts(datetime.fromisoformat(entry.at))
            }
            people = {each.who for each in held.acts}
            assert len(people) >= 2
            assert people <= signed
            assert any(OFFICE_DECISIONS[kind].role in before.roster.people[who].roles for who in people)
    found = read_office(entries)
    now = later(hours=hour)
    for (kind, _), held in found.in_force.items():
        if kind != "roster" and held.adoption.valid_until and now.date() > held.adoption.valid_until:
            assert not counts_at(found, held.adoption, now)
    assert document_of(found.roster) == force["roster", "roster"]


def counts_at(found: Office, adoption: Adoption, now: datetime) -> bool:
    return found.fault(adoption.kind, adoption.name, adoption.sha256, "people", ("emil",), now) is None


def document_of(brought: Roster) -> str:
    return adopts_roster(brought).sha256


def _signer(entry: Entry) -> Any:
    from sluice.custody.signing.envelope import Envelope

    [key] = Envelope.model_validate(entry.body["envelope"]).signed_by()
    return key


WHOLE = act("mina", POLICY.model_copy(update={"datasets": ("people",), "valid_until": date(2026, 9, 1)}))
OTHERS: dict[str, list[Any]] = {
    "kind": ["contract"],
    "name": ["public-use-file ", "other", ""],
    "version": ["2", ""],
    "sha256": ["d" * 64],
    "valid_until": ["2030-01-01", None],
    "datasets": [[], ["people", "firms"]],
    "submitters": [["emil"]],
}


@given(st.data())
def test_whatever_is_edited_of_an_act_that_was_signed_voids_it(data: st.DataObject) -> None:
    """By somebody who can forge the ledger's hashes, and has no key of its people."""
    assert office(WHOLE).void == {}
    field = data.draw(st.sampled_from(["actor", "adoptions", "comment", "said_at", "identity", "envelope"]))
    body = dict(WHOLE.body)
    if field == "actor":
        forged = replace(WHOLE, actor=data.draw(st.sampled_from(["amara", "jonas", "mallory"])))
    else:
        if field == "adoptions":
            key = data.draw(st.sampled_from(sorted(OTHERS)))
            body[field] = [body[field][0] | {key: data.draw(st.sampled_from(OTHERS[key]))}]
        elif field == "comment":
            body[field] = data.draw(st.text(min_size=1, max_size=5))
        elif field == "said_at":
            body[field] = (BEGAN + timedelta(seconds=data.draw(st.integers(1, 10**6)))).isoformat()
        elif field == "identity":
            body[field] = data.draw(st.sampled_from(["account", "declared", None, 1, "KEY"]))
        else:
            text = body[field]["payload"]
            place = data.draw(st.integers(0, len(text) - 5))
            body[field] = body[field] | {
                "payload": text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :]
            }
        forged = replace(WHOLE, body=body)
    found = office(forged)
    assert len(found.void) == 1
    assert found.proposed == {}
    assert HEAD in found.roster.people["amara"].roles


# The publisher's key


def next_key(who: str, name: str = "second", number: int = 2, brought: str | None = None, **more: Any) -> Entry:
    """One person's adoption of the publisher's key of a name, with the key that it brings."""
    adoption = adoption_of_publisher(PublicKey.parse(key_line(name)), number)
    return edited(act(who, adoption, **more), publisher=brought or key_line(name))


def lines(found: Office) -> list[tuple[datetime, str]]:
    return [(since, key.line) for since, key in found.publishers]


@pytest.mark.parametrize(
    ("acts", "changes"),
    [
        ([next_key("amara")], False),
        ([next_key("jonas"), next_key("mina", at=later(hours=1))], False),  # none of them the head
        ([next_key("amara"), next_key("amara", at=later(hours=1))], False),
        ([next_key("jonas"), next_key("amara", at=later(hours=1))], True),
        ([next_key("amara"), next_key("jonas", "mallory's", at=later(hours=1))], False),  # two keys, one person each
        ([next_key("amara", number=3), next_key("jonas", number=3, at=later(hours=1))], False),
        ([next_key(who, brought=key_line("mallory's")) for who in ("amara", "noor")], False),
        ([next_key("amara"), next_key("jonas", by="mallory", at=later(hours=1))], False),
        ([next_key("amara"), next_key("jonas", at=later(days=40))], False),
    ],
)
def test_the_publisher_s_key_changes_by_two_people_one_of_them_the_head(acts: list[Entry], changes: bool) -> None:
    found = office(*acts)
    assert lines(found) == ([(later(hours=1), key_line("second"))] if changes else [])
    assert not (changes and found.void)


def test_a_key_that_was_replaced_does_not_come_back_by_copies_of_its_acts() -> None:
    first = [next_key("amara"), next_key("jonas", at=later(hours=1))]
    second = [next_key(who, "third", 3, at=later(hours=n)) for n, who in enumerate(("amara", "jonas"), 2)]
    copies = [replace(each, at=later(hours=9).isoformat(timespec="microseconds")) for each in first]
    found = office(*first, *second, *copies)
    assert [key for _, key in lines(found)] == [key_line("second"), key_line("third")]
    assert len(found.void) == 2


def test_an_office_is_founded_with_the_key_that_the_vault_has() -> None:
    brought = roster()
    key = adoption_of_publisher(PublicKey.parse(key_line("second")), 2)
    entry = act("amara", adopts_roster(brought), key, brought=brought, event=FOUNDED)
    with pytest.raises(SluiceError):
        read_office([edited(entry, publisher=key_line("second"))])

"""Approvals: whose count, which are void and why, and that roles are filled by as few people as possible."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from policies.approvals import Approvals, Subject
from policies.people import Roster
from policies.standing import assign
from sluice.custody.ledger_chain import START
from sluice.custody.ledger_entry import Entry
from tests.golden import golden

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DIGEST = "d" * 64
ROSTER = Roster.model_validate(
    {
        "identity": "declared",
        "people": {
            "Amara Okafor": {"roles": ["methodologist"], "account": "amara"},
            "jonas": {"roles": ["data_steward"], "account": "jonas"},
            "Li": {"roles": ["methodologist", "data_steward"], "account": "li"},
            "Noor": {"roles": ["legal"], "account": "noor"},
        },
    }
)
FOUR_EYES = Approvals(count=2, roles=("methodologist", "data_steward"), identity="declared")
ONE = Approvals(identity="declared")
TWO = Approvals(count=2, identity="declared")
WEEK = Approvals(valid_days=7)
A_WEEK_AGO = NOW - timedelta(days=7)


def said(
    actor: str,
    decision: str = "approve",
    subject: str = DIGEST,
    identity: str = "account",
    at: datetime = NOW - timedelta(hours=1),
) -> Entry:
    person = ROSTER.person(actor)
    account = ROSTER.people[person].account if person else None
    body = {"decision": decision, "subject": subject, "identity": identity, "account": account}
    return Entry(1, at.isoformat(timespec="microseconds"), "fair-1", "decision", actor, body, START, START)


def void_reasons(approvals: Approvals, *entries: Entry, submitter: str = "owner") -> list[str]:
    standing = approvals.standing(entries, DIGEST, [submitter], ROSTER, NOW)
    assert not standing.complete
    assert standing.missing_count >= 1
    return [void.reason for void in standing.void]


def test_two_people_of_the_two_roles_complete_it() -> None:
    standing = FOUR_EYES.standing([said("amara"), said("Jonas")], DIGEST, "owner", ROSTER, NOW)
    assert standing.complete
    assert [(given.who, given.role) for given in standing.valid] == [
        ("Amara Okafor", "methodologist"),
        ("jonas", "data_steward"),
    ]
    assert standing.valid[0].at == "2026-11-21T11:00:00.000000+00:00"
    assert (standing.void, standing.missing_roles, standing.missing_count) == ((), (), 0)
    golden(standing.says)


def test_no_approval_is_no_approval() -> None:
    standing = FOUR_EYES.standing([], DIGEST, "owner", ROSTER, NOW)
    assert not standing.complete
    assert standing.missing_roles == ("methodologist", "data_steward")
    golden(standing.says)


@pytest.mark.parametrize("order", list(permutations(["Li", "amara"])))
def test_a_person_of_two_roles_makes_room_for_one_who_has_only_the_first(order: tuple[str, ...]) -> None:
    standing = FOUR_EYES.standing([said(who) for who in order], DIGEST, "owner", ROSTER, NOW)
    assert standing.complete
    assert {given.who: given.role for given in standing.valid} == {
        "Li": "data_steward",
        "Amara Okafor": "methodologist",
    }


def test_enough_people_without_a_role_do_not_complete_it() -> None:
    standing = FOUR_EYES.standing([said("amara"), said("noor")], DIGEST, "owner", ROSTER, NOW)
    assert not standing.complete
    assert standing.missing_roles == ("data_steward",)
    golden(standing.says)
    assert {given.who: given.role for given in standing.valid}["Noor"] is None


@pytest.mark.parametrize(
    "submitter",
    [
        "Amara Okafor",
        "amara",
        "AMARA",
        "amara okafor",
        " Amara  Okafor ",
        "AmaraOkafor",
        "amara\u00a0okafor",
        "Ａｍａｒａ",
    ],
)
@pytest.mark.parametrize("actor", ["Amara Okafor", "AMARA okafor", "amara"])
def test_the_submitter_never_counts_in_any_spelling(submitter: str, actor: str) -> None:
    golden(void_reasons(ONE, said(actor), submitter=submitter))


def test_a_declared_name_counts_only_where_the_policy_believes_it() -> None:
    strict = Approvals()
    assert strict.identity == "account"
    assert strict.standing([said("li")], DIGEST, "owner", ROSTER, NOW).complete
    golden(void_reasons(strict, said("li", identity="declared")))
    standing = ONE.standing([said("li", identity="declared")], DIGEST, "owner", ROSTER, NOW)
    assert standing.complete
    assert standing.valid[0].identity == "declared"
    golden(void_reasons(ONE, said("li", identity="guessed")))


@pytest.mark.parametrize(
    ("approvals", "entries", "submitter"),
    [
        (ONE, [said("Guest")], "guest "),  # who is on no roster
        (ONE, [said("amara")], "Amara-Okafor"),  # in the spelling of a file of keys
        (ONE, [said("li", subject="e" * 64)], ""),
        (ONE, [Entry(1, NOW.isoformat(), "fair-1", "decision", "li", {}, START, START)], ""),
        (ONE, [said("Zoë")], ""),
        (WEEK, [said("li", at=A_WEEK_AGO - timedelta(microseconds=1))], ""),
        (Approvals(valid_days=1), [said("li", at=A_WEEK_AGO)], ""),
        (ONE, [said("li", at=NOW + timedelta(days=1))], ""),  # else a clock that is wrong makes one that never expires
        (ONE, [said("li", "conflicted"), said("li")], ""),
        (ONE, [said("li", "conflicted", at=NOW - timedelta(days=ONE.valid_days, hours=1)), said("li")], ""),
        (ONE, [replace(said("jonas"), body=said("jonas").body | {"account": "amara"})], ""),  # two under one account
    ],
)
def test_what_is_no_approval_of_this_release_is_void_and_says_why(
    approvals: Approvals, entries: list[Entry], submitter: str
) -> None:
    golden(void_reasons(approvals, *entries, submitter=submitter or "owner"))


def test_a_program_reads_where_it_stands_by_codes_and_data() -> None:
    two = Approvals(count=2, roles=("methodologist",), identity="declared")
    standing = two.standing([said("li", subject="e" * 64)], DIGEST, [], ROSTER, NOW)
    assert [each.code for each in standing.statements] == [
        "standing.decided", "standing.void", "standing.needed", "standing.among", "end",
    ]  # fmt: skip
    assert standing.statements[0].data == {"decided": 0, "asked": 2}
    assert standing.statements[3].data == {"roles": "methodologist"}
    assert [each.because[0].code for each in standing.void] == ["void_decision.of_another"]


def test_who_left_before_the_publication_does_not_count() -> None:
    """Her last day was yesterday; removed from the roster, she would not count."""
    people = {name: person.model_dump() for name, person in ROSTER.people.items()}
    people["Li"]["valid_until"] = (NOW - timedelta(days=1)).date()
    gone = Roster.model_validate({"identity": "declared", "people": people})
    assert not ONE.standing([said("li", at=NOW - timedelta(days=2))], DIGEST, [], gone, NOW).complete


@pytest.mark.parametrize("refusal", ["reject", "request_changes"])
def test_of_one_person_the_last_word_counts(refusal: str) -> None:
    three = Approvals(count=3, identity="declared")
    standing = three.standing([said("li"), said("LI", refusal)], DIGEST, [], ROSTER, NOW)
    assert [(given.who, given.decision) for given in standing.decided] == [("Li", refusal)]
    assert three.standing([said("li", refusal), said("li")], DIGEST, [], ROSTER, NOW).valid[0].who == "Li"


# -- decisions that differ


def outcome_of(approvals: Approvals, *entries: Entry) -> str:
    return approvals.standing(entries, DIGEST, ["owner"], ROSTER, NOW).outcome


DIFFER = (said("amara"), said("jonas", "reject"))
MAJORITY = (*DIFFER, said("noor"))  # in which the only data steward refuses: another steward must agree
THREE = Approvals(count=3, roles=FOUR_EYES.roles, identity="declared")
TWO_OF_ONE_ROLE = Approvals(count=2, roles=("methodologist", "methodologist"))


@pytest.mark.parametrize(
    ("approvals", "entries", "outcome"),
    [
        (ONE, [said("li", "reject")], "rejected"),
        (ONE, [said("li", "request_changes")], "changes_requested"),
        (ONE, [said("li", "conflicted"), said("li", "reject")], "open"),
        (ONE, [said("li", "conflicted"), said("li", "conflicted"), said("noor")], "approved"),
        (TWO, DIFFER, "open"),
        (TWO, [*DIFFER, said("noor")], "approved"),
        (TWO, [*DIFFER, said("noor", "reject")], "rejected"),
        (TWO, [*DIFFER, said("noor", "request_changes")], "changes_requested"),
        (TWO, [*DIFFER, said("amara")], "open"),  # again the same person
        (TWO, [said("amara"), said("jonas", "conflicted")], "open"),
        (TWO, [said("amara", "reject"), said("jonas", "conflicted")], "open"),
        (TWO, [said("amara"), said("jonas", "conflicted"), said("li")], "approved"),
        (FOUR_EYES, MAJORITY, "open"),
        (FOUR_EYES, [*MAJORITY, said("li")], "approved"),
        (FOUR_EYES, [said("Li"), said("li"), said("LI ")], "open"),  # one person, for one role at a time
        (THREE, [said("amara"), said("jonas")], "open"),
        (THREE, [said("amara"), said("jonas"), said("noor")], "approved"),
        (TWO_OF_ONE_ROLE, [said("amara"), said("noor")], "open"),
        (TWO_OF_ONE_ROLE, [said("amara"), said("li")], "approved"),
        (WEEK, [said("li", at=A_WEEK_AGO)], "approved"),
        (ONE, [said("li", at=NOW + timedelta(minutes=4))], "approved"),
    ],
)
def test_what_the_decisions_of_several_people_come_to(approvals: Approvals, entries: list[Entry], outcome: str) -> None:
    assert outcome_of(approvals, *entries) == outcome


def test_decisions_that_differ_go_to_a_further_person() -> None:
    standing = TWO.standing(DIFFER, DIGEST, [], ROSTER, NOW)
    assert (standing.outcome, standing.missing_count) == ("open", 1)
    golden(standing.says)


def test_nobody_is_told_what_was_decided_before_all_have() -> None:
    """Where it stands is the same to the letter, whatever the first one said."""
    for decision in ("approve", "reject", "request_changes"):
        standing = FOUR_EYES.standing([said("amara", decision)], DIGEST, [], ROSTER, NOW)
        assert not standing.revealed
        golden(standing.says)
    assert FOUR_EYES.standing([said("amara", "reject"), said("jonas")], DIGEST, [], ROSTER, NOW).revealed


@pytest.mark.parametrize("decision", ["reject", "request_changes"])
def test_who_submitted_a_release_may_take_it_back(decision: str) -> None:
    standing = TWO.standing([said("li"), said("noor"), said("amara", decision)], DIGEST, ["amara"], ROSTER, NOW)
    assert standing.outcome in ("rejected", "changes_requested")
    golden(standing.says)


def test_typed_names_from_one_account_are_told() -> None:
    def typed(who: str) -> Entry:
        entry = said(who, identity="declared")
        entry.body["account"] = "laptop"
        return entry

    standing = TWO.standing([typed("amara"), typed("jonas")], DIGEST, [], ROSTER, NOW)
    golden.words(standing.says)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["amara", "jonas", "li", "noor"]),
            st.sampled_from(["approve", "reject", "request_changes", "conflicted"]),
        ),
        max_size=8,
    )
)
def test_nothing_is_approved_without_a_majority_that_fills_the_roles(said_so: list[tuple[str, str]]) -> None:
    standing = FOUR_EYES.standing([said(*each) for each in said_so], DIGEST, ["owner"], ROSTER, NOW)
    stood_aside = {who for who, decision in said_so if decision == "conflicted"}  # for good, whatever they say later
    last = {who: decision for who, decision in said_so if who not in stood_aside}
    approving = {who for who, decision in last.items() if decision == "approve"}
    refusing = {who for who, decision in last.items() if decision in ("reject", "request_changes")}
    if standing.complete:
        assert len(approving) >= 2
        assert len(approving) > len(refusing)
        assert approving & {"amara", "li"}
        assert approving & {"jonas", "li"}
    if standing.outcome in ("rejected", "changes_requested"):
        assert len(refusing) > len(approving)
        assert len(refusing) + len(approving) >= 2


def test_of_two_approvals_by_one_person_the_one_that_holds_counts() -> None:
    entries = [said("li"), said("li", subject="e" * 64), said("noor")]
    standing = ONE.standing(entries, DIGEST, "owner", ROSTER, NOW)
    assert [given.who for given in standing.valid] == ["Li", "Noor"]
    assert [void.who for void in standing.void] == ["Li"]
    golden(standing.says)


def test_other_entries_are_no_decisions() -> None:
    entries = [replace(said("li"), event=event) for event in ("received", "pending_review", "approved", "note")]
    assert not ONE.standing(entries, DIGEST, "owner", ROSTER, NOW).complete
    golden(void_reasons(ONE, said("li", "agree")))


def test_a_time_without_a_zone_is_refused() -> None:
    golden.refused(ValueError, ONE.standing, [], DIGEST, "owner", ROSTER, NOW.replace(tzinfo=None))


@pytest.mark.parametrize(
    "wrong", [{"count": 0}, {"count": 1, "roles": ["a", "b"]}, {"valid_days": 0}, {"identity": "none"}, {"quorum": 1}]
)
def test_a_demand_that_asks_for_nobody_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Approvals.model_validate(wrong)


def test_the_demand_in_words() -> None:
    golden(FOUR_EYES.describe())
    golden(Approvals(valid_days=1).describe())


ROLES = st.sampled_from("abcd")


@given(
    st.lists(ROLES, max_size=4),
    st.dictionaries(st.text("vwxyz", min_size=1, max_size=2), st.sets(ROLES, max_size=3), max_size=5),
)
def test_the_assignment_is_as_large_as_any(roles: list[str], people: dict[str, set[str]]) -> None:
    """Against every way to line the people up before the places, tried one by one."""
    filled = assign(roles, people)
    assert len(set(filled.values())) == len(filled)
    assert all(roles[slot] in people[who] for slot, who in filled.items())
    padded: list[str | None] = [*people, *[None] * len(roles)]
    best = max(
        sum(who is not None and role in people[who] for role, who in zip(roles, line, strict=True))
        for line in permutations(padded, len(roles))
    )
    assert len(filled) == best


@given(st.permutations([said("amara"), said("jonas"), said("li"), said("noor"), said("Guest")]))
def test_the_order_of_the_approvals_does_not_matter(entries: list[Entry]) -> None:
    standing = FOUR_EYES.standing(entries, DIGEST, "owner", ROSTER, NOW)
    assert standing.complete
    assert {given.who for given in standing.valid} == {"Amara Okafor", "jonas", "Li", "Noor"}


# -- the subject


def test_the_digest_of_a_subject_depends_on_every_part() -> None:
    parts = ("data", "csv", "contract", "policy", "plan", "report", "dossier")
    hashes = dict.fromkeys(parts, "a" * 64)
    digests = {Subject(**hashes).digest()} | {Subject(**{**hashes, part: "b" * 64}).digest() for part in parts}
    assert len(digests) == len(parts) + 1
    assert len({Subject(**{**hashes, part: "b" * 64}).digest() for part in parts}) == len(parts)
    assert Subject(**hashes).digest() == Subject(**hashes).digest()


@pytest.mark.parametrize("wrong", ["", "A" * 64, "a" * 63, "g" * 64])
def test_a_subject_is_made_of_hashes(wrong: str) -> None:
    with pytest.raises(ValidationError):
        Subject(**{**dict.fromkeys(Subject.model_fields, "a" * 64), "report": wrong})


def test_nothing_is_told_before_the_roles_that_are_needed_have_decided() -> None:
    """Noor has none of the roles: with her, two have decided, and jonas, who is needed, has not."""
    roster = Roster.model_validate(
        {"identity": "declared", "people": {n: p.model_dump() for n, p in ROSTER.people.items()}}
    )
    for word in ("approve", "reject"):
        standing = FOUR_EYES.standing([said("amara", word), said("noor")], DIGEST, [], roster, NOW)
        assert standing.outcome == "open"
        assert not standing.revealed, standing.says
    told = {
        FOUR_EYES.standing([said("amara", word), said("noor")], DIGEST, [], roster, NOW).says
        for word in ("approve", "reject")
    }
    assert len(told) == 1, told  # else jonas knows what amara said
    decided = [said("amara"), said("noor"), said("li", "reject")]
    assert THREE.standing(decided, DIGEST, [], ROSTER, NOW).revealed  # all who are needed: li fills the other role

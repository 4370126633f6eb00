"""The board names what waits, for whom and until when; what is current and what stopped; and no figure of the data."""

import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sluice.custody.states import IN_DOUBT, REASSESSED, State
from tasks.release.decisions.board import board
from tests.flows.house import BLOCKED, DONE, WAITING, House
from tests.golden import golden
from tests.tasks.release.ledger_house import RELEASE, LedgerHouse


@pytest.fixture
def pending(tmp_path: Path) -> LedgerHouse:
    house = LedgerHouse(tmp_path / "house")
    house.pending()
    return house


@pytest.fixture
def almost(pending: LedgerHouse) -> LedgerHouse:
    """With the approval of amara, the methodologist."""
    pending.decide("amara")
    return pending


def test_what_waits_says_for_whom(pending: LedgerHouse) -> None:
    [waits] = board(pending.workspace()).waiting
    assert waits.about == RELEASE
    golden(waits.needs)
    assert waits.people == ("amara", "jonas", "mina"), "emil has both roles, and submitted it"
    assert waits.until is None


def test_who_has_decided_is_not_waited_for(almost: LedgerHouse) -> None:
    found = board(almost.workspace())
    [waits] = found.waiting
    assert waits.people == ("jonas",)
    golden(waits.needs)
    [given] = [entry for entry in almost.workspace().ledger.entries() if entry.event == "decision"]
    assert waits.until is not None
    assert datetime.fromisoformat(waits.until) - datetime.fromisoformat(given.at) > timedelta(days=29.9)
    assert found.ending == ()


def test_a_refusal_looks_like_an_approval_until_all_have_decided(pending: LedgerHouse) -> None:
    assert pending.sluice("reject", RELEASE, "--as", "amara", "--comment", "no").code == WAITING
    [waits] = board(pending.workspace()).waiting
    assert waits.people == ("jonas",)
    golden(waits.needs)


def test_an_approval_that_ends_soon_is_named(almost: LedgerHouse) -> None:
    [ending] = board(almost.workspace(), datetime.now(UTC) + timedelta(days=20)).ending
    assert (ending.about, ending.what) == (RELEASE, "a decision")


def test_what_is_published_is_current_until_it_is_withdrawn(tmp_path: Path) -> None:
    house = LedgerHouse(tmp_path / "house")
    house.published()
    [current] = board(house.workspace()).current
    assert (current.release, current.definition) == (RELEASE, "people-puf")
    assert current.folder == str(house.target / RELEASE)
    ledger = house.workspace().ledger
    ledger.append(RELEASE, "withdrawal", "amara", {})
    [waits] = board(house.workspace()).waiting
    golden(waits.needs)
    assert waits.people == ("emil", "jonas", "mina"), "whoever submitted it, too"
    assert waits.do == f"sluice withdraw {RELEASE} --reason WHY"
    ledger.append(RELEASE, "withdrawn", "jonas", {})
    found = board(house.workspace())
    assert (found.current, found.waiting) == ((), ())


def test_what_is_current_and_in_doubt_says_so(tmp_path: Path) -> None:
    house = LedgerHouse(tmp_path / "house")
    house.published()
    ledger = house.workspace().ledger
    ledger.append(RELEASE, IN_DOUBT, "sluice", {"verdict_now": "FAIL", "says": "7331 people can be found again."})
    [current] = board(house.workspace()).current
    assert current.doubt.startswith("in doubt: judged again on 20")
    assert current.doubt.endswith("verdict FAIL")
    ledger.append(RELEASE, IN_DOUBT, "sluice", {"verdict_now": "UNKNOWN", "says": "A rule could not be judged."})
    [current] = board(house.workspace()).current
    assert current.doubt.endswith("verdict UNKNOWN"), "nobody can tell any more whether it may stay"
    ledger.append(RELEASE, REASSESSED, "sluice", {"verdict_now": "PASS"})
    [current] = board(house.workspace()).current
    assert current.doubt == "", "a waiver, or another policy, took it away"


def test_a_document_that_one_person_adopted_waits_for_another(pending: LedgerHouse) -> None:
    pending.people["people"]["zoe"] = {"roles": ["methodologist"]}
    pending.write()
    assert pending.sluice("adopt", str(pending.documents / "people.yaml"), "--as", "jonas").code == WAITING
    [proposed] = [each for each in board(pending.workspace()).waiting if each.about == "the roster"]
    golden(proposed.needs)
    assert proposed.people == ("amara",), "another who is no head would not complete it"
    assert pending.sluice("adopt", str(pending.documents / "people.yaml"), "--as", "amara").code == DONE
    pending.policy["version"] = 2
    pending.write()
    assert pending.sluice("adopt", str(pending.documents / "policy.yaml"), "--as", "amara").code == WAITING
    [proposed] = [each for each in board(pending.workspace()).waiting if each.about.startswith("the policy")]
    assert sorted(proposed.people) == ["emil", "jonas", "mina", "zoe"], "as a methodologist brought it"


def test_who_leaves_soon_is_named(pending: LedgerHouse) -> None:
    pending.people["people"]["mina"]["valid_until"] = datetime.now(UTC).date() + timedelta(days=5)
    pending.write()
    pending.adopt()
    assert [each.what for each in board(pending.workspace()).ending] == ["mina's place in it"]


def test_what_stopped_says_why_and_what_to_do(pending: LedgerHouse) -> None:
    ledger, verdict = pending.workspace().ledger, {"verdict": "FAIL", "says": "Blocked: 2 of 7331 are alone."}
    ledger.append("other-1", "received", "sluice", {"definition": "other"})
    ledger.append("other-1", "blocked", "sluice", verdict)
    ledger.append("third-1", "received", "sluice", {"definition": "third"})
    ledger.append("third-1", "failed", "sluice", {"step": "mask", "error": "DataError"})
    found = board(pending.workspace())
    assert [(each.release, each.what) for each in found.stopped] == [
        ("other-1", "blocked, verdict FAIL"), ("third-1", "mask failed with DataError"),
    ]  # fmt: skip
    assert found.stopped[0].do.endswith("sluice review other-1")
    assert "7331" not in json.dumps(asdict(found))
    ledger.append("other-2", "received", "sluice", {"definition": "other"})
    after = board(pending.workspace())
    assert [each.release for each in after.stopped] == ["third-1"], "what went on since is no news"
    assert [each.release for each in after.under_way] == ["other-2"]


def test_the_command_shows_it_and_as_json(almost: LedgerHouse) -> None:
    told = almost.sluice("board")
    assert told.code == DONE
    golden(told.words)
    assert str(RELEASE) in told.words
    assert "can: jonas" in told.words
    found = almost.sluice("board", "--json").json
    assert [each["about"] for each in found["waiting"]] == [RELEASE]
    assert (found["runs"], found["server"], found["notices"]["waiting"]) == ([], None, 0)


def test_a_rejected_release_is_named(pending: LedgerHouse) -> None:
    for who, code in (("amara", WAITING), ("jonas", BLOCKED)):
        assert pending.sluice("reject", RELEASE, "--as", who, "--comment", "no").code == code
    [stopped] = board(pending.workspace()).stopped
    assert (stopped.what, stopped.release) == ("rejected", RELEASE)


def test_a_workspace_without_an_office_has_an_empty_board(tmp_path: Path) -> None:
    found = board(House(tmp_path / "house").workspace())
    assert not any((found.waiting, found.current, found.stopped, found.under_way, found.ending))


def test_a_release_that_cannot_be_read_hides_no_other(pending: LedgerHouse) -> None:
    workspace = pending.workspace()
    [received] = [entry for entry in workspace.ledger.entries(RELEASE) if entry.event == State.RECEIVED]
    unknown = workspace.vault.keep_bytes(b'{"name": "public-use", "rule_of_old": 3}', ".json")
    for event, body in {
        State.RECEIVED: received.body | {"policy": unknown}, State.VALIDATED: {}, State.MASKED: {},
        State.EVALUATED: {"verdict": "PASS"}, State.PENDING_REVIEW: {},
    }.items():  # fmt: skip
        workspace.ledger.append("old-puf-1", event, "sluice", body)
    first, second = board(pending.workspace()).waiting
    assert first.about == RELEASE
    golden(first.needs)
    assert second.about == "old-puf-1"
    golden.words(second.needs)


def test_a_check_that_is_done_is_not_under_way(pending: LedgerHouse) -> None:
    ledger = pending.workspace().ledger
    for event in ("received", "validated", "masked"):
        ledger.append("other-1", event, "sluice", {"definition": "other"})
    ledger.append("third-1", "received", "sluice", {"definition": "third"})
    assert [each.release for each in board(pending.workspace()).under_way] == ["other-1", "third-1"]
    judged = {"verdict": "FAIL", "says": "Blocked: 2 of 7331 are alone."}
    ledger.append("other-1", "evaluated", "sluice", judged)
    ledger.append("third-1", "note", "sluice", judged)  # of data that nothing could be masked of
    assert board(pending.workspace()).under_way == ()

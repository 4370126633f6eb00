"""Who may approve, what an approval is bound to, which decisions are final. Nothing is published in any case here."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import tasks.release.decisions.under_review
from sluice.custody.states import State
from tasks.release.decisions.signing_in import account
from tests.flows.clocks import in_days
from tests.flows.house import BLOCKED, DONE, ERROR, WAITING, House
from tests.golden import golden


def judged_again(house: House) -> str:
    """The id of the release under documents that were changed."""
    house.write()
    assert house.release().code == WAITING
    return house.id


def kept(house: House, name: str, suffix: str) -> Path:
    """The object of the vault that approvals are bound to under this name."""
    judged = next(entry for entry in house.workspace().ledger.entries(house.id) if entry.event == State.EVALUATED)
    return house.home / "vault" / "objects" / f"{judged.body['subject'][name]}{suffix}"


def test_the_submitter_cannot_approve_though_on_the_roster_with_every_role(pending: House) -> None:
    told = pending.approve("emil")
    assert (told.code, pending.shelf) == (ERROR, [])
    assert "'emil' submitted" in told.words
    assert "decision" not in pending.events()


def test_the_account_that_ran_the_release_cannot_approve_under_another_name(house: House) -> None:
    house.adopt()
    house.people["people"]["amara"]["account"] = account()
    house.write()
    assert house.release().code == WAITING
    told = house.approve("amara")
    assert told.code == ERROR
    assert "'amara' submitted" in told.words


def test_nobody_from_outside_the_roster_can_decide(pending: House) -> None:
    for command in ("approve", "reject", "request-changes"):
        pending.sluice(command, pending.id, "--as", "mallory", "--comment", "I say so").refused()
    assert pending.events()[-1] == State.PENDING_REVIEW


def test_one_person_counts_once(pending: House) -> None:
    assert pending.approve("amara").code == WAITING
    [given] = [entry for entry in pending.workspace().ledger.entries() if entry.event == "decision"]
    for spelling in ("amara", " AMARA "):  # another spelling is no other person
        told = pending.approve(spelling)
        assert (told.code, pending.shelf) == (WAITING, [])
        golden(told.words)
        assert str(given.at) in told.words
    assert pending.events().count("decision") == 1


def test_an_approval_that_ended_is_given_anew(pending: House, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pending.approve("amara").code == WAITING

    monkeypatch.setattr(tasks.release.decisions.under_review, "datetime", in_days(31))
    told = pending.approve("amara")
    assert "already decided" not in told.words
    assert pending.events().count("decision") == 2


def test_two_people_of_one_role_do_not_fill_two_roles(pending: House) -> None:
    assert pending.approve("amara").code == WAITING
    told = pending.approve("mina")
    assert (told.code, pending.shelf) == (WAITING, [])
    golden.where("data_steward", told.words)
    told = pending.approve("jonas")
    assert told.code == DONE
    golden(told.words)
    assert str(pending.id) in told.words


def test_what_is_not_published_cannot_be_withdrawn(pending: House) -> None:
    refused = pending.withdraw(pending.id, "wrong codes").refused(figures=True)
    assert str(pending.id) in refused.words


def test_the_report_is_printed_for_whoever_may_not_read_it_and_is_the_one_that_approvals_are_bound_to(
    pending: House,
) -> None:
    report = kept(pending, "report", ".html")
    printed = pending.sluice("review", pending.id, "--html")
    assert (printed.code, printed.out) == (DONE, report.read_text("utf-8"))
    report.chmod(0o600)
    report.write_text("<p>All is well")
    assert pending.sluice("review", pending.id, "--html").code == ERROR


def test_nobody_approves_before_there_is_something_to_judge(pending: House) -> None:
    assert pending.sluice("approve", "people-puf-000000000000", "--as", "amara").code == ERROR
    near = pending.id[:-1] + ("0" if pending.id[-1] != "0" else "1")
    assert f"'{pending.id}'" in pending.sluice("approve", near, "--as", "amara").words


@pytest.mark.parametrize("document", ["policy", "contract", "plan"])
def test_a_changed_document_voids_the_approvals(pending: House, document: str) -> None:
    judged = pending.id
    assert pending.approve("amara").code == WAITING
    if document == "policy":
        pending.policy["rules"][0]["k"] = 3  # milder than what was judged
    elif document == "contract":
        pending.variable("income")["maximum"] = 10_000_000
    else:
        pending.definition["plan"][-1]["window"] = 0.3
    pending.write()
    told = pending.approve("jonas")
    assert (told.code, pending.shelf) == (ERROR, [])
    golden(told.words)
    assert str(document) in told.words
    assert str(judged) in told.words
    assert judged_again(pending) != judged
    assert "0 of 2 decisions" in pending.sluice("review", pending.id).words


def test_an_approval_of_one_release_is_none_of_another(pending: House) -> None:
    first = pending.id
    assert pending.approve("amara").code == WAITING
    pending.new_edition()
    second = judged_again(pending)
    assert second != first
    assert pending.approve("jonas").code == WAITING
    assert pending.shelf == []


def test_a_definition_that_was_moved_is_decided_on_where_it_lies_now(pending: House) -> None:
    moved = pending.file.rename(pending.file.with_name("moved.yaml"))
    pending.sluice("approve", pending.id, "--as", "amara").refused()
    judged = pending.id
    assert pending.sluice("release", str(moved)).code == WAITING
    assert pending.ids == [judged]
    assert pending.sluice("approve", judged, "--as", "amara").code == WAITING


def test_a_comment_in_a_document_changes_nothing(pending: House) -> None:
    with (pending.documents / "policy.yaml").open("a") as policy:
        policy.write("# a word of explanation\n")
    pending.approve_as_both()


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".json", ".html"])
def test_what_is_altered_in_the_vault_is_neither_approved_nor_published(pending: House, suffix: str) -> None:
    altered = kept(pending, {".parquet": "data", ".csv": "csv", ".json": "dossier", ".html": "report"}[suffix], suffix)
    assert pending.approve("amara").code == WAITING
    altered.write_bytes(altered.read_bytes() + b" ")
    told = pending.approve("jonas")
    assert (told.code, pending.shelf) == (ERROR, [])
    golden.words(told.words)
    assert pending.events()[-1] == "decision"  # amara's


def test_a_file_altered_after_the_last_approval_is_not_published(
    pending: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last approval is recorded, the run stops before publication, the file is altered, the run is taken up."""
    import flows.follow_up

    monkeypatch.setattr(flows.follow_up, "go_on", lambda release: None)
    for person in ("amara", "jonas"):
        pending.approve(person)
    monkeypatch.undo()
    assert pending.events()[-2:] == ["decision", "decision"]
    altered = kept(pending, "csv", ".csv")
    altered.write_bytes(altered.read_bytes().replace(b"north", b"south"))
    told = pending.release()
    assert (told.code, pending.shelf) == (ERROR, [])
    golden.words(told.words)
    assert State.PUBLISHING not in pending.events()


@pytest.mark.parametrize("lost", [False, True], ids=["altered", "lost"])
def test_a_report_that_is_not_the_one_that_was_made_cannot_be_approved(pending: House, lost: bool) -> None:
    report = pending.home / "reports" / f"{pending.id}.html"
    content = report.read_bytes()
    report.unlink() if lost else report.write_bytes(content.replace(b"meets the rule", b"meets every rule"))
    pending.approve("amara").refused()
    report.write_bytes(content)
    assert pending.approve("amara").code == WAITING


def test_an_approval_ends(pending: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """After valid_days the first approval is void, and the second alone does not publish."""
    assert pending.approve("amara").code == WAITING

    monkeypatch.setattr(tasks.release.decisions.under_review, "datetime", in_days(31))
    told = pending.sluice("review", pending.id)
    assert "1 void" in told.out
    golden.where("0 of 2", told.out)
    monkeypatch.undo()
    assert "1 of 2 decisions" in pending.sluice("review", pending.id).words


def test_an_approved_release_whose_approval_ended_waits_again(pending: House, monkeypatch: pytest.MonkeyPatch) -> None:
    import flows.follow_up

    monkeypatch.setattr(flows.follow_up, "go_on", lambda release: None)
    for person in ("amara", "jonas"):
        told = pending.approve(person)
    golden.words(told.words)
    monkeypatch.undo()
    late = datetime.now(UTC) + timedelta(days=31)

    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return late

    monkeypatch.setattr(tasks.release.decisions.under_review, "datetime", Later)
    told = pending.release()
    assert (told.code, pending.shelf) == (WAITING, [])
    golden(told.words)


def test_of_a_blocked_release_no_decision_is_asked_for_and_it_is_said_where_to_look(house: House) -> None:
    house.policy["rules"][0]["k"] = 1000
    house.write()
    assert house.release().code == BLOCKED
    seen = house.sluice("review", house.id).words
    golden.where("as it is blocked", house.sluice("review", house.id).out)
    assert "of 2 decisions" not in seen
    assert "needed" not in seen
    told = house.approve("amara")
    assert (told.code, house.events()[-1]) == (ERROR, State.BLOCKED)
    golden(told.words)
    assert str(house.id) in told.words


@pytest.mark.parametrize(
    ("command", "state"), [("reject", State.REJECTED), ("request-changes", State.CHANGES_REQUESTED)]
)
def test_a_refusal_is_final(pending: House, command: str, state: State) -> None:
    assert pending.approve("amara").code == WAITING
    told = pending.sluice(command, pending.id, "--as", "jonas", "--comment", "too few women")
    assert (told.code, pending.events()[-1]) == (WAITING, "decision")
    golden(told.words)
    told = pending.sluice(command, pending.id, "--as", "mina", "--comment", "too few women")
    assert (told.code, pending.events()[-1]) == (BLOCKED, state)
    told = pending.approve("jonas")
    assert told.code == ERROR
    words = state.replace("_", " ")
    golden(told.words)
    assert str(words) in told.words
    again = pending.release()
    assert (again.code, pending.shelf) == (BLOCKED, [])
    assert pending.events()[-1] == state
    other = "reject" if command == "request-changes" else "request-changes"
    told = pending.sluice(other, pending.id, "--as", "amara", "--comment", "too few women")
    golden(told.words)
    assert str(words) in told.words


@pytest.mark.parametrize(
    ("command", "state"), [("reject", State.REJECTED), ("request-changes", State.CHANGES_REQUESTED)]
)
def test_a_refusal_needs_no_document_of_today(pending: House, command: str, state: State) -> None:
    """Who approves must see what is there now; who refuses what was judged need not."""
    pending.policy["rules"] = []
    pending.write()
    assert "changed since" in pending.approve("amara").words
    (pending.documents / "policy.yaml").unlink()
    (pending.documents / "contract.yaml").unlink()
    refusal = (command, pending.id, "--comment", "the policy was too lax")
    golden.words(pending.sluice(*refusal, "--as", "mallory").words)
    assert pending.sluice(*refusal, "--as", "jonas").code == WAITING
    told = pending.sluice(*refusal, "--as", "amara", "--json")
    assert (told.code, told.json["state"]) == (BLOCKED, state)
    assert pending.events()[-1] == state


def test_a_name_that_is_typed_is_not_believed_where_accounts_are_asked_for(house: House) -> None:
    house.policy["approvals"]["identity"] = "account"
    house.write()
    assert house.release().code == WAITING
    told = house.approve("amara")
    assert (told.code, house.shelf) == (ERROR, [])
    golden.words(told.words)
    golden.words(house.sluice("approve", house.id).words)  # this process's own account


def test_an_approver_taken_off_the_roster_does_not_count_any_more(pending: House) -> None:
    assert pending.approve("amara").code == WAITING
    del pending.people["people"]["amara"]
    pending.people["people"]["mina"]["roles"].append("head")
    pending.write()
    pending.adopt()
    told = pending.approve("jonas")
    assert (told.code, pending.shelf) == (WAITING, [])
    golden(told.words)


def test_a_tampered_ledger_publishes_nothing(pending: House) -> None:
    """Whoever writes into the database cannot make a release approved."""
    release = pending.id
    assert pending.approve("amara").code == WAITING
    with sqlite3.connect(pending.home / "ledger.db") as ledger:
        for (trigger,) in ledger.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            ledger.execute(f"DROP TRIGGER {trigger}")
        ledger.execute("UPDATE sluice_ledger SET actor = 'mina' WHERE event = 'decision'")
    told = pending.sluice("approve", release, "--as", "jonas")
    assert (told.code, pending.shelf) == (ERROR, [])
    golden.words(told.words)
    assert pending.sluice("ledger", "verify").code == ERROR

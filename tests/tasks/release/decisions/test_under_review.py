"""A release as those who decide on it find it: by the ledger and the vault, now or at the time of its publication."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from policies.approvals import Subject
from policies.kept_policy import KeptPolicy
from policies.policy import Policy
from sluice.custody.states import State, Who
from sluice.custody.workspace import Workspace
from sluice.documents.document_reading import document_bytes
from sluice.ground.errors import DataError, SluiceError
from tasks.release.decisions.decisions_of_people import decide
from tasks.release.decisions.signing_in import Credentials
from tasks.release.decisions.under_review import UnderReview
from tests.flows.house import House
from tests.flows.house import policy as a_policy
from tests.golden import golden

ID = "people-puf-0123456789ab"
FIRST, SECOND = (
    Subject(**dict.fromkeys(("data", "contract", "policy", "plan", "report", "dossier"), each * 64)) for each in "ab"
)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """An office, in which noor has no role that a policy asks for."""
    made = House(tmp_path / "house")
    made.people["people"]["noor"] = {"roles": ["librarian"], "account": "n.lee"}
    made.write()
    made.adopt()
    monkeypatch.setenv("SLUICE_HOME", str(made.home))
    return made


@pytest.fixture
def workspace(house: House) -> Workspace:
    opened: Workspace = house.workspace()
    return opened


def receive(workspace: Workspace, by: str = "worker", owner: str = "emil", release: str = ID) -> dict[str, str]:
    """As `ingest` records it; the documents lie in the vault alone."""
    kept = {
        "policy": workspace.vault.keep_bytes(document_bytes(Policy.model_validate(a_policy())), ".json"),
        "plan": workspace.vault.keep_bytes(json.dumps({"owner": owner}).encode(), ".json"),
    }
    workspace.ledger.append(release, State.RECEIVED, by, kept)
    return kept


def judged(workspace: Workspace, subject: Subject = FIRST, release: str = ID) -> None:
    bodies: dict[State, dict[str, Any]] = {State.EVALUATED: {"subject": subject.model_dump(exclude_none=True)}}
    for state in (State.VALIDATED, State.MASKED, State.EVALUATED):
        workspace.ledger.append(release, state, "worker", bodies.get(state, {}))


def pending(workspace: Workspace) -> Workspace:
    receive(workspace)
    judged(workspace)
    workspace.ledger.append(ID, State.PENDING_REVIEW, "worker", {})
    return workspace


def test_a_release_that_is_not_there_is_named_like_one_that_is(workspace: Workspace) -> None:
    golden.refused(SluiceError, UnderReview.of, workspace, "people-puf")
    receive(workspace)
    golden.refused(SluiceError, UnderReview.of, workspace, ID.replace("9", "8"))


def test_without_an_office_nobody_can_decide(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path / "home")
    receive(workspace)
    golden.refused(SluiceError, UnderReview.of, workspace, ID)


def test_the_policy_is_the_one_that_was_received_and_no_file_of_today(house: House, workspace: Workspace) -> None:
    kept = receive(workspace)
    house.policy["approvals"]["count"] = 1
    house.policy["approvals"]["roles"] = []
    house.write()
    assert UnderReview.of(workspace, ID).policy == KeptPolicy.model_validate(a_policy())
    place = workspace.vault.path(kept["policy"], ".json")
    place.write_bytes(document_bytes(Policy.model_validate(house.policy)))
    golden.refused(DataError, UnderReview.of, workspace, ID)


def test_what_is_decided_on_is_the_latest_evaluation(workspace: Workspace) -> None:
    receive(workspace)
    with golden.raises(SluiceError):
        _ = UnderReview.of(workspace, ID).subject
    judged(workspace)
    assert UnderReview.of(workspace, ID).subject == FIRST
    receive(workspace)
    judged(workspace, SECOND)
    assert UnderReview.of(workspace, ID).subject == SECOND


# Who is who


def test_submitters_are_the_owner_and_everybody_who_ever_ran_it(workspace: Workspace) -> None:
    for account in ("worker", "mina", "worker"):
        receive(workspace, account)
    receive(workspace, "jonas", release="another-0123456789ab")
    assert UnderReview.of(workspace, ID).submitters == ("emil", "worker", "mina")


@pytest.mark.parametrize(("spelling", "person"), [(" NOOR ", "noor"), ("n.lee", "noor"), ("Emil", "emil")])
def test_another_spelling_or_the_account_is_no_other_person(workspace: Workspace, spelling: str, person: str) -> None:
    receive(workspace, owner=spelling)
    case = UnderReview.of(workspace, ID)
    assert case.is_submitter(person)
    assert not case.is_submitter("jonas")
    assert case.relation(person) is Who.SUBMITTER


def test_what_somebody_is_to_a_release_is_the_first_that_fits(workspace: Workspace) -> None:
    receive(workspace)
    case = UnderReview.of(workspace, ID)
    assert {name: case.relation(name) for name in case.office.roster.people} == {
        "amara": Who.HEAD,  # and a methodologist
        "jonas": Who.IN_ROLE,
        "mina": Who.IN_ROLE,
        "emil": Who.SUBMITTER,  # with every role of the policy
        "noor": Who.ON_ROSTER,
    }
    receive(workspace, "amara")  # the head runs it herself
    assert UnderReview.of(workspace, ID).relation("amara") is Who.SUBMITTER


# As it was when its publication was begun


def decided(workspace: Workspace, *people: str) -> Workspace:
    for person in people:
        decide(workspace, ID, "approve", Credentials(declared=person), "")
    return workspace


def test_a_publication_that_was_begun_is_seen_as_it_was_then(house: House, workspace: Workspace) -> None:
    """Afterwards the roster loses one who approved: an interrupted publication ends as it began."""
    decided(pending(workspace), "amara", "jonas")
    workspace.ledger.append(ID, State.APPROVED, "worker", {})
    begun = workspace.ledger.append(ID, State.PUBLISHING, "worker", {})
    del house.people["people"]["jonas"]
    house.people["people"]["noor"]["roles"] = ["owner"]
    house.write()
    house.adopt()
    then, now = UnderReview.of(workspace, ID, begun), UnderReview.of(workspace, ID)
    assert ("jonas" in then.office.roster.people, "jonas" in now.office.roster.people) == (True, False)
    assert (then.standing().complete, now.standing().complete) == (True, False)
    assert then.now == datetime.fromisoformat(begun.at)
    assert begun.seq not in {entry.seq for entry in then.entries}


def test_time_goes_on_for_what_was_not_begun(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    decided(pending(workspace), "amara", "jonas")
    begun = workspace.ledger.append(ID, State.APPROVED, "worker", {})
    days = a_policy()["approvals"]["valid_days"]
    now = datetime.now(UTC) + timedelta(days=days, minutes=1)
    monkeypatch.setattr(
        "tasks.release.decisions.under_review.datetime", type("Later", (datetime,), {"now": lambda _: now})
    )
    assert not UnderReview.of(workspace, ID).standing().complete
    assert UnderReview.of(workspace, ID, begun).standing().complete


def test_decisions_on_other_bytes_are_none_on_these(workspace: Workspace) -> None:
    """As if the release had been judged again under their eyes."""
    case = UnderReview.of(decided(pending(workspace), "amara"), ID)
    assert len(case.standing().valid) == 1
    (evaluated,) = (entry for entry in case.entries if entry.event == State.EVALUATED)
    again = replace(evaluated, body={"subject": SECOND.model_dump(exclude_none=True)})
    standing = replace(case, entries=[*case.entries, again]).standing()
    assert (standing.valid, [void.reason for void in standing.void]) == (
        (),
        ["was given to another file, document or report"],
    )


def test_what_was_judged_again_since_it_was_read_is_not_decided_on(workspace: Workspace) -> None:
    pending(workspace)
    golden.refused(
        SluiceError, decide, workspace, ID, "reject", Credentials(declared="amara"), "no", seen=SECOND.digest()
    )
    assert UnderReview.of(workspace, ID).standing().decided == ()
    decide(workspace, ID, "reject", Credentials(declared="amara"), "no", seen=FIRST.digest())
    assert len(UnderReview.of(workspace, ID).standing().decided) == 1


def test_a_reason_given_afterwards_is_kept(workspace: Workspace) -> None:
    """The same again records nothing; with other words it does, and counts once."""
    pending(workspace)
    for comment in ("", "as last year", "as last year", ""):
        decide(workspace, ID, "approve", Credentials(declared="amara"), comment)
    (holds,) = UnderReview.of(workspace, ID).standing().decided
    assert holds.comment == "as last year"
    assert sum(entry.actor == "amara" for entry in workspace.ledger.entries(ID)) == 2

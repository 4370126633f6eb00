"""Every action of a person on a release in every state, by everybody: done or refused, as the table of states says."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from policies.approvals import Subject
from policies.decision_table import office_table
from policies.policy import Policy
from sluice.custody.ledger import Ledger
from sluice.custody.states import PEOPLE, REACHED_FROM, TRANSITIONS, State, Who, allowed, as_markdown
from sluice.custody.workspace import Workspace
from sluice.documents.document_reading import document_bytes
from sluice.ground.errors import SluiceError
from tasks.release.decisions.decisions_of_people import decide, end_series, withdraw
from tasks.release.decisions.signing_in import Credentials
from tests.flows.house import House
from tests.flows.house import policy as a_policy

ROOT = Path(__file__).resolve().parents[4]
ACTIONS = ("approve", "reject", "request-changes", "conflicted", "withdraw", "end-series")
ON_FINDINGS = ("accept-finding", "refuse-finding")  # tests/tasks/release/decisions/test_open_findings.py walks them
PERSON = {Who.HEAD: "amara", Who.IN_ROLE: "mina", Who.ON_ROSTER: "noor", Who.SUBMITTER: "emil"}
SUBJECT = Subject(**dict.fromkeys(("data", "contract", "policy", "plan", "report", "dossier"), "a" * 64))


def way_to(state: State) -> list[State]:
    """The shortest history that ends in a state."""
    ways: list[list[State]] = [[State.RECEIVED]]
    while ways[0][-1] is not state:
        way = ways.pop(0)
        ways += [[*way, after] for after, before in REACHED_FROM.items() if way[-1] in before and after not in way]
    return ways[0]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    house = House(tmp_path_factory.mktemp("who") / "house")
    house.people["people"]["noor"] = {"roles": ["librarian"]}
    house.write()
    house.adopt()
    opened: Workspace = house.workspace()
    return opened


def brought_to(workspace: Workspace, state: State, name: str) -> str:
    """A release that nobody made, as the ledger would have it."""
    # Four, so that three decide nothing.
    series = {"editions": 2, "days": 30}
    approvals = {"count": 4, "roles": ["methodologist"], "identity": "declared", "series": series}
    asked = Policy.model_validate(a_policy() | {"approvals": approvals})
    kept = {
        "policy": workspace.vault.keep_bytes(document_bytes(asked), ".json"),
        "plan": workspace.vault.keep_bytes(b'{"owner": "emil"}', ".json"),
    }
    body: dict[State, dict[str, Any]] = {
        State.RECEIVED: kept,
        State.EVALUATED: {"subject": SUBJECT.model_dump(exclude_none=True)},
        State.PUBLISHED: {"files": {"manifest.json": "a" * 64}, "folder": str(workspace.home / "nowhere")},
    }
    ledger: Ledger = workspace.ledger
    for each in way_to(state):
        ledger.append(name, each, "emil", body.get(each, {}))
    return name


@pytest.mark.parametrize(("state", "action"), list(product(State, ACTIONS)), ids=str)
def test_an_action_is_done_or_refused_as_the_table_says(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, state: State, action: str
) -> None:
    monkeypatch.setenv("SLUICE_HOME", str(workspace.home))
    release = brought_to(workspace, state, f"{state}-{action}".replace("_", "-"))
    for who in (Who.ON_ROSTER, Who.IN_ROLE, Who.HEAD, Who.SUBMITTER):  # the last may end it
        before = len(workspace.ledger.entries(release))
        means = Credentials(declared=PERSON[who])
        may = who in allowed(action).get(state, frozenset())
        done = True
        try:
            if action == "withdraw":
                if who is Who.ON_ROSTER or not may:  # the second would take it off a shelf that is not there
                    withdraw(release, means, "a mistake")
                else:
                    continue
            elif action == "end-series":
                end_series(release, means, "a new questionnaire")
            else:
                decide(workspace, release, action.replace("-", "_"), means, "so be it")  # type: ignore[arg-type]
        except SluiceError:
            done = False
        assert done == may, who
        assert (len(workspace.ledger.entries(release)) > before) == may, who


def test_every_action_of_a_person_is_walked() -> None:
    assert {each.action for each in TRANSITIONS if each.by & PEOPLE} == {*ACTIONS, *ON_FINDINGS}


def test_the_documented_table_is_that_of_the_code() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert as_markdown() in page, "write the output of sluice.custody.states.as_markdown() into docs/architecture.md"
    assert office_table() in page, "and that of policies.decision_table.office_table()"

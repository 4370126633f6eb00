"""The runs on Prefect's server that an operator should know of: late, stuck, lost, crashed, failed, and those that
come."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from shlex import quote
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterTags,
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterExpectedStartTime,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.sorting import FlowRunSort
from prefect.settings import get_current_settings

from sluice.custody.states import State
from sluice.custody.workspace import Workspace
from tasks.release.run_notes import OURS, is_gone, note_of_run, read_note

UNJUDGED = (State.RECEIVED, State.VALIDATED, State.MASKED, State.EVALUATED)
UNFINISHED = (*UNJUDGED, State.NEEDS_DECISION, State.PENDING_REVIEW, State.APPROVED, State.PUBLISHING)

_PAGE = 200  # runs that the server gives at once
_LATE = timedelta(minutes=2)  # after its time a run that nobody has taken is late
_STUCK = timedelta(minutes=10)  # no process takes so long to begin
_NOTED = timedelta(minutes=2)  # a run that goes on after people decided has noted its new process by then
_RECENT = timedelta(days=7)  # what is looked at
_QUEUES = "AwaitingConcurrencySlot"  # another run of its definition is at work: this one is not late


@dataclass(frozen=True)
class Run:
    """A run as an operator is told of it. Nothing of the data is in it."""

    id: str
    name: str
    deployment: str
    condition: str  # late, stuck, lost, crashed, failed or scheduled
    since: datetime  # of a scheduled one: when it begins
    do: str  # empty: nothing
    page: str  # its address on the server's pages


def runs_of_interest(workspace: Workspace, now: datetime | None = None) -> list[Run]:
    """Of the last week: the runs that are late, stuck or lost, and each deployment's last, if it crashed or failed; and
    the next one of each deployment.

    A run is lost that the server takes for running, and whose process was one of this machine and is no more: without
    heartbeats the server never learns of it.

    Without a server there is none. Raises what Prefect's client raises where the server does not answer.
    """
    chosen = get_current_settings()
    if not chosen.api.url:
        return []
    now = now or datetime.now(UTC)
    pages = (chosen.ui_url or chosen.api.url.rstrip("/").removesuffix("/api")).rstrip("/")
    with get_client(sync_client=True) as client:
        tagged = DeploymentFilter(tags=DeploymentFilterTags(all_=[OURS]))
        deployments = {each.id: each for each in client.read_deployments(deployment_filter=tagged)}
        if not deployments:
            return []
        due = list(_due(client, deployments, now))
        coming = [run for each in deployments.values() for run in _next(client, each, now)]
    gone, left, latest = partial(is_gone, workspace), partial(is_open, workspace), _latest(due)
    found = [(run, *trouble) for run in due if (trouble := _trouble(run, latest, now, gone, left))]
    found += [(run, "scheduled", _time_of(run), "") for run in coming]
    return [
        Run(str(run.id), run.name, name, condition, since, _command(do, name), f"{pages}/runs/flow-run/{run.id}")
        for run, condition, since, do in found
        if run.deployment_id and (name := deployments[run.deployment_id].name)
    ]


def releases_of(workspace: Workspace, run: FlowRun) -> Collection[str]:
    """What may be the release that a run is for: what it is called, what it was given, and what it noted."""
    noted = read_note(note_of_run(workspace, run.id)).get("release")
    return {name for name in (run.name, run.parameters.get("release_id"), noted) if name}


def is_open(workspace: Workspace, run: FlowRun) -> bool:
    """Whether something is left to do for a run: its release is not at its end, or there is none yet."""
    return all(workspace.ledger.state(name) in (None, *UNFINISHED) for name in releases_of(workspace, run))


def _command(do: str, deployment: str) -> str:
    """What to do, with the deployment's name, which anybody on the server chose, as one word for the shell."""
    return do.format(quote(f"release/{deployment}"))


def _trouble(
    run: FlowRun, latest: Mapping[UUID | None, FlowRun], now: datetime, gone: Callable[[UUID], bool],
    left: Callable[[FlowRun], bool],
) -> tuple[str, datetime, str] | None:  # fmt: skip
    """What is wrong with a run whose time has come, since when, and what to do.

    gone : whether the process of a run is no more
    left : whether something is left to do for a run
    """
    state = run.state
    if state is None:
        return None
    match state.type:
        case StateType.PENDING if now - state.timestamp > _STUCK:
            return "stuck", state.timestamp, "no process of it begins: sluice doctor --repair"
        case StateType.RUNNING if now - state.timestamp > _NOTED and gone(run.id):
            return "lost", state.timestamp, "its process is gone: sluice doctor --repair"
        case StateType.SCHEDULED if state.name != _QUEUES and now - _time_of(run) > _LATE:
            return "late", _time_of(run), "no worker takes it: is one running, and the work pool not paused?"
        case StateType.CRASHED | StateType.FAILED if latest[run.deployment_id].id == run.id:
            if state.type is StateType.CRASHED:
                if not left(run):  # killed after the last word of its release
                    return None
                return "crashed", state.timestamp, "its process ended or was lost: sluice doctor --repair"
            return "failed", state.timestamp, "the worker's output says why; then: prefect deployment run {}"
    return None


def _latest(runs: Sequence[FlowRun]) -> dict[UUID | None, FlowRun]:
    """The last run of each deployment that has begun: a failure that was made good is no news."""
    return {run.deployment_id: run for run in runs if run.state and not run.state.is_scheduled()}


def _time_of(run: FlowRun) -> datetime:
    """When it should begin."""
    return run.next_scheduled_start_time or run.expected_start_time or datetime.max.replace(tzinfo=UTC)


def _due(client: SyncPrefectClient, deployments: Mapping[UUID, DeploymentResponse], now: datetime) -> Iterator[FlowRun]:
    """The runs that should have begun in the last week, first to last."""
    wanted = FlowRunFilter(
        deployment_id=FlowRunFilterDeploymentId(any_=list(deployments)),
        expected_start_time=FlowRunFilterExpectedStartTime(after_=now - _RECENT, before_=now),
    )
    seen = 0
    while page := client.read_flow_runs(
        flow_run_filter=wanted, sort=FlowRunSort.EXPECTED_START_TIME_ASC, limit=_PAGE, offset=seen
    ):
        seen += len(page)
        yield from page


def _next(client: SyncPrefectClient, deployment: DeploymentResponse, now: datetime) -> list[FlowRun]:
    wanted = FlowRunFilter(
        deployment_id=FlowRunFilterDeploymentId(any_=[deployment.id]),
        state=FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.SCHEDULED])),
        expected_start_time=FlowRunFilterExpectedStartTime(after_=now),
    )
    return client.read_flow_runs(flow_run_filter=wanted, sort=FlowRunSort.EXPECTED_START_TIME_ASC, limit=1)

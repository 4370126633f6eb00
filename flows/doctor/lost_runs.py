"""Lost runs: those of Prefect that no process works at any more, and the runs that are started in their place.

Prefect notices a lost run by its heartbeats alone. One that was to be started when the database or the server went away
has sent none: it stays Pending (Submitting) for good and holds the place of its deployment. And nobody starts a run
again that crashed. Here such a run is ended as Crashed, and another one takes its place, for the same release where
there was one: what was staged is not read again, and the release is judged from the same seed.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from prefect import __version__ as prefect_version
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    FlowFilter,
    FlowFilterName,
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterEndTime,
    FlowRunFilterExpectedStartTime,
    FlowRunFilterState,
)
from prefect.client.schemas.filters import FlowRunFilterStateType as OfType
from prefect.client.schemas.objects import TERMINAL_STATES, FlowRun, State, StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.events.filters import EventFilter, EventNameFilter, EventResourceFilter
from prefect.settings import get_current_settings
from prefect.states import Crashed

from flows.doctor.diagnosis import Diagnosis, fail, ok, warn
from sluice.custody.workspace import Workspace
from sluice.ground.errors import SluiceError
from tasks.release.decisions.signing_in import account
from tasks.release.documented_release import recorded_release
from tasks.release.products import load_product
from tasks.release.release_documents import deployed_definition
from tasks.release.run_notes import is_gone, note_of_run, process_note
from tasks.runs import UNJUDGED, is_open, releases_of

ATTEMPTS = 3  # runs that may be started in the place of one: what crashes each time is no accident
RECENT = timedelta(days=7)  # a run that crashed before that is history
_PAGE = 200  # runs that the server gives at once
_AT_ONCE = timedelta(minutes=1)  # a run that begins within it is no run to come
_FLOW = "release"
_HEARTBEAT = "prefect.flow-run.heartbeat"
_AGAIN = "sluice-again"  # begins the key of a run that was started in the place of another: ...:FIRST RUN:ATTEMPT
_LOST_CONNECTION = ("TransportError", "SourceUnreachableError")  # kinds of error that a failed run ends with


@dataclass(frozen=True)
class Runs:
    """The runs of releases on a server, and what of them is lost."""

    client: SyncPrefectClient
    workspace: Workspace
    after: timedelta  # how long a run must have given no sign of life

    def diagnoses(self) -> Iterator[Diagnosis]:
        found = 0
        for run in self._of(StateType.PENDING, StateType.RUNNING):
            if says := self._lost(run):
                found += 1
                yield self._diagnosis(run, says)
        for run in self._of(StateType.CRASHED, StateType.FAILED):
            if self._should_start_again(run):
                found += 1
                crashed = run.state_type is StateType.CRASHED
                yield self._diagnosis(run, "it crashed" if crashed else "it lost a connection for good")
        for run in self._of(StateType.SCHEDULED):
            if run.state and run.state_name != "AwaitingConcurrencySlot" and self._late(run):
                found += 1
                yield warn(
                    _title(run),
                    "it should have begun long ago, and no worker takes it",
                    "Look at the worker (systemctl status sluice-worker) and at its pool (prefect work-pool ls).",
                )
        if not found:
            yield ok("runs", "no run of a release is stuck")

    def at_work(self) -> set[str]:
        """The releases that runs are busy with, or about to be."""
        alive = [run for run in self._of(StateType.PENDING, StateType.RUNNING) if not self._lost(run)]
        return {name for run in [*alive, *self._of(StateType.SCHEDULED)] for name in releases_of(self.workspace, run)}

    def _of(self, *types: StateType) -> list[FlowRun]:
        """The runs in such states; of those that ended only recent ones, and of those that are to come none."""
        now = datetime.now(UTC)
        return self._pages(
            FlowRunFilter(
                state=FlowRunFilterState(type=OfType(any_=[*types])),
                expected_start_time=FlowRunFilterExpectedStartTime(before_=now + _AT_ONCE),
                end_time=FlowRunFilterEndTime(after_=now - RECENT) if {*types} <= TERMINAL_STATES else None,
            )
        )

    def _pages(self, wanted: FlowRunFilter) -> list[FlowRun]:
        """All of them: a server gives a page at a time, and every schedule fills one with runs that are to come."""
        found: list[FlowRun] = []
        while page := self.client.read_flow_runs(
            flow_filter=FlowFilter(name=FlowFilterName(any_=[_FLOW])),
            flow_run_filter=wanted,
            sort=FlowRunSort.EXPECTED_START_TIME_DESC,
            limit=_PAGE,
            offset=len(found),
        ):
            found += page
        return found

    # -- what is lost

    def _lost(self, run: FlowRun) -> str:
        """Why nobody can be working at a run any more, in words; '' where somebody may be."""
        if run.state is None or self._age(run.state.timestamp) < self.after or processes_of(str(run.id)):
            return ""
        minutes = int(self._age(run.state.timestamp).total_seconds() // 60)
        if run.state_type is StateType.PENDING:
            return f"it is {run.state_name} for {minutes} minutes, and no process was started for it"
        if is_gone(self.workspace, run.id):
            return f"it is {run.state_name}, and its process is gone"
        every = get_current_settings().flows.heartbeat_frequency
        if every is None or run.deployment_id is None:
            return ""  # nobody can tell; a run from a terminal ends with its terminal
        beat = self._last_heartbeat(run)
        if beat is not None and self._age(beat) < max(self.after, timedelta(seconds=3 * every)):
            return ""
        return f"it is {run.state_name} for {minutes} minutes, and sends no heartbeats"

    def _last_heartbeat(self, run: FlowRun) -> datetime | None:
        wanted = EventFilter(
            event=EventNameFilter(name=[_HEARTBEAT]), resource=EventResourceFilter(id=[f"prefect.flow-run.{run.id}"])
        )
        events = self.client.read_events(wanted, limit=1).events
        return events[0].occurred if events else None

    def _should_start_again(self, run: FlowRun) -> bool:
        if run.state is None or run.deployment_id is None or self._age(run.state.timestamp) > RECENT:
            return False
        said = (run.state.message or "").rstrip(". ")
        if run.state_type is StateType.FAILED and not said.endswith(_LOST_CONNECTION):
            return False  # a step broke, and would break again
        return self._attempt(run) <= ATTEMPTS and not self._has_successor(run) and is_open(self.workspace, run)

    def _has_successor(self, run: FlowRun) -> bool:
        """Whether a later run of the same deployment began, or will at once, that does what this one would.

        One for other data does not: what this one had received, and not judged, nobody would come back to.
        """
        if run.deployment_id is None or run.expected_start_time is None:
            return False
        after, now = run.expected_start_time, datetime.now(UTC)
        unjudged = [name for name in releases_of(self.workspace, run) if self.workspace.ledger.state(name) in UNJUDGED]
        later = FlowRunFilter(
            deployment_id=FlowRunFilterDeploymentId(any_=[run.deployment_id]),
            expected_start_time=FlowRunFilterExpectedStartTime(after_=after, before_=now),
        )
        return any(
            other.id != run.id
            and other.expected_start_time is not None
            and other.expected_start_time > after
            and (not unjudged or other.name in unjudged or other.idempotency_key == _key(run))
            for other in self._pages(later)
        )

    def _late(self, run: FlowRun) -> bool:
        return run.expected_start_time is not None and self._age(run.expected_start_time) > self.after

    def _age(self, then: datetime) -> timedelta:
        return datetime.now(UTC) - then

    # -- what is started in its place

    def _diagnosis(self, run: FlowRun, says: str) -> Diagnosis:
        if run.deployment_id is None:
            return fail(_title(run), says, "Run the release again.", lambda: self._end(run))
        if self._attempt(run) > ATTEMPTS:
            mend = "Look at the worker's journal, then: prefect deployment run"
            return fail(_title(run), f"{says}, as did {ATTEMPTS} others in its place", mend, lambda: self._end(run))
        return fail(_title(run), says, "sluice doctor --repair", lambda: self._start_again(run))

    def _end(self, run: FlowRun) -> str:
        """Give its place free. Should it have a process after all, that does no harm: publication asks the ledger."""
        if run.state_type in (StateType.PENDING, StateType.RUNNING):
            ended: State[None] = Crashed(message="Nobody worked at it any more, as sluice doctor found.")
            self.client.set_flow_run_state(run.id, ended, force=True)
        return f"the run {run.name} was ended as Crashed"

    def _start_again(self, run: FlowRun) -> str:
        release = self._release(run)
        wanted = is_open(self.workspace, run)
        if not wanted or run.deployment_id is None:
            return f"{self._end(run)}; its release is at its end"
        started = self.client.create_flow_run_from_deployment(
            run.deployment_id,
            parameters={**run.parameters, "release_id": release},
            name=release,
            tags=run.tags,
            idempotency_key=_key(run),  # so two doctors at a time start one run
        )
        self._end(run)  # only now: a doctor that dies between the two finds the run again, and starts no other
        if release:
            body = {"lost": str(run.id), "started": str(started.id)}
            if not any(e.event == "restarted" and e.body == body for e in self.workspace.ledger.entries(release)):
                self.workspace.ledger.append(release, "restarted", account(), body)
        for note in (note_of_run(self.workspace, run.id), process_note(self.workspace, run.id)):
            note.unlink(missing_ok=True)
        again = (
            "it was lost, and started again" if started.name == run.name else f"{started.name} was started in its place"
        )
        return f"the run {run.name}: {again}"

    def _attempt(self, run: FlowRun) -> int:
        return _lineage(run)[1]

    def _release(self, run: FlowRun) -> str | None:
        """The release that the run was for, if it can go on with the documents as they are; else it is made anew."""
        known = [name for name in releases_of(self.workspace, run) if self.workspace.ledger.state(name) is not None]
        with suppress(SluiceError):
            for name in known:
                definition = deployed_definition(str(run.parameters.get("definition", "")))
                return recorded_release(load_product(definition, self.workspace), name).id
        return None


def _lineage(run: FlowRun) -> tuple[str, int]:
    """The run that was lost first, and the number of the next run in its place."""
    kind, _, rest = (run.idempotency_key or "").partition(":")
    first, _, attempt = rest.rpartition(":")
    return (first, int(attempt) + 1) if kind == _AGAIN and attempt.isdigit() else (str(run.id), 1)


def _key(run: FlowRun) -> str:
    """Of the next run in its place."""
    first, attempt = _lineage(run)
    return f"{_AGAIN}:{first}:{attempt}"


def _title(run: FlowRun) -> str:
    return f"run {run.name} ({run.id})"


def processes_of(run: str) -> list[int]:
    """The processes of this machine that run a flow run, as far as this account may look."""
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if f"PREFECT__FLOW_RUN_ID={run}".encode() in environment.read_bytes().split(b"\0"):
                found.append(int(environment.parent.name))
    return [number for number in found if number != os.getpid()]


def server_diagnoses(client: SyncPrefectClient) -> Iterator[Diagnosis]:
    """Whether Prefect's server is of this version; that it answers shows by that. Raises what its client does."""
    version = client.api_version()
    if version.split("+")[0] != prefect_version.split("+")[0]:
        yield fail("Prefect", f"the server is {version}, and this is {prefect_version}", "Install one version on both.")
    else:
        yield ok("Prefect", f"the server answers, with version {version}")
    frequency = get_current_settings().flows.heartbeat_frequency
    if frequency is None:
        says = "runs send no heartbeats, so nobody learns that one was killed"
        yield warn("heartbeats", says, "Set PREFECT_FLOWS_HEARTBEAT_FREQUENCY=30 in the worker's environment.")


def connected() -> Any:
    """A client of the server; None where there is none: releases run in the process of their command."""
    return get_client(sync_client=True) if get_current_settings().api.url else None

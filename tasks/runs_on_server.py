"""Runs on Prefect's server: how one waits for people without holding a process, how it is found again, and its tags.

A run of a deployment that needs approval suspends itself: its process ends, and Prefect starts a new one when the
decision resumes it. The new process runs the flow from the top, so it must find the release that it waits for and not
read the warehouse again. The note of which run waits for which release lies in the workspace; the decision itself only
in the ledger: a run that somebody resumes without one suspends again. One run waits for a release: others that come to
it meanwhile end, and say which.

Tags are the state of a run's release and its edition, by which people find it.
"""

import json
import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from uuid import UUID

from prefect import runtime
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterName
from prefect.client.schemas.objects import FlowRun, State
from prefect.client.schemas.responses import SetStateStatus
from prefect.client.schemas.sorting import FlowRunSort
from prefect.events import emit_event
from prefect.exceptions import ObjectNotFound, Pause
from prefect.settings import get_current_settings
from prefect.states import Suspended
from prefect.utilities.engine import propose_state_sync
from prefect.utilities.urls import url_for

from sluice.custody.ledger_entry import Entry
from sluice.custody.states import state_of
from sluice.custody.workspace import Workspace
from sluice.ground.durable import locked, replace
from sluice.ground.errors import SluiceError
from sluice.ground.log import log
from tasks.release.documented_release import DocumentedRelease
from tasks.release.run_notes import (
    OURS,
    WaitingRun,
    note_of_run,
    note_process,
    notes,
    process_note,
    read_note,
    runs_waiting,
)

_STATE, _EDITION = "state:", "edition:"
_MOST = 200  # runs that the server gives at once

WAITS = "sluice.release.waits"  # the event that says that a run suspends itself for its release
_LONGEST_WAIT = 366 * 24 * 3600  # seconds; Prefect fails a suspended run after this
_SETTLING = 30  # seconds within which a run that is on its way to suspend, or to its end, gets there


def name_run(release: DocumentedRelease) -> None:
    """Give this run the id of its release for a name, by which people find it."""
    if runtime.flow_run.id is None:  # no run of Prefect's
        return
    with suppress(Exception), get_client(sync_client=True) as client:  # a name is not worth a release
        client.update_flow_run(UUID(runtime.flow_run.id), name=release.id)


def begin_run(workspace: Workspace) -> None:
    """Note that this process works at this run, for whoever finds the run and looks for the process."""
    if runtime.flow_run.id is not None:
        note_process(workspace, runtime.flow_run.id)


def suspended_for(workspace: Workspace) -> str | None:
    """The release that this very run was suspended for; None for a run that starts fresh."""
    return read_note(note_of_run(workspace, runtime.flow_run.id)).get("release")


def waits_already(release: DocumentedRelease) -> WaitingRun | None:
    """Another run that waits for this release; None where there is none, and outside of Prefect.

    Where there is none and this run can be suspended, its note says from now on that it waits: of runs that come to the
    release at the same time, one does. A run that Prefect does not know, or that has ended, waits for nothing.
    """
    if runtime.flow_run.id is None:
        return None
    workspace = release.product.workspace
    own = note_of_run(workspace, runtime.flow_run.id)
    with locked(notes(workspace) / "waiting.lock"):
        for note in runs_waiting(workspace, release.id):
            if note != own and _waits(note):
                return WaitingRun(id=note.stem, link=url_for("flow-run", obj_id=note.stem))
        if runtime.deployment.id:
            _note(own, release, read_note(own).get("rounds", 0))
    return None


def _waits(note: Path) -> bool:
    """Whether the run of this note has not ended; its note goes with its end."""
    try:
        with get_client(sync_client=True) as client:
            state = client.read_flow_run(UUID(note.stem)).state
    except ObjectNotFound:
        state = None
    except Exception:  # a server that does not answer: a run too many waits, rather than none
        return False
    if state is not None and not state.is_final():
        return True
    note.unlink(missing_ok=True)
    return False


def _note(note: Path, release: DocumentedRelease, rounds: int) -> None:
    replace(note, json.dumps({"release": release.id, "rounds": rounds}).encode(), 0o600)


def suspend(release: DocumentedRelease, waits_for: str) -> bool:
    """Suspend this run until it is resumed; False when it is no run of a deployment, which cannot be suspended.

    waits_for : what Prefect's pages say beside the state, such as '1 of 2, needs data_steward'
    raises    : Prefect's signal that ends this process
    """
    if not runtime.deployment.id:
        return False
    note = note_of_run(release.product.workspace, runtime.flow_run.id)
    rounds = read_note(note).get("rounds", 0) + 1
    _note(note, release, rounds)
    # Whoever watches heartbeats must know at once that they end here, and approvers may be told that they are needed.
    emit_event(WAITS, {"prefect.resource.id": f"prefect.flow-run.{runtime.flow_run.id}", "sluice.release": release.id})
    # A key that was used once returns at once, so each round has its own.
    # Not by Prefect's `suspend_flow_run`, which lets a state say nothing. Its name stays: by it a worker ends the
    # processes of runs that are suspended.
    state: State[None] = Suspended(message=waits_for, timeout_seconds=_LONGEST_WAIT, pause_key=f"review-{rounds}")
    with get_client(sync_client=True) as client:
        state = propose_state_sync(client, state, UUID(runtime.flow_run.id))
    if state.is_paused():
        raise Pause(state=state)
    return True  # somebody resumed it meanwhile


def stop_waiting(release: DocumentedRelease) -> None:
    """This run is at its end: nothing needs to find the release by it any more."""
    workspace = release.product.workspace
    for note in (note_of_run(workspace, runtime.flow_run.id), process_note(workspace, runtime.flow_run.id)):
        note.unlink(missing_ok=True)


def resume_runs(workspace: Workspace, release_id: str) -> int:
    """Let the runs that wait for this release see what was decided; returns how many go on with it.

    Notes of runs that ended otherwise (cancelled, crashed, set to a state by hand) are removed. Without a server there
    is no run to resume.

    raises : SluiceError when Prefect's server cannot be reached or refuses; what was decided stays in the ledger
    cost   : up to 30 s for each run that is neither suspended nor at its end
    """
    notes = runs_waiting(workspace, release_id)
    server = get_current_settings().api.url
    if not server or not notes:
        return 0
    try:
        with get_client(sync_client=True) as client:
            return sum(_resume(client, note) for note in notes)
    except Exception as error:  # of the network, of HTTP, or Prefect's own
        kind = type(error).__name__
    waiting = ", ".join(note.stem for note in notes)
    raise SluiceError(
        f"the decision on {release_id} is in the ledger, but the runs that wait for it at {server} could not be "
        f"resumed ({kind}): {waiting}. Resume each there once the server answers, on its page or with: "
        f"curl -X POST {server}/flow_runs/ID/resume"
    )


def _resume(client: SyncPrefectClient, note: Path) -> bool:
    """Whether the run goes on and will see the decision."""
    run, begun = UUID(note.stem), monotonic()
    while True:
        try:
            state = client.read_flow_run(run).state
        except ObjectNotFound:
            state = None
        if state is None or state.is_final():
            note.unlink(missing_ok=True)
            return False
        if state.is_scheduled() or state.is_pending():
            return True  # resumed by somebody else; its process reads the ledger when it starts
        if state.is_paused() and client.resume_flow_run(run).status is SetStateStatus.ACCEPT:
            return True
        # It runs: it may have asked for the decision just before there was one and be about to suspend, or be dead.
        if monotonic() - begun > _SETTLING:
            return False
        sleep(0.5)


def tag_runs(workspace: Workspace, releases: Iterable[str]) -> None:
    """Bring the tags of all runs of these releases up to what the ledger says of them now.

    A run ends, and its release's life goes on: it is superseded, or withdrawn. Without a server there is no run, and
    one that does not answer is no reason to stop: tags are for people, and nothing is decided by them.
    """
    if not get_current_settings().api.url:
        return
    try:
        histories = workspace.ledger.histories()
        known = sorted({*releases} & histories.keys())
        with get_client(sync_client=True) as client:
            for run in _runs_of(client, known) if known else ():
                if (tags := tags_of(run.tags, histories[run.name])) != sorted(run.tags):
                    client.update_flow_run(run.id, tags=tags)
    except Exception as error:  # of the network, of HTTP, or Prefect's own
        log("runs not tagged", logging.WARNING, detail=f"Prefect's server: {type(error).__name__}")


def _runs_of(client: SyncPrefectClient, releases: Sequence[str]) -> list[FlowRun]:
    """All runs of these releases, by as few requests as the server's pages allow: a series has hundreds of editions."""
    named, found = FlowRunFilter(name=FlowRunFilterName(any_=[*releases])), list[FlowRun]()
    while page := client.read_flow_runs(
        flow_run_filter=named, sort=FlowRunSort.EXPECTED_START_TIME_ASC, limit=_MOST, offset=len(found)
    ):
        found += page
        if len(page) < _MOST:
            break
    return found


def tags_of(tags: Iterable[str], entries: Sequence[Entry]) -> list[str]:
    """The tags of a run, with those of what its release is now; `entries` are the release's."""
    kept = {tag for tag in tags if not tag.startswith((_STATE, _EDITION))} | {OURS}
    first = f"{_EDITION}{entries[0].at[:10]}"  # the day on which its data were first received
    return sorted(kept | {first, f"{_STATE}{state_of(entry.event for entry in entries)}"})

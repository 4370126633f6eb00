"""How a run of Prefect waits for people without holding a process, and how it is found again.

A run of a deployment that needs approval suspends itself: its process ends, and Prefect starts a new one when the
decision resumes it. The new process runs the flow from the top, so it must find the release that it waits for and not
read the warehouse again. The note of which run waits for which release lies in the workspace; the decision itself only
in the ledger: a run that somebody resumes without one suspends again.
"""

import json
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from uuid import UUID

from prefect import runtime
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.responses import SetStateStatus
from prefect.events import emit_event
from prefect.exceptions import ObjectNotFound
from prefect.flow_runs import suspend_flow_run
from prefect.settings import get_current_settings

from sluice.custody.durable import replace
from sluice.custody.workspace import Workspace
from sluice.errors import SluiceError
from tasks.release.release import DocumentedRelease
from tasks.release.waiting import note_of_run, read_note, runs_waiting

WAITS = "sluice.release.waits"  # the event that says that a run suspends itself for its release
_LONGEST_WAIT = 366 * 24 * 3600  # seconds; Prefect fails a suspended run after this
_SETTLING = 30  # seconds within which a run that is on its way to suspend, or to its end, gets there


def name_run(release: DocumentedRelease) -> None:
    """Give this run the id of its release for a name, by which people find it."""
    if runtime.flow_run.id is None:  # no run of Prefect's
        return
    with suppress(Exception), get_client(sync_client=True) as client:  # a name is not worth a release
        client.update_flow_run(UUID(runtime.flow_run.id), name=release.id)


def suspended_for(workspace: Workspace) -> str | None:
    """The release that this very run was suspended for; None for a run that starts fresh."""
    return read_note(note_of_run(workspace, runtime.flow_run.id)).get("release")


def suspend(release: DocumentedRelease) -> bool:
    """Suspend this run until it is resumed; False when it is no run of a deployment, which cannot be suspended."""
    if not runtime.deployment.id:
        return False
    note = note_of_run(release.product.workspace, runtime.flow_run.id)
    rounds = read_note(note).get("rounds", 0) + 1
    replace(note, json.dumps({"release": release.id, "rounds": rounds}).encode(), 0o600)
    # Whoever watches heartbeats must know at once that they end here, and approvers may be told that they are needed.
    emit_event(WAITS, {"prefect.resource.id": f"prefect.flow-run.{runtime.flow_run.id}", "sluice.release": release.id})
    # A key that was used once returns at once, so each round has its own.
    suspend_flow_run(timeout=_LONGEST_WAIT, key=f"review-{rounds}")
    return True


def stop_waiting(release: DocumentedRelease) -> None:
    """This run is at its end: nothing needs to find the release by it any more."""
    note_of_run(release.product.workspace, runtime.flow_run.id).unlink(missing_ok=True)


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

"""How a run waits for people without holding a process, and how it is found again.

A run of a deployment that needs approval suspends itself: its process ends, and Prefect starts a new one when the
decision resumes it. The new process runs the flow from the top, so it must find the release that it waits for and not
read the warehouse again. The note of which run waits for which release lies in the workspace; the decision itself only
in the ledger: a run that somebody resumes without one suspends again.

Prefect is imported where it is spoken to: commands that only look for a release need not wait for it.
"""

import json
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from uuid import UUID

from sluice.custody.durable import replace
from sluice.custody.workspace import Workspace
from sluice.errors import SluiceError, did_you_mean
from tasks.case import Release

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient

WAITS = "sluice.release.waits"  # the event that says that a run suspends itself for its release
_LONGEST_WAIT = 366 * 24 * 3600  # seconds; Prefect fails a suspended run after this
_SETTLING = 30  # seconds within which a run that is on its way to suspend, or to its end, gets there


def _notes(workspace: Workspace) -> Path:
    folder = workspace.home / "runs"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def remember_definition(release: Release) -> None:
    """Note where the release's definition lies, for the commands that are given a release's id only."""
    note = {"definition": str(release.case.path)}
    replace(_notes(release.case.workspace) / f"{release.id}.json", json.dumps(note).encode(), 0o600)


def definition_of(workspace: Workspace, release_id: str) -> Path:
    """Where the definition of a release lies. Raises SluiceError for an id that this workspace does not know."""
    known = [path.stem for path in _notes(workspace).glob("*.json")]
    if release_id not in known:
        raise SluiceError(f"no release '{release_id}' here.{did_you_mean(release_id, known)} See: sluice status")
    note = json.loads((_notes(workspace) / f"{release_id}.json").read_text())
    return Path(note["definition"])


def _read(note: Path) -> dict[str, Any]:
    """The note's content; nothing when there is none, or its run ended meanwhile and removed it."""
    try:
        content: dict[str, Any] = json.loads(note.read_text())
    except FileNotFoundError:
        return {}
    return content


def _note_of_this_run(workspace: Workspace) -> Path:
    from prefect import runtime

    return _notes(workspace) / f"{runtime.flow_run.id}.run"


def suspended_for(workspace: Workspace) -> str | None:
    """The release that this very run was suspended for; None for a run that starts fresh."""
    return _read(_note_of_this_run(workspace)).get("release")


def suspend(release: Release) -> bool:
    """Suspend this run until it is resumed; False when it is no run of a deployment, which cannot be suspended."""
    from prefect import runtime
    from prefect.events import emit_event
    from prefect.flow_runs import suspend_flow_run

    if not runtime.deployment.id:
        return False
    note = _note_of_this_run(release.case.workspace)
    rounds = _read(note).get("rounds", 0) + 1
    replace(note, json.dumps({"release": release.id, "rounds": rounds}).encode(), 0o600)
    # Whoever watches heartbeats must know at once that they end here, and approvers may be told that they are needed.
    emit_event(WAITS, {"prefect.resource.id": f"prefect.flow-run.{runtime.flow_run.id}", "sluice.release": release.id})
    # A key that was used once returns at once, so each round has its own.
    suspend_flow_run(timeout=_LONGEST_WAIT, key=f"review-{rounds}")
    return True


def stop_waiting(release: Release) -> None:
    """This run is at its end: nothing needs to find the release by it any more."""
    _note_of_this_run(release.case.workspace).unlink(missing_ok=True)


def resume_runs(workspace: Workspace, release_id: str) -> int:
    """Let the runs that wait for this release see what was decided; returns how many go on with it.

    Notes of runs that ended otherwise (cancelled, crashed, set to a state by hand) are removed. Without a server there
    is no run to resume.

    raises : SluiceError when Prefect's server cannot be reached or refuses; what was decided stays in the ledger
    cost   : up to 30 s for each run that is neither suspended nor at its end
    """
    notes = [note for note in _notes(workspace).glob("*.run") if _read(note).get("release") == release_id]
    if not notes:
        return 0
    from prefect.client.orchestration import get_client
    from prefect.settings import get_current_settings

    if not (server := get_current_settings().api.url):
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


def _resume(client: "SyncPrefectClient", note: Path) -> bool:
    """Whether the run goes on and will see the decision."""
    from prefect.client.schemas.responses import SetStateStatus
    from prefect.exceptions import ObjectNotFound

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

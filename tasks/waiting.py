"""How a run waits for people without holding a process, and how it is found again.

A run of a deployment that needs approval suspends itself: its process ends, and Prefect starts a new one when the
decision resumes it. The new process runs the flow from the top, so it must find the release that it waits for and not
read the warehouse again. The note of which run waits for which release lies in the workspace; the decision itself only
in the ledger: a run that somebody resumes without one suspends again.
"""

import json
from pathlib import Path
from uuid import UUID

from prefect import runtime
from prefect.flow_runs import resume_flow_run, suspend_flow_run

from sluice.errors import SluiceError, did_you_mean
from sluice.release.durable import replace
from sluice.release.workspace import Workspace
from tasks.case import Release

_LONGEST_WAIT = 366 * 24 * 3600  # seconds; Prefect fails a suspended run after this


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


def suspended_for(workspace: Workspace) -> str | None:
    """The release that this very run was suspended for; None for a run that starts fresh."""
    note = _notes(workspace) / f"{runtime.flow_run.id}.run"
    return str(json.loads(note.read_text())["release"]) if note.exists() else None


def suspend(release: Release) -> bool:
    """Suspend this run until it is resumed; False when it is no run of a deployment, which cannot be suspended."""
    if not runtime.deployment.id:
        return False
    note = _notes(release.case.workspace) / f"{runtime.flow_run.id}.run"
    rounds = json.loads(note.read_text())["rounds"] + 1 if note.exists() else 1
    replace(note, json.dumps({"release": release.id, "rounds": rounds}).encode(), 0o600)
    # A key that was used once returns at once, so each round has its own.
    suspend_flow_run(timeout=_LONGEST_WAIT, key=f"review-{rounds}")
    return True


def resume_runs(workspace: Workspace, release_id: str) -> int:
    """Resume the runs that wait for this release; returns how many. Raises when Prefect's server cannot be reached."""
    resumed = 0
    for note in _notes(workspace).glob("*.run"):
        if json.loads(note.read_text())["release"] == release_id:
            resume_flow_run(UUID(note.stem))
            resumed += 1
    return resumed

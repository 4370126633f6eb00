"""The notes of a workspace: where each release's definition lies, and which run waits for which release.

A run that needs approval gives up its process, and the one that goes on with it must find its release again. The
decision itself lies only in the ledger.
"""

import json
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from sluice.custody.workspace import Workspace
from sluice.ground.durable import make_folder, replace
from sluice.ground.errors import SluiceError, did_you_mean

if TYPE_CHECKING:
    from tasks.release.documented_release import DocumentedRelease

OURS = "sluice"  # the tag of every deployment of a release, and of its runs


class WaitingRun(BaseModel):
    """A run that waits for a release, as Prefect knows it."""

    model_config = ConfigDict(frozen=True)

    id: str
    link: str | None  # to its page


def notes(workspace: Workspace) -> Path:
    """The folder of the notes."""
    folder = workspace.home / "runs"
    make_folder(folder, 0o700)
    return folder


def remember_definition(release: "DocumentedRelease") -> None:
    """Note where the release's definition lies, for the commands that are given a release's id only."""
    note = {"definition": str(release.product.path)}
    replace(notes(release.product.workspace) / f"{release.id}.json", json.dumps(note).encode(), 0o600)


def definition_of(workspace: Workspace, release_id: str) -> Path:
    """Where the definition of a release lies. Raises SluiceError for an id that this workspace does not know."""
    known = [path.stem for path in notes(workspace).glob("*.json")]
    if release_id not in known:
        raise SluiceError(f"no release '{release_id}' here.{did_you_mean(release_id, known)} See: sluice ledger status")
    note = json.loads((notes(workspace) / f"{release_id}.json").read_text())
    return Path(note["definition"])


def read_note(note: Path) -> dict[str, Any]:
    """The note's content; nothing when there is none, or its run ended meanwhile and removed it."""
    try:
        content: dict[str, Any] = json.loads(note.read_text())
    except FileNotFoundError:
        return {}
    return content


def note_of_run(workspace: Workspace, run: object) -> Path:
    """The note of the run with this id: `release`, and `rounds`, how often it was suspended."""
    return notes(workspace) / f"{run}.run"


def runs_waiting(workspace: Workspace, release_id: str) -> list[Path]:
    """The notes of the runs that wait for this release; each bears the id of its run."""
    return [note for note in notes(workspace).glob("*.run") if read_note(note).get("release") == release_id]


def note_process(workspace: Workspace, run: object) -> None:
    """Note which process of which machine works at a run: Prefect knows a number alone, of any machine."""
    note = {"host": socket.gethostname(), "process": os.getpid()}
    replace(process_note(workspace, run), json.dumps(note).encode(), 0o600)


def process_note(workspace: Workspace, run: object) -> Path:
    """The note of the process that works, or worked, at the run with this id."""
    return notes(workspace) / f"{run}.process"


def is_gone(workspace: Workspace, run: object) -> bool:
    """Whether the process of a run was one of this machine, and is no more.

    One that ended and that its parent has not asked for, as one that was killed with its worker, has a number still.
    """
    noted = read_note(process_note(workspace, run))
    if noted.get("host") != socket.gethostname():
        return False
    try:
        state = Path(f"/proc/{noted['process']}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state in "ZX"

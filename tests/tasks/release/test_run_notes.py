"""The note of the process that works at a run: only one of this machine is known to be gone."""

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from sluice.custody.workspace import Workspace
from tasks.release.run_notes import is_gone, note_process, process_note, runs_waiting

RUN = "25333088-2a99-418e-8fb0-499bb6aab8b7"
NO_PROCESS = (1 << 22) + 1  # Linux gives no higher number than 1 << 22


def test_a_process_of_this_machine_that_ended_is_gone_and_one_that_lives_is_not(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path / "home")
    assert not is_gone(workspace, RUN), "nobody noted it, so nobody knows"
    note_process(workspace, RUN)
    assert not is_gone(workspace, RUN)
    with patch.object(os, "getpid", lambda: NO_PROCESS):
        note_process(workspace, RUN)
    assert is_gone(workspace, RUN)
    with patch("tasks.release.run_notes.socket.gethostname", lambda: "another-machine"):
        assert not is_gone(workspace, RUN)
    assert process_note(workspace, RUN).stat().st_mode & 0o777 == 0o600
    assert runs_waiting(workspace, "any") == [], "it is no note of a run that waits"


@pytest.mark.servers
def test_a_process_that_ended_and_that_nobody_asked_for_is_gone(tmp_path: Path) -> None:
    """As that of a run which is killed with its worker, where nothing collects what has no parent any more."""
    workspace = Workspace.open(tmp_path / "home")
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as ended:
        assert ended.stdout is not None
        ended.stdout.read()  # it ends with the process
        with patch.object(os, "getpid", lambda: ended.pid):
            note_process(workspace, RUN)
        while "State:\tZ" not in Path(f"/proc/{ended.pid}/status").read_text():
            pass
        assert is_gone(workspace, RUN)

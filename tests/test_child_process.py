"""Processes of a pool do not outlive the one that made it."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

from sluice.child_process import end_with_parent

POOL = """
import os, sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from sluice.child_process import end_with_parent

def work(folder):
    (Path(folder) / str(os.getpid())).touch()
    while True:
        pass

if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=get_context(sys.argv[2]), initializer=end_with_parent) as pool:
        list(pool.map(work, [sys.argv[1]] * 2))
"""


@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_workers_end_when_their_parent_is_killed(tmp_path: Path, start: str) -> None:
    script, folder = tmp_path / "pool.py", tmp_path / "workers"
    script.write_text(POOL)
    folder.mkdir()
    parent = subprocess.Popen([sys.executable, str(script), str(folder), start])
    try:
        while len(list(folder.iterdir())) < 2:
            assert parent.poll() is None
            sleep(0.05)
        workers = [int(file.name) for file in folder.iterdir()]
        assert all(is_alive(worker) for worker in workers)
    finally:
        parent.kill()
        parent.wait()
    while any(is_alive(worker) for worker in workers):
        sleep(0.05)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, signal.SIG_DFL)
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return False
    return state != "Z"  # ended, and nobody has asked how


def test_it_is_for_children_alone() -> None:
    with pytest.raises(RuntimeError, match="nobody's child"):
        end_with_parent()

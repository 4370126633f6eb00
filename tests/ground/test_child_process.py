"""Processes of a pool do not outlive the one that made it."""

import subprocess
import sys
from pathlib import Path

import pytest

from sluice.ground.parallel_jobs import end_with_parent

POOL = """
import os, sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from sluice.ground.parallel_jobs import end_with_parent

def work(_):
    os.write(1, f"{os.getpid()}\\n".encode())
    while True:
        pass

if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=get_context(sys.argv[1]), initializer=end_with_parent) as pool:
        list(pool.map(work, [None] * 2))
"""


@pytest.mark.servers
@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_workers_end_when_their_parent_is_killed(tmp_path: Path, start: str) -> None:
    """All of them write to one pipe, whose end is read when the last of them is gone."""
    script = tmp_path / "pool.py"
    script.write_text(POOL)
    parent = subprocess.Popen([sys.executable, str(script), start], stdout=subprocess.PIPE)
    try:
        assert parent.stdout is not None
        workers = {int(parent.stdout.readline()) for _ in range(2)}
        assert len(workers) == 2
        assert parent.poll() is None
    finally:
        parent.kill()
    assert parent.communicate(timeout=60)[0] == b""


def test_it_is_for_children_alone() -> None:
    with pytest.raises(RuntimeError, match="no parent"):
        end_with_parent()

"""The desk needs no Prefect to read and decide: it is loaded where a release goes on."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.flows.test_without_prefect import FORBID

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.servers
def test_the_desk_imports_no_prefect() -> None:
    program = f"{FORBID}\nimport flows.desk.application"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

"""The R package under docs/r: installed by R as it stands, and its own tests run against the command of this tree."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reference_data import ROOT

PACKAGE = ROOT / "docs" / "r" / "sluice"


@pytest.mark.servers  # R, and a process for each table
@pytest.mark.skipif(not shutil.which("Rscript"), reason="needs R")
def test_its_own_tests_hold(tmp_path: Path) -> None:
    here = {**os.environ, "R_LIBS": str(tmp_path), "TMPDIR": str(tmp_path)}
    asked = 'quit(status = !("jsonlite" %in% rownames(installed.packages())))'
    if subprocess.run(["Rscript", "-e", asked], check=False).returncode:
        pytest.skip("needs R's package jsonlite")
    subprocess.run(["R", "CMD", "INSTALL", "--no-docs", f"--library={tmp_path}", str(PACKAGE)], check=True, env=here)
    command = Path(sys.executable).with_name("sluice")
    script = f'options(sluice.command = "{command}"); source("{PACKAGE / "tests" / "tables.R"}")'
    done = subprocess.run(
        ["Rscript", "-e", script], cwd=tmp_path, env=here, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("all of it holds\n")

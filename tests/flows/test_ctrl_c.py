"""Ctrl-C: the process ends with 130 and says how to go on, what was done is kept, and the ledger is as it should be.

The signal is real, and goes to a process of its own while it works.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.tuning.journal import Journal
from tests.flows.house import DONE, House
from tests.golden import golden

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.servers


def stopped(house: House, when: str, *arguments: str) -> tuple[int, list[str]]:
    """Run a command, press Ctrl-C when a line on standard error holds some text; its exit code, and all lines."""
    program = "from flows.cli.main import run; run()"
    lines = []
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments], cwd=ROOT, text=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ | {"SLUICE_HOME": str(house.home), "PYTHONPATH": str(ROOT)}, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        for line in process.stderr:
            lines.append(line)
            if when in line:
                process.send_signal(signal.SIGINT)
                when = "\0"
        process.wait()
    assert when == "\0", "".join(lines)
    return process.returncode, lines


def intact(house: House) -> None:
    told = house.sluice("ledger", "verify")
    assert told.code == DONE, told.words


@pytest.mark.parametrize(("command", "line"), [("tune", "; best "), ("suggest", "changes tried")])
def test_a_search_keeps_its_trials_and_goes_on_after_them(tmp_path: Path, command: str, line: str) -> None:
    house = House(tmp_path / "house")
    if command == "suggest":  # of a plan that is blocked
        house.definition["plan"][1]["bins"] = list(range(20, 80, 2))
    house.write()
    asked = (command, str(house.file), "--workers", "1", "--trials", "200")
    code, lines = stopped(house, line, *asked)
    assert code == 128 + signal.SIGINT
    golden(lines[-1])
    (journal,) = (house.home / "tuning").glob("*.jsonl")
    kept = len(Journal(journal))
    assert kept >= 1
    intact(house)
    code, lines = stopped(house, "known already" if command == "tune" else line, *asked)
    assert code == 128 + signal.SIGINT
    assert [*(house.home / "tuning").glob("*.jsonl")] == [journal]
    again = Journal(journal)
    assert len(again) >= kept
    assert [again.of(number) is not None for number in range(1, kept)] == [True] * (kept - 1)
    intact(house)


@pytest.mark.smoke
def test_a_check_is_taken_up_by_the_same_command(tmp_path: Path) -> None:
    house = House(tmp_path / "house")
    house.write()
    code, lines = stopped(house, "  ingest ", "check", str(house.file))
    assert code == 128 + signal.SIGINT
    golden(lines[-1])
    assert not any("Traceback" in line for line in lines)
    intact(house)
    told = house.sluice("check", str(house.file))
    assert told.code == DONE, told.words
    intact(house)

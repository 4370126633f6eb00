"""What is being done and how long still, on standard error while somebody waits, and nothing for anybody else."""

import io
from pathlib import Path

import pytest
from rich.console import Console
from rich.status import Status

import flows.cli.terminal
from flows.cli.main import main
from flows.cli.terminal import Waiting, duration, waiting
from sluice.ground.log import write_log
from sluice.ground.progress import report
from tests.golden import golden
from tests.tasks.workbench.firms_file import VALUE, protect, write_firms


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    write_log(None)  # another test of this process may have asked for one, which would stand in the place of this
    shown = io.StringIO()
    monkeypatch.setattr(flows.cli.terminal, "err", Console(file=shown, force_terminal=True, width=80))
    monkeypatch.setattr(flows.cli.terminal, "_SCREEN", 0.0)
    return shown


def shown_by(clock: list[float], every: float = 0.0) -> tuple[Waiting, list[str]]:
    said: list[str] = []
    return Waiting(said.append, every, lambda: clock[0]), said


def test_the_time_left_follows_from_the_pace_of_what_is_counted() -> None:
    clock = [0.0]
    shown, said = shown_by(clock)
    shown.step("evaluate")
    shown.heard("unique values, reference", 0, 0)
    shown.heard("nearest records", 0, 100)
    clock[0] = 1.0
    shown.heard("nearest records", 10, 100)
    golden(said[-1])
    clock[0] = 10.0
    shown.heard("nearest records", 25, 100)
    assert said[-1].endswith("nearest records 25 %, about 45 s left of that")  # 15 took 9 s
    shown.heard("nearest records", 100, 100)
    assert said[-1].endswith("nearest records 100 %")
    shown.heard("nearest records", 0, 100)  # another search of the same name begins
    clock[0] = 11.0
    shown.heard("nearest records", 50, 100)
    assert said[-1].endswith("nearest records 50 %")
    before = len(said)
    shown.step("")
    assert (len(said), shown.text()) == (before, "working")


def test_no_time_is_foretold_before_the_pace_is_known() -> None:
    """A search whose first tenth takes half of its time: linearly that was nine times what it took."""
    clock = [0.0]
    shown, said = shown_by(clock)
    for second in range(121):
        clock[0] = float(second)
        done = second / 6 if second <= 60 else 10 + (second - 60) * 1.5
        shown.heard("protect", int(10 * done), 1000)
    assert not any("left" in text for text in said[:60])
    assert not any("left" in text for text in said[65:110])


def test_a_pace_that_grows_is_followed() -> None:
    """What is done grows with the square of the time: after 60 s, 40 s are left; by the mean pace, 107."""
    clock = [0.0]
    shown, said = shown_by(clock)
    for second in range(1, 61):
        clock[0] = float(second)
        shown.heard("protect", second**2, 10_000)
    assert said[-1].endswith("about 1 min left of that")


def test_lines_come_at_long_intervals() -> None:
    clock = [0.0]
    shown, said = shown_by(clock, every=30)
    for second in range(100):
        clock[0] = float(second)
        shown.heard("trials", second, 100)
    assert [text.split(",")[0] for text in said] == ["trials 30 %", "trials 60 %", "trials 90 %"]


@pytest.mark.parametrize(("seconds", "says"), [(0.2, "1 s"), (59, "59 s"), (150, "2 min"), (9000, "2.5 h")])
def test_a_duration_is_as_exact_as_an_estimate(seconds: float, says: str) -> None:
    assert duration(seconds) == says


def test_machines_see_nothing_and_a_file_no_line_that_changes(
    terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    with waiting(quiet=True) as shown:
        assert shown is None
        report("unheard", 1, 2)
    assert terminal.getvalue() == ""
    monkeypatch.setattr(flows.cli.terminal, "err", Console(file=terminal, force_terminal=False))
    with waiting(quiet=False):
        report("too soon for a line", 1, 2)
    assert terminal.getvalue() == ""
    monkeypatch.setattr(flows.cli.terminal, "_LINES", 0.0)
    with waiting(quiet=False):
        report("clean up", 3, 4)
    assert terminal.getvalue() == "  clean up 75 % ...\n"


def test_the_search_of_protect_table_is_shown(
    tmp_path: Path, terminal: io.StringIO, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []  # the screen itself, drawn 12 times a second, may miss all of a search that takes less
    update = Status.update
    monkeypatch.setattr(Status, "update", lambda status, text: (said.append(text), update(status, text)))
    write_firms(tmp_path)
    assert main(protect(tmp_path, *VALUE, "--set=protection.seconds=30")) == 0
    assert {"protect 0 % ...", "linear programs ..."} <= set(said)
    assert said[-1] in terminal.getvalue()
    assert "protect" not in capsys.readouterr().err
    shown = len(terminal.getvalue())
    assert main(protect(tmp_path, *VALUE, "--set=protection.seconds=0")) == 1
    assert "must be greater than" in terminal.getvalue()[shown:]

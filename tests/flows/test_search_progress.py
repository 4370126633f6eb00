"""A bar on standard error while somebody waits at a terminal, and nothing at all for anybody else."""

import io
from pathlib import Path

import pytest
from rich.console import Console

import flows.cli.search_progress
from flows.cli.main import main
from flows.cli.search_progress import search_progress
from tests.tasks.workbench.firms_file import VALUE, protect, write_firms


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    shown = io.StringIO()
    monkeypatch.setattr(flows.cli.search_progress, "err", Console(file=shown, force_terminal=True, width=80))
    return shown


def test_a_terminal_shows_the_stage(terminal: io.StringIO) -> None:
    with search_progress(as_json=False) as progress:
        assert progress is not None
        progress("clean up", 3, 4)
    assert "clean up" in terminal.getvalue()


def test_machines_and_files_see_nothing(terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    with search_progress(as_json=True) as progress:
        assert progress is None
    monkeypatch.setattr(flows.cli.search_progress, "err", Console(file=terminal, force_terminal=False))
    with search_progress(as_json=False) as progress:
        assert progress is None
    assert terminal.getvalue() == ""


def test_the_search_of_protect_table_is_shown(
    tmp_path: Path, terminal: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    write_firms(tmp_path)
    assert main(protect(tmp_path, *VALUE, "--seconds=30")) == 0
    assert any(stage in terminal.getvalue() for stage in ("protect", "clean up", "shake"))
    assert "protect" not in capsys.readouterr().err
    assert main(protect(tmp_path, *VALUE, "--seconds=0")) == 1
    assert "--seconds: must be greater than 0; got 0" in capsys.readouterr().err

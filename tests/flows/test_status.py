"""`sluice status` reads the ledger once, however many releases it lists."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli.main import app
from sluice.custody.workspace import Workspace
from sluice.sources import sandbox
from sluice.sources.sandbox import NOT_CONFINED
from tests.custody.statements import statements_to_ledgers


def test_all_releases_are_listed_by_one_statement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path))
    ledger = Workspace.open(tmp_path).ledger
    for number in range(7):
        ledger.append(f"release-{number}", "received", "amara", {})
    ledger.append("release-3", "blocked", "amara", {"verdict": "FAIL", "says": "Blocked: 2 of 9 are alone."})
    with statements_to_ledgers() as sent:
        answer = CliRunner().invoke(app, ["status"])
    lines = answer.output.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("release")] == [f"release-{n}" for n in range(7)]
    assert "blocked" in lines[3]
    assert "Blocked: 2 of 9 are alone." in lines[4]
    assert len([each for each in sent if "sluice_ledger_schema" not in each]) == 1  # nor more than one for its version
    assert len(sent) <= 2


def test_a_system_on_which_sources_are_read_unconfined_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path))
    assert NOT_CONFINED not in CliRunner().invoke(app, ["status"]).output or not sandbox.landlock_version()
    monkeypatch.setattr(sandbox, "landlock_version", lambda: 0)
    assert NOT_CONFINED in " ".join(CliRunner().invoke(app, ["status"]).output.split())

"""The doctor on the machine: full disks, and files that other accounts could read."""

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from flows.doctor import host_machine
from flows.doctor.diagnosis import Condition
from flows.doctor.host_machine import modes, room
from sluice.custody.workspace import Workspace
from tests.golden import golden

Usage = namedtuple("Usage", "total used free")
GIB = 1 << 30


@pytest.mark.parametrize(
    ("free", "condition"),
    [(50 * GIB, Condition.OK), (9 * GIB, Condition.WARN), (GIB, Condition.FAIL), (0, Condition.FAIL)],
)
def test_a_disk_that_fills_up_is_warned_of_before_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, condition: Condition
) -> None:
    monkeypatch.setattr(host_machine.shutil, "disk_usage", lambda path: Usage(100 * GIB, 100 * GIB - free, free))
    found = list(room(tmp_path / "home", [tmp_path / "shelf", tmp_path]))
    assert [each.condition for each in found] == [condition], "one disk, named once"
    golden(found[0].says)
    assert f"{free / GIB:.1f}" in found[0].says


def test_files_that_others_can_read_are_closed_by_the_repair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("SLUICE_HOME", str(home))
    workspace = Workspace.open(home)
    kept = workspace.vault.path(workspace.vault.keep_bytes(b"kept"))
    assert [each.condition for each in modes(home)] == [Condition.OK, Condition.OK]
    kept.chmod(0o644)
    (home / "vault" / "seeds").chmod(0o755)
    (home / "ledger.db").chmod(0o640)
    home.chmod(0o770)
    found, _ = modes(home)
    assert found.condition is Condition.FAIL
    golden(found.says)
    assert found.repair
    assert found.repair() == "closed 4 files and folders of the workspace to other accounts"
    assert next(modes(home)).condition is Condition.OK
    assert (kept.stat().st_mode & 0o777, home.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_link_in_the_workspace_leads_the_repair_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("SLUICE_HOME", str(home))
    Workspace.open(home)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("of another")
    elsewhere.chmod(0o644)
    (home / "vault" / "objects" / "link").symlink_to(elsewhere)
    assert next(modes(home)).condition is Condition.OK
    assert elsewhere.stat().st_mode & 0o777 == 0o644


def test_connections_that_others_may_write_to_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("SLUICE_HOME", str(home))
    Workspace.open(home)
    (home / "connections.yaml").write_text("connections: {}\n")
    (home / "connections.yaml").chmod(0o666)
    *_, found = modes(home)
    assert found.condition is Condition.FAIL
    golden.words(found.says)
    shutil.rmtree(home)

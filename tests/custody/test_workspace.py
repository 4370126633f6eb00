"""The workspace: everything that one installation needs is made at the first opening and found at the next."""

import os
from pathlib import Path

import pytest
import sqlalchemy as sa

from sluice.custody.states import State
from sluice.custody.workspace import Workspace
from sluice.ground.errors import SluiceError
from tests.golden import golden


def test_a_workspace_is_made_once_and_found_again(tmp_path: Path) -> None:
    first = Workspace.open(tmp_path / "home")
    first.ledger.append("fair-1", "received", "amara", {})
    again = Workspace.open(tmp_path / "home")
    assert again.ledger.state("fair-1") is State.RECEIVED
    assert again.ledger.verify() == []
    assert again.vault.pseudonym("a", "b") == first.vault.pseudonym("a", "b")
    assert first.home == tmp_path / "home"
    for folder in (again.vault.root, again.reports, again.data_docs):
        assert folder.stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "home" / "ledger.db").stat().st_mode & 0o777 == 0o600


def test_a_relative_home_means_the_same_place_after_a_change_of_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    workspace = Workspace.open(Path("home"))
    monkeypatch.chdir("/")
    workspace.ledger.append("fair-1", "received", "amara", {})
    assert workspace.ledger.verify() == []


def test_the_ledger_may_lie_elsewhere(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path / "home", f"sqlite:///{tmp_path}/other.db")
    workspace.ledger.append("fair-1", "received", "amara", {})
    assert not (tmp_path / "home" / "ledger.db").exists()
    with sa.create_engine(f"sqlite:///{tmp_path}/other.db").connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM sluice_ledger").scalar() == 1


def test_a_ledger_that_was_thrown_away_is_missed(tmp_path: Path) -> None:
    Workspace.open(tmp_path / "home").ledger.append("fair-1", "received", "amara", {})
    (tmp_path / "home" / "ledger.db").unlink()
    again = Workspace.open(tmp_path / "home")
    golden(again.ledger.verify())
    with golden.raises(SluiceError):
        again.ledger.append("fair-1", "received", "amara", {})


def test_root_leaves_no_files_in_the_workspace_of_another_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An operator's command as root would leave an anchor that the worker cannot read, and no release would go out."""
    home = tmp_path / "home"
    home.mkdir(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: 4_000_000)
    with golden.raises(SluiceError):
        Workspace.open(home)
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("umask", [0o000, 0o027, 0o077])
def test_what_is_made_is_for_its_owner_alone_whatever_the_umask_is(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        workspace = Workspace.open(tmp_path / "new" / "home")
        workspace.ledger.append("fair-1", "received", "amara", {})
        workspace.vault.keep_bytes(b"records")
        workspace.vault.seed("fair-1")
    finally:
        os.umask(before)
    for path in (tmp_path / "new", *(tmp_path / "new").rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_workspace_in_which_others_can_write_is_refused(tmp_path: Path, mode: int) -> None:
    """They could move the vault away and put one of their own in its place, with a key that they know."""
    Workspace.open(tmp_path / "home")
    (tmp_path / "home").chmod(mode)
    with golden.raises(SluiceError):
        Workspace.open(tmp_path / "home")
    (tmp_path / "home").chmod(0o755)
    Workspace.open(tmp_path / "home")

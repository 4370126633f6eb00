"""The version names the commit where somebody knows it: the image, pip, or the working tree."""

import json
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sluice import software_version as module
from sluice.software_version import software_version

COMMIT = "1f2e3d4c5b6a79880f1e2d3c4b5a69788f7e6d5c"


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What pip noted about where it installed Sluice from."""
    note: dict[str, Any] = {}
    installed = SimpleNamespace(version=version("sluice"), read_text=lambda name: json.dumps(note))
    monkeypatch.setattr(module, "distribution", lambda name: installed)
    monkeypatch.delenv("SLUICE_COMMIT", raising=False)
    return note


def test_without_a_commit_it_is_the_version(noted: dict[str, Any]) -> None:
    assert software_version() == version("sluice")


def test_an_image_names_its_commit(noted: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_COMMIT", COMMIT)
    assert software_version() == f"{version('sluice')}, commit {COMMIT[:12]}"


def test_pip_noted_the_commit_of_a_repository(noted: dict[str, Any]) -> None:
    noted |= {"url": "https://example.org/sluice.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}}
    assert software_version().endswith(f"commit {COMMIT[:12]}")


@pytest.mark.parametrize("kept", ["detached", "loose", "packed"])
def test_a_working_tree_says_what_is_checked_out(noted: dict[str, Any], tmp_path: Path, kept: str) -> None:
    git = tmp_path / "a folder" / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text(f"{COMMIT}\n" if kept == "detached" else "ref: refs/heads/main\n")
    if kept == "loose":
        (git / "refs" / "heads" / "main").write_text(f"{COMMIT}\n")
    if kept == "packed":
        (git / "packed-refs").write_text(f"# pack-refs with: peeled\n{COMMIT} refs/heads/main\n")
    noted |= {"url": git.parent.as_uri(), "dir_info": {"editable": True}}
    assert software_version().endswith(f"commit {COMMIT[:12]}")
    noted["dir_info"] = {}  # copied from there: the folder may hold another commit by now
    assert software_version() == version("sluice")


def test_a_folder_without_history_is_no_error(noted: dict[str, Any], tmp_path: Path) -> None:
    noted |= {"url": tmp_path.as_uri(), "dir_info": {"editable": True}}
    assert software_version() == version("sluice")

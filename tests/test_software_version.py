"""The version names the commit where somebody knows it: the image, pip, or the working tree."""

import json
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sluice import software_version as module
from sluice.software_version import software_version

ROOT = Path(__file__).parents[1]
COMMIT = "1f2e3d4c5b6a79880f1e2d3c4b5a69788f7e6d5c"


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What pip noted about where it installed Sluice from."""
    note: dict[str, Any] = {}
    installed = SimpleNamespace(version=version("sluice-sdc"), read_text=lambda name: json.dumps(note))
    monkeypatch.setattr(module, "distribution", lambda name: installed)
    monkeypatch.delenv("SLUICE_COMMIT", raising=False)
    return note


def test_without_a_commit_it_is_the_version(noted: dict[str, Any]) -> None:
    assert software_version() == version("sluice-sdc")


def test_an_image_names_its_commit(noted: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_COMMIT", COMMIT)
    assert software_version() == f"{version('sluice-sdc')}, commit {COMMIT[:12]}"


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
    assert software_version() == version("sluice-sdc")


def built(tree: Path, *command: str) -> Path:
    """What a build makes of a tree, in a folder of its own."""
    pytest.importorskip("setuptools")
    made = tree.with_name(f"{tree.name}-{command[0]}")
    subprocess.run([sys.executable, "setup.py", "-q", *command, str(made)], cwd=tree, check=True, capture_output=True)
    return made


@pytest.mark.servers
@pytest.mark.parametrize("changed", [False, True], ids=["as committed", "with a changed file"])
def test_a_wheel_names_the_commit_that_it_was_built_from(tmp_path: Path, changed: bool) -> None:
    """Straight from a repository or by way of the archive of its sources; of what is no commit's it says none."""
    tree = tmp_path / "tree"
    (tree / "sluice").mkdir(parents=True)
    (tree / "sluice" / "__init__.py").touch()
    shutil.copy(ROOT / "setup.py", tree)
    ours = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    data = ours[ours.index("[tool.setuptools.packages") : ours.index("[tool.ruff]")]
    (tree / "pyproject.toml").write_text(f'[project]\nname = "sluice"\nversion = "1"\n{data}')
    git = ["git", "-C", str(tree), "-c", "user.name=mina", "-c", "user.email=mina@agency.example"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *command], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout
    if changed:
        (tree / "sluice" / "__init__.py").write_text("something = 1")
    straight = built(tree, "build_py", "--build-lib")
    [archive] = built(tree, "sdist", "--dist-dir").iterdir()
    shutil.unpack_archive(archive, tmp_path / "unpacked")
    [sources] = (tmp_path / "unpacked").iterdir()
    for folder in (straight, built(sources, "build_py", "--build-lib")):
        note = folder / "sluice" / "commit.txt"
        assert (note.read_text() if note.exists() else "") == ("" if changed else head)


def test_the_note_of_a_wheel_counts(noted: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = tmp_path / "commit.txt"
    note.write_text(f"{COMMIT}\n")
    monkeypatch.setattr(module, "_NOTED", note)
    assert software_version() == f"{version('sluice-sdc')}, commit {COMMIT[:12]}"


def test_a_folder_without_history_is_no_error(noted: dict[str, Any], tmp_path: Path) -> None:
    noted |= {"url": tmp_path.as_uri(), "dir_info": {"editable": True}}
    assert software_version() == version("sluice-sdc")

"""A new project is complete, readable by those who review it, and holds no private key."""

import os
import stat
from pathlib import Path

import pytest

from policies.people import Roster
from sluice.custody.signing.public_key import PublicKey
from sluice.documents.document_reading import parse_document, read_yaml
from sluice.ground.errors import SluiceError
from sluice.sources.connections import Connections
from tasks.project.new_project import PEOPLE, new_project
from tests.golden import golden


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def roster(project: Path) -> Roster:
    return parse_document(Roster, read_yaml(project / "people.yaml"), "people.yaml")


def test_whatever_the_umask_reviewers_can_read_it(tmp_path: Path) -> None:
    umask = os.umask(0o077)
    try:
        made = new_project(tmp_path / "panel")
    finally:
        os.umask(umask)
    assert {path.relative_to(tmp_path / "panel").as_posix() for path in made} == {
        "README.md", "contracts/example.yaml", "releases/example.yaml", "data/example.csv", "connections.yaml",
        "environment", "people.yaml", ".gitignore",
    }  # fmt: skip
    for path in (tmp_path / "panel").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o755 if path.is_dir() else 0o644), path


def test_its_people_have_no_keys_until_somebody_makes_them(tmp_path: Path) -> None:
    new_project(tmp_path / "panel")
    assert {name: person.roles for name, person in roster(tmp_path / "panel").people.items()} == PEOPLE
    assert not any(person.keys for person in roster(tmp_path / "panel").people.values())


def test_keys_to_try_it_alone_lie_elsewhere_and_the_roster_has_their_public_halves(tmp_path: Path) -> None:
    new_project(tmp_path / "panel", tmp_path / "keys")
    for name, person in roster(tmp_path / "panel").people.items():
        assert stat.S_IMODE((tmp_path / "keys" / name).stat().st_mode) == 0o600
        made = PublicKey.parse((tmp_path / "keys" / f"{name}.pub").read_text())
        assert person.public_keys == (made,)
    assert not any(b"PRIVATE KEY" in path.read_bytes() for path in (tmp_path / "panel").rglob("*") if path.is_file())


@pytest.mark.parametrize("keys", ["panel", "panel/keys", "home/keys", "link/keys"])
def test_no_private_key_is_made_in_the_project_or_the_workspace(tmp_path: Path, keys: str) -> None:
    (tmp_path / "panel").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "panel")
    golden.refused(SluiceError, new_project, tmp_path / "panel", tmp_path / keys)
    assert list((tmp_path / "panel").iterdir()) == []
    assert not (tmp_path / "home").exists()


def test_a_folder_with_anything_in_it_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "panel").mkdir()
    (tmp_path / "panel" / "mine.txt").write_text("mine")
    golden.refused(SluiceError, new_project, tmp_path / "panel", tmp_path / "keys")
    assert [path.name for path in (tmp_path / "panel").iterdir()] == ["mine.txt"]
    assert not (tmp_path / "keys").exists()


@pytest.mark.parametrize("place", ["home", "home/project", "."])
def test_project_and_workspace_lie_apart(tmp_path: Path, workspace: Path, place: str) -> None:
    golden.refused(SluiceError, new_project, tmp_path / place)
    assert not workspace.exists()


def test_what_is_to_be_filled_in_loads_as_it_is(tmp_path: Path) -> None:
    new_project(tmp_path / "panel")
    found = parse_document(Connections, read_yaml(tmp_path / "panel" / "connections.yaml"), "connections.yaml")
    assert found.connections == {}

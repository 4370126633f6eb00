"""What a shelf says of its folders: written whole, only where it differs, and nowhere else."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from sluice.custody.shelf_documents import (
    ShelfDocuments,
    ShelfPlaces,
    document_problems,
    is_same_shelf,
    write_documents,
)
from sluice.ground.errors import SluiceError
from tests.flows.house import DONE
from tests.golden import golden


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    place = tmp_path / "shelf"
    (place / "fair-1").mkdir(parents=True)
    return place


SAYS = ShelfDocuments(
    files={"fair.current.json": b"{}", "fair-1/superseded.json": b"later"},
    links={"fair.current": "fair-1"},
    absent=frozenset({"other.current"}),
)


def test_it_is_written_once(shelf: Path) -> None:
    assert write_documents(shelf, SAYS)
    assert not write_documents(shelf, SAYS)
    assert (shelf / "fair.current.json").read_bytes() == b"{}"
    assert (shelf / "fair-1" / "superseded.json").read_bytes() == b"later"
    assert os.readlink(shelf / "fair.current") == "fair-1"
    assert [*document_problems(shelf, SAYS)] == []
    assert SAYS.names == {"fair.current.json", "fair.current"}
    assert SAYS.in_folder("fair-1") == {"superseded.json": b"later"}


def test_what_must_not_be_there_is_named_and_taken_away(shelf: Path) -> None:
    (shelf / "other.current").symlink_to("fair-1")
    write_documents(shelf, ShelfDocuments())
    problem = f"{shelf / 'other.current'} is there, and no edition is current; it is removed by: sluice catalogue"
    assert problem in document_problems(shelf, SAYS)
    write_documents(shelf, SAYS)
    assert not (shelf / "other.current").is_symlink()


def test_a_link_is_not_written_through(shelf: Path, tmp_path: Path) -> None:
    """Somebody who could write on the shelf once leads the next publication to a file of their choice."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (shelf / "fair.current.json").symlink_to(victim)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (shelf / "fair-2").symlink_to(elsewhere)
    write_documents(shelf, ShelfDocuments(files={**SAYS.files, "fair-2/superseded.json": b"later"}))
    assert victim.read_bytes() == b"precious"
    assert not (shelf / "fair.current.json").is_symlink()
    assert [*elsewhere.iterdir()] == []


def test_a_copy_in_the_place_of_the_link_is_named_and_left(shelf: Path) -> None:
    """As a backup leaves it that follows links: nobody knows any more which edition it is."""
    (shelf / "fair.current").mkdir()
    write_documents(shelf, SAYS)
    [problem] = document_problems(shelf, SAYS)
    golden(problem)
    assert str(shelf / "fair.current") in problem


def test_a_folder_that_is_gone_is_not_made_anew(shelf: Path) -> None:
    (shelf / "fair-1").rmdir()
    write_documents(shelf, SAYS)
    assert not (shelf / "fair-1").exists()


def test_drafts_of_a_killed_process_go(shelf: Path) -> None:
    draft = shelf / "fair-1" / ".superseded.json.0123456789abcdef"
    draft.write_bytes(b"half")
    write_documents(shelf, SAYS)
    assert not draft.exists()


def test_a_reader_finds_the_old_file_or_the_new_one(shelf: Path) -> None:
    write_documents(shelf, SAYS)
    with patch.object(Path, "replace", side_effect=OSError), pytest.raises(OSError):
        write_documents(shelf, ShelfDocuments(files={"fair.current.json": b"new"}))
    assert (shelf / "fair.current.json").read_bytes() == b"{}"


@pytest.mark.parametrize("name", ["../elsewhere", "/etc/passwd", "a/b/c", "", ".hidden", "a\nb", "a/../b"])
def test_no_name_leads_off_the_shelf(shelf: Path, name: str) -> None:
    for documents in (
        ShelfDocuments(files={name: b""}),
        ShelfDocuments(links={name: "a"}),
        ShelfDocuments(links={"a": name}),
        ShelfDocuments(absent=frozenset({name})),
    ):
        with golden.raises(SluiceError):
            write_documents(shelf, documents)
    assert [path.name for path in shelf.parent.iterdir()] == ["shelf"]


# A shelf is one, by however many paths it is reached.


_APART = ["unshare", "--mount", "--map-root-user", "--propagation", "private"]
_RELEASES = """
import json, subprocess, sys
from pathlib import Path
from tests.flows.house import House

root = Path(sys.argv[1])
house = House(root / "house")
one, other = root / "one", root / "other"
for place in (one, other):
    place.mkdir(mode=0o755)
subprocess.run(["mount", "--bind", str(one), str(other)], check=True)
told = []
for place in (one, other):
    house.definition["target"] = str(place)
    house.new_edition(seed=len(told) + 2)
    told.append(house.release())
    told += [house.approve(who) for who in ("amara", "jonas")]
told.append(house.sluice("ledger", "verify"))
shown = house.sluice("catalogue", "--json")
states = [row["state"] for row in house.sluice("status", "--json").json]
catalogue = (one / "catalogue.html").read_text(encoding="utf-8")
print(json.dumps({
    "states": states, "verified": told[-1].code, "lines": shown.json["editions"],
    "words": [each.words for each in told], "in_catalogue": [release in catalogue for release in house.ids],
}))
"""


def test_links_and_other_spellings_are_one_place(tmp_path: Path) -> None:
    shelf, link = tmp_path / "shelf", tmp_path / "link"
    shelf.mkdir()
    link.symlink_to(shelf)
    places = ShelfPlaces()
    assert {places.of(path) for path in (shelf, link, tmp_path / "x" / ".." / "shelf")} == {shelf}
    assert is_same_shelf(link, shelf)


def test_what_is_not_there_is_what_it_is_called(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    assert [ShelfPlaces([one]).of(path) for path in (one, other)] == [one, other]
    assert is_same_shelf(one, tmp_path / "x" / ".." / "one")
    assert not is_same_shelf(one, other)


def _can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*_APART, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode == 0


@pytest.mark.servers
@pytest.mark.skipif(not _can_mount(), reason="this account may mount nothing, not even for itself")
def test_two_mounts_of_one_folder_are_one_shelf(tmp_path: Path) -> None:
    """Else two editions would be current on it, and each publication would write the catalogue of its own path."""
    script = tmp_path / "releases.py"
    script.write_text(_RELEASES)
    done = subprocess.run(
        [*_APART, sys.executable, str(script), str(tmp_path)],
        capture_output=True, text=True, cwd=Path(__file__).resolve().parents[2],
        env={
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "PYTHONPATH": ".", "TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1",
        },
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["states"] == ["superseded", "published"], found["words"]
    assert found["in_catalogue"] == [True, True]
    assert len(found["lines"]) == 1
    assert found["verified"] == DONE, found["words"]

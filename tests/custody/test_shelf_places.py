"""A shelf is one, by however many paths it is reached."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sluice.custody.shelf_documents import ShelfPlaces, is_same_shelf
from tests.flows.house import DONE

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
        env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "PYTHONPATH": ".", "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["states"] == ["superseded", "published"], found["words"]
    assert found["in_catalogue"] == [True, True]
    assert len(found["lines"]) == 1
    assert found["verified"] == DONE, found["words"]

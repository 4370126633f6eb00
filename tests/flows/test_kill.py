"""A run that is killed, anywhere, leaves nothing published or everything, and running the same command again finishes.

SIGKILL is what a full memory, a power cut or an impatient administrator does: no `finally` runs, no exception is seen.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.flows.forks import Forks, Run
from tests.flows.house import DONE, WAITING, House

KILLED = -9
PUBLISHED = {
    "CITATION.cff",
    "README.md",
    "attestation.json",
    "checksums.sha256",
    "codebook.html",
    "codebook.xml",
    "croissant.json",
    "datapackage.json",
    "manifest.json",
    "people-puf.csv",
    "people-puf.parquet",
    "read.R",
    "read.do",
    "read.py",
}

JUDGING = [
    ("open_documents", 1),
    ("known_release", 1),
    ("ingest", 1),
    ("validate", 1),
    ("check", 1),
    ("mask", 1),
    ("check", 2),
    ("evaluate", 1),
    ("report", 1),
    ("decide", 1),
    ("approve", 1),
    ("awaits_people", 1),
]
PUBLISHING: list[dict[str, Any]] = [
    *(
        {"kill_at": {"step": step, "end": end}}
        for step in ("open_documents", "approve", "publish", "settle")
        for end in (False, True)
    ),
    *(
        {"kill_on_shelf": {"hook": hook}}
        for hook in (
            "partial made",
            "attestation.json written",
            "datapackage.json written",
            "manifest.json written",
            "people-puf.csv written",
            "people-puf.parquet written",
            "checksums written",
            "partial on disk",
            "renamed",
            "on disk",
        )
    ),
    *(
        {"kill_after_event": {"event": event, "anchored": anchored}}
        for event, anchored in (
            ("decision", True),
            ("approved", False),
            ("publishing", False),
            ("publishing", True),
            ("seed_destroyed", False),
            ("published", False),
            ("published", True),
            ("superseded", False),
        )
    ),
]


def named(fault: dict[str, Any]) -> str:
    ((kind, settings),) = fault.items()
    return f"{kind}-{'-'.join(str(value) for value in settings.values())}"


def whole_or_nothing(house: House) -> None:
    """What must hold whenever a run has died: the ledger is whole, and each published folder is whole and complete."""
    from sluice.custody import shelf

    assert house.workspace().ledger.verify() == []
    for name in (path.name for path in house.target.glob("[!.]*/")):
        assert shelf.read_back(house.target / name) == []
        assert {path.name for path in (house.target / name).iterdir()} - {"superseded.json"} == PUBLISHED


def test_killed_while_judged(house: House, forks: Forks) -> None:
    """Killed where each step begins, and where it ends: each attempt comes through what stopped the one before."""
    house.adopt()
    for step, time in JUDGING:
        for end in (False, True):
            fault = {"step": step, "end": end, "time": time}
            killed = forks.run(house.home, "release", str(house.file), kill_at=fault)
            assert killed.code == KILLED, (fault, killed.output)
            whole_or_nothing(house)
            assert house.shelf == []
    is_pending(house, forks.run(house.home, "release", str(house.file)))


def test_killed_on_a_server(house: House, forks_on_prefect: Callable[..., Run]) -> None:
    """Runs that Prefect still takes to be running stand in nobody's way."""
    house.adopt()
    command = ("release", str(house.file))
    assert forks_on_prefect(house.home, *command, kill_at={"step": "mask", "end": False}).code == KILLED
    is_pending(house, forks_on_prefect(house.home, *command))
    release = house.id
    assert forks_on_prefect(house.home, "approve", release, "--as", "amara").code == WAITING
    approval = ("approve", release, "--as", "jonas")
    assert forks_on_prefect(house.home, *approval, kill_on_shelf={"hook": "partial on disk"}).code == KILLED
    whole_or_nothing(house)
    assert house.shelf == []
    again = forks_on_prefect(house.home, *approval)
    assert again.code == DONE, again.output
    assert house.shelf == [release]
    assert house.events().count("published") == 1


def is_pending(house: House, run: Run) -> None:
    """The run came to the decision of people, for the only release; nothing of those before it is left over."""
    assert run.code == WAITING, run.output
    whole_or_nothing(house)
    assert house.events().count("pending_review") == 1
    assert len(house.ids) == 1
    assert not list((house.home / "vault" / "scratch").iterdir())


@pytest.fixture(scope="module")
def almost(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> tuple[House, str, Path]:
    """A house with a published edition and a second one that lacks its last approval, and a copy of it all.

    The seed is to be destroyed on publication, and the first edition to be superseded: as much as can be interrupted.
    """
    house = House(tmp_path_factory.mktemp("kill") / "house")
    house.definition["seed"] = "destroy"
    house.write()
    house.adopt()
    forks.run(house.home, "release", str(house.file))
    forks.run(house.home, "approve", house.id, "--as", "amara")
    assert forks.run(house.home, "approve", house.id, "--as", "jonas").code == DONE
    first = house.id
    house.new_edition()
    forks.run(house.home, "release", str(house.file))
    assert house.id != first
    assert forks.run(house.home, "approve", house.id, "--as", "amara").code == WAITING
    return house, first, house.save("almost")


@pytest.mark.parametrize("fault", PUBLISHING, ids=named)
def test_killed_while_published(almost: tuple[House, str, Path], forks: Forks, fault: dict[str, Any]) -> None:
    house, first, saved = almost
    house.go_back(saved)
    release = house.id
    assert house.shelf == [first]
    assert forks.run(house.home, "approve", release, "--as", "jonas", **fault).code == KILLED
    whole_or_nothing(house)
    assert first in house.shelf

    again = forks.run(house.home, "approve", release, "--as", "jonas")
    assert again.code == DONE, again.output
    is_published(house, first, release)


@pytest.mark.parametrize(
    "fault",
    [
        {"kill_on_shelf": {"hook": "partial on disk"}},
        pytest.param({"kill_on_shelf": {"hook": "renamed"}}, marks=pytest.mark.smoke),
    ],
    ids=named,
)
def test_killed_while_published_and_the_owner_runs_the_release_again(
    almost: tuple[House, str, Path], forks: Forks, fault: dict[str, Any]
) -> None:
    house, first, saved = almost
    house.go_back(saved)
    release = house.id
    forks.run(house.home, "approve", release, "--as", "jonas", **fault)
    again: Run = forks.run(house.home, "release", str(house.file))
    assert again.code == DONE, again.output
    is_published(house, first, release)


def is_published(house: House, first: str, release: str) -> None:
    """The second edition is published once, with both approvals; nothing is left over, nothing left undone."""
    whole_or_nothing(house)
    assert house.sluice("ledger", "verify").code == DONE
    assert json.loads((house.target / "people-puf.current.json").read_text())["current"] == release
    assert sorted(house.shelf) == sorted([first, release])
    assert [path.name for path in house.target.iterdir() if ".partial-" in path.name] == []
    assert house.events(release).count("published") == 1
    assert house.events(release).count("seed_destroyed") == 1
    assert house.events(first)[-1] == "superseded"
    assert house.events(first).count("superseded") == 1
    seeds = [path.name for path in (house.home / "vault" / "seeds").iterdir()]
    assert len([name for name in seeds if name.endswith("~destroyed")]) == 2  # of both editions
    assert len(seeds) == 2
    manifest = json.loads((house.target / release / "manifest.json").read_text())
    assert [approval["who"] for approval in manifest["approvals"]] == ["amara", "jonas"]


def test_killed_again_and_again_while_published(almost: tuple[House, str, Path], forks: Forks) -> None:
    """Each attempt dies a little later than the one before."""
    house, first, saved = almost
    house.go_back(saved)
    release = house.id
    for event in ("approved", "publishing", "seed_destroyed", "published", "superseded"):
        fault = {"event": event, "anchored": False}
        assert forks.run(house.home, "approve", release, "--as", "jonas", kill_after_event=fault).code == KILLED
        whole_or_nothing(house)
    assert forks.run(house.home, "approve", release, "--as", "jonas").code == DONE
    is_published(house, first, release)


def test_killed_while_withdrawn(almost: tuple[House, str, Path], forks: Forks) -> None:
    house, first, saved = almost
    house.go_back(saved)
    assert forks.run(house.home, "approve", house.id, "--as", "jonas").code == DONE
    release = house.id
    fault = {"event": "withdrawn", "anchored": False}
    arguments = ("withdraw", release, "--reason", "a number was wrong", "--as")
    assert forks.run(house.home, *arguments, "amara").code == WAITING
    assert forks.run(house.home, *arguments, "jonas", kill_after_event=fault).code == KILLED
    whole_or_nothing(house)
    assert first in house.shelf
    assert release not in house.shelf
    assert house.events(release)[-1] == "withdrawn"

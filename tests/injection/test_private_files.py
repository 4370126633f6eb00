"""Files of a release and of the commands: for their owner alone under any umask, but for what is published."""

import os
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sluice.custody.shelf import LOCK
from tests.flows.house import DONE, WAITING, House


@contextmanager
def under(umask: int) -> Iterator[None]:
    before = os.umask(umask)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def watched(*folders: Path) -> Iterator[dict[Path, int]]:
    """The files and folders that appear meanwhile, however short their lives, with what others may do with them."""
    seen: dict[Path, int] = {}
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.002):
            for folder in folders:
                for place, _, files in os.walk(folder):
                    for path in (Path(place), *(Path(place) / file for file in files)):
                        try:
                            mode = path.lstat().st_mode
                        except FileNotFoundError:
                            continue
                        if not stat.S_ISLNK(mode):
                            seen[path] = seen.get(path, 0) | mode & 0o077

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        ended.set()
        watcher.join()


@pytest.mark.parametrize("umask", [0o000, pytest.param(0o077, marks=pytest.mark.exhaustive)])
def test_a_release_leaves_nothing_open_but_what_it_publishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, umask: int
) -> None:
    house = House(tmp_path / "house")
    temporary = tmp_path / "temporary"
    temporary.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with under(umask), watched(house.home, temporary) as seen:
        assert house.release().code == WAITING
        assert [house.approve(who).code for who in ("amara", "jonas")] == [WAITING, DONE]
    assert any(path.parent == house.home / "vault" / "scratch" for path in seen)
    assert {path: oct(others) for path, others in seen.items() if others} == {}
    for path in (house.target, *house.target.rglob("*")):
        public = 0o600 if path.name == LOCK else 0o755 if path.is_dir() else 0o644
        assert path.stat().st_mode & 0o777 == public, path


def test_what_commands_write_for_their_user_is_the_users_alone(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,town\n" + "".join(f"{20 + n % 40},t{n % 3}\n" for n in range(60)))
    (tmp_path / "plan.yaml").write_text("- {method: rank_swapping, columns: [age], window: 0.2}\n")
    house = House(tmp_path / "house")
    with under(0o000):
        arguments = ("--plan", str(tmp_path / "plan.yaml"), "--seed-file", str(tmp_path / "seed"))
        told = house.sluice("mask", str(tmp_path / "people.csv"), *arguments, "-o", str(tmp_path / "masked.csv"))
    assert told.code == DONE, told.words
    for name in ("masked.csv", "masked.csv.datapackage.json", "seed"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600, name

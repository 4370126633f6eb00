"""One run at a time reads and judges a data set; a killed one is in nobody's way."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from tasks.release.locks import alone_with_data, alone_with_release
from tasks.release.product import AnyProduct
from tasks.release.products import load_product
from tests.flows.house import House


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path / "house")


def product(house: House, change: Callable[[House], object] = lambda house: None) -> AnyProduct:
    change(house)
    house.write()
    return load_product(house.file, house.workspace())


def waited(one: AnyProduct, other: AnyProduct) -> bool:
    """Whether the other has to wait while the one is at work; it gets its turn in the end."""
    waits, entered = threading.Event(), threading.Event()

    def follow() -> None:
        with alone_with_data(other):
            entered.set()

    with patch("tasks.release.locks.log", side_effect=lambda *_, **__: waits.set()):
        with alone_with_data(one):
            thread = threading.Thread(target=follow)
            thread.start()
            while not (waits.is_set() or entered.is_set()):
                waits.wait(0.01)
            first = entered.is_set()
        thread.join()
    assert entered.is_set()
    return not first


def rename(house: House) -> None:
    house.definition["name"] = "people-by-region"


def call_the_data_otherwise(house: House) -> None:
    rename(house)
    house.contract["dataset"] = "persons"


def read_another_file(house: House) -> None:
    rename(house)
    house.definition["source"] = {"type": "csv", "path": "others.csv"}


def read_another_data_set(house: House) -> None:
    call_the_data_otherwise(house)
    read_another_file(house)


@pytest.mark.parametrize(
    ("change", "waits"),
    [(rename, True), (call_the_data_otherwise, True), (read_another_file, True), (read_another_data_set, False)],
)
def test_two_definitions_of_the_same_data_take_turns(
    house: House, change: Callable[[House], None], waits: bool
) -> None:
    """By the name that their contracts give the data set, or by the file that they read."""
    assert waited(product(house), product(house, change)) is waits


def _hold(one: AnyProduct, ready: "multiprocessing.synchronize.Event") -> None:
    with alone_with_data(one):
        ready.set()
        signal.pause()


@pytest.mark.servers
def test_a_killed_run_holds_nothing(house: House) -> None:
    one, context = product(house), multiprocessing.get_context("fork")
    ready = context.Event()
    process = context.Process(target=_hold, args=(one, ready))
    process.start()
    assert ready.wait(60)
    assert process.pid
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    with alone_with_data(one):
        pass


def test_the_names_of_locks_tell_nothing(house: House) -> None:
    house.contract["dataset"] = "../../people"
    with alone_with_data(product(house)):
        found = [path.name for path in (house.home / "data_sets").iterdir()]
    assert found
    assert not any("people" in name for name in found)


# One process at a time carries out what was decided on a release; others are not in its way.


def release(home: Path, name: str) -> Any:
    return SimpleNamespace(id=name, product=SimpleNamespace(workspace=SimpleNamespace(home=home)))


def test_who_comes_second_waits(tmp_path: Path) -> None:
    came = threading.Event()

    def second() -> None:
        with alone_with_release(release(tmp_path, "fair-1")):
            came.set()

    other = threading.Thread(target=second)
    with alone_with_release(release(tmp_path, "fair-1")):
        other.start()
        assert not came.wait(0.2)
    other.join()
    assert came.is_set()


def test_another_release_is_not_waited_for(tmp_path: Path) -> None:
    with alone_with_release(release(tmp_path, "fair-1")), alone_with_release(release(tmp_path, "fair-2")):
        pass

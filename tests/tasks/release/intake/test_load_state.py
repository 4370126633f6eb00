"""A load is noticed once, when it is whole, and nothing of its figures is kept or said."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest

from sluice.custody.workspace import Workspace
from sluice.ground.errors import DataError, DocumentError
from tasks.release.intake.load_state import load_state
from tasks.release.products import load_definition
from tasks.release.release_definition import Definition
from tests.flows.house import House
from tests.golden import golden

PLANTED = 4711


class Warehouse:
    def __init__(self, house: House, home: Path | None = None) -> None:
        self.house, self.file, self.home = house, house.documents / "house.db", home or house.home
        self.run("CREATE TABLE people (a, at)", "CREATE TABLE loads (at)")
        house.definition["source"] = {"type": "sqlite", "path": "house.db", "table": "people"}

    def run(self, *statements: str) -> None:
        with closing(sqlite3.connect(self.file)) as database, database:
            for statement in statements:
                database.execute(statement)

    def loaded(self, announce: bool = True, **poll: str) -> bool:
        self.house.definition["poll"] = poll
        self.house.write()
        definition: Definition = load_definition(self.house.file).at(self.house.documents)
        with (
            patch("tasks.release.intake.load_state.read_apart", lambda source, columns: source.batches(columns)),
            load_state(self.house.file, definition, Workspace.open(self.home)) as state,
        ):
            if state.loaded and announce:
                state.announced()
            return state.loaded


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Warehouse]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "house" / "home"))
    return Warehouse(House(tmp_path / "house"))


def test_a_table_counts_as_loaded_when_it_is_the_same_twice(warehouse: Warehouse) -> None:
    """A load of many transactions is not released by half."""
    warehouse.run("INSERT INTO people VALUES (1, '2026-01-01')")
    assert not warehouse.loaded()
    warehouse.run("INSERT INTO people VALUES (2, '2026-01-01')")
    assert not warehouse.loaded()
    assert warehouse.loaded()
    assert not warehouse.loaded()
    warehouse.run("INSERT INTO people VALUES (3, '2026-01-01')")
    assert [warehouse.loaded() for _ in range(3)] == [False, True, False]


def test_two_definitions_of_one_name_are_polled_each_by_itself(warehouse: Warehouse, tmp_path: Path) -> None:
    """Of two projects in one workspace: neither hides the loads of the other, nor takes them for its own."""
    other = Warehouse(House(tmp_path / "other"), warehouse.home)
    other.house.definition["name"] = warehouse.house.definition["name"]
    for each, records in ((warehouse, 1), (other, 2)):
        for record in range(records):
            each.run(f"INSERT INTO people VALUES ({record}, '2026-01-01')")
    polls = [each.loaded() for _ in range(3) for each in (warehouse, other)]
    assert polls == [False, False, True, True, False, False]


def test_a_column_of_times_shows_a_load_of_as_many_records(warehouse: Warehouse) -> None:
    warehouse.run("INSERT INTO people VALUES (1, '2026-01-01')")
    assert [warehouse.loaded(column="at") for _ in range(3)] == [False, True, False]
    warehouse.run("UPDATE people SET at = '2026-02-01'")
    assert [warehouse.loaded(column="at") for _ in range(3)] == [False, True, False]


def test_a_table_of_loads_says_at_once_that_one_is_whole(warehouse: Warehouse) -> None:
    warehouse.run("INSERT INTO loads VALUES ('2026-01-01')")
    assert [warehouse.loaded(table="loads", column="at") for _ in range(2)] == [True, False]
    warehouse.run("INSERT INTO people VALUES (1, '')")  # no business of the table of loads
    assert not warehouse.loaded(table="loads", column="at")
    warehouse.run("INSERT INTO loads VALUES ('2026-02-01')")
    assert warehouse.loaded(table="loads", column="at")


def test_what_could_not_be_announced_is_announced_by_the_next_poll(warehouse: Warehouse) -> None:
    warehouse.run("INSERT INTO loads VALUES ('2026-01-01')")
    assert [warehouse.loaded(announce=False, table="loads") for _ in range(2)] == [True, True]
    assert [warehouse.loaded(table="loads") for _ in range(2)] == [True, False]


def test_neither_count_nor_time_is_kept(warehouse: Warehouse) -> None:
    """A count of 3 of a table of ill people, read by whoever sees the workspace's notes."""
    warehouse.run(f"INSERT INTO loads VALUES ({PLANTED})")
    warehouse.loaded(table="loads", column="at")
    [note] = (warehouse.house.home / "polls").glob("*.json")
    kept = json.loads(note.read_text())
    assert kept.keys() == {"seen", "announced"}
    assert str(PLANTED) not in note.read_text()
    assert len(kept["seen"]) >= 32


def test_a_file_is_not_polled_and_a_column_that_is_not_there_says_nothing(warehouse: Warehouse) -> None:
    golden.refused(DataError, warehouse.loaded, table="loads", column="none such")
    warehouse.house.definition["source"] = {"type": "csv", "path": "people.csv"}
    golden.refused(DocumentError, warehouse.loaded)

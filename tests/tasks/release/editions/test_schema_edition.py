"""Editions as tables of a public database: published with the files, swapped, withdrawn, and finished after a crash."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import duckdb
import pytest

from sluice.custody.states import LOADED, LOADING, SHOWN, State
from sluice.ground.errors import DataError
from sluice.publication.schema_change import SchemaChange
from tasks.release.editions.schema_edition import _identifier, _views
from tests.flows.house import DONE, ERROR, UNCHECKED, House
from tests.golden import golden


@pytest.fixture
def house(tmp_path: Path) -> House:
    made = House(tmp_path / "house")
    made.sluice("status")
    duckdb.connect(tmp_path / "public.duckdb").close()
    (tmp_path / "public.duckdb").chmod(0o644)
    file = made.home / "connections.yaml"
    file.touch(mode=0o600)
    url = f"duckdb:///{tmp_path}/public.duckdb"
    file.write_text(json.dumps({"publication": {"open": {"url": url, "schemas": ["main"]}}}))
    made.definition["publish_to"] = {"connection": "open", "into": "main"}
    made.write()
    return made


def public(house: House, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(house.root.parent / "public.duckdb", read_only=True) as database:
        return database.execute(query).fetchall()


def tables(house: House) -> dict[str, str]:
    return dict(public(house, "SELECT table_name, table_type FROM information_schema.tables"))


def published(house: House) -> str:
    """The id of a release that was approved by the two that it takes."""
    house.release()
    release = house.id
    house.approve_as_both()
    return release


def test_a_release_is_a_table_and_a_view_until_it_is_withdrawn(house: House) -> None:
    first = published(house)
    table = f"people_puf_{first.rpartition('-')[2]}"
    assert tables(house) == {table: "BASE TABLE", "people_puf": "VIEW"}
    folder = house.target / first
    rows = public(house, f"SELECT * FROM '{folder / 'people-puf.parquet'}' ORDER BY ALL")
    assert public(house, "SELECT * FROM people_puf ORDER BY ALL") == rows
    events = [entry.event for entry in house.workspace().ledger.entries(first)]
    wanted = [State.APPROVED, State.PUBLISHING, LOADING, LOADED, State.PUBLISHED, SHOWN]
    assert [event for event in events if event in wanted] == wanted
    house.new_edition()
    second = published(house)
    assert len(tables(house)) == 3
    other = public(house, f"SELECT * FROM '{house.target / second / 'people-puf.parquet'}' ORDER BY ALL")
    assert public(house, "SELECT * FROM people_puf ORDER BY ALL") == other
    assert house.sluice("ledger", "verify").code == DONE
    with patch("tasks.release.editions.schema_views.carry_out_apart", side_effect=DataError("the database is away")):
        told = house.withdraw(second, "wrong codes")
        assert told.code == ERROR
        golden.words(told.words)
        assert house.sluice("catalogue").code == ERROR
    assert not (house.target / second).exists()  # a server that does not answer keeps no file on the shelf
    assert house.sluice("ledger", "verify").code == UNCHECKED
    assert house.sluice("catalogue").code == DONE
    assert f"people_puf_{second.rpartition('-')[2]}" not in tables(house)
    assert public(house, "SELECT * FROM people_puf ORDER BY ALL") == rows
    with duckdb.connect(house.root.parent / "public.duckdb") as database:
        database.execute(f"DELETE FROM {table} WHERE age = (SELECT min(age) FROM {table})")
    told = house.sluice("ledger", "verify")
    assert told.code == ERROR
    assert f"'main.{table}'" in told.words
    golden.where(f"'main.{table}'", told.out + told.err)
    house.withdraw(first, "wrong codes")
    assert tables(house) == {}


def test_what_somebody_took_off_the_shelf_by_hand_is_withdrawn_and_stays_away(house: House) -> None:
    """Its folder is gone; pointer, catalogue and the public database must not go on showing it."""
    first = published(house)
    house.new_edition()
    second = published(house)
    aside = (house.target / second).rename(house.root / "aside")
    told = house.withdraw(second, "a mistake")
    assert told.code == DONE, told.words
    golden.words(told.words)
    assert house.events(first)[-1] != "superseded"
    assert [table for table, kind in tables(house).items() if kind == "BASE TABLE"] == [f"people_puf_{first[-12:]}"]
    aside.rename(house.target / second)
    golden.words(house.sluice("ledger", "verify").words)
    assert house.sluice("catalogue").code == DONE
    assert house.shelf == sorted([first, f"{second}.withdrawn.txt"])
    assert house.sluice("ledger", "verify").code == DONE


def test_what_broke_off_between_the_files_and_the_schema_is_finished(house: House) -> None:
    house.release()
    house.approve("amara")
    release = house.id

    def away(change: SchemaChange, *, rehearse: bool = False) -> None:
        if not rehearse:
            raise DataError("the database cannot be reached")

    with patch("tasks.release.editions.schema_edition.carry_out_apart", side_effect=away):
        assert house.approve("jonas").code == ERROR
    assert (house.target / release).is_dir()
    assert house.workspace().ledger.state(release) is State.PUBLISHING
    assert tables(house) == {}
    assert house.release().code == DONE
    assert house.workspace().ledger.state(release) is State.PUBLISHED
    assert len(tables(house)) == 2
    again = [entry.event for entry in house.workspace().ledger.entries(release)]
    assert (again.count(LOADING), again.count(LOADED)) == (1, 1)


def test_a_view_of_somebody_else_is_not_taken_over(house: House) -> None:
    """Nor that of another definition: whoever submits one could else show other data under a name that people trust."""
    with duckdb.connect(house.root.parent / "public.duckdb") as database:
        database.execute("CREATE VIEW people_puf AS SELECT 'theirs'")
    house.release()
    house.approve("amara")
    for _ in range(2):
        house.approve("jonas").refused()
    assert public(house, "SELECT * FROM people_puf") == [("theirs",)]
    assert house.workspace().ledger.state(house.id) is State.APPROVED  # nothing was begun that cannot be finished
    assert house.shelf == []


def test_a_schema_that_is_not_allowed_is_refused_before_any_record_is_read(house: House) -> None:
    house.definition["publish_to"]["into"] = "other"
    house.write()
    house.release().refused()
    assert house.ids == []


def test_names_stay_different_and_within_what_databases_take() -> None:
    assert _identifier("people-puf", 40) == "people_puf"
    long = [_identifier("a" * 50 + end, 40) for end in "bc"]
    assert len({*long}) == 2
    assert max(map(len, long)) <= 40
    assert _identifier("a.b", 40) != _identifier("a-b", 40) != _identifier("A-b", 40)


def test_two_files_have_two_tables() -> None:
    """'a-b' and 'a_b' are two names of tables, and one identifier."""
    release = SimpleNamespace(id="x-1", product=SimpleNamespace(definition=SimpleNamespace(name="x")))
    views = _views(release, dict.fromkeys(["x-a-b.parquet", "x-a_b.parquet", "x.csv"], Path()))  # type: ignore[arg-type]
    assert len({table for table, _ in views.values()}) == len(views) == 2

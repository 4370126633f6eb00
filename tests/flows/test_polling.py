"""A load that a poll notices starts its release, once."""

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch
from uuid import UUID

import duckdb
import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from sluice.ground.errors import SluiceError
from tests.flows.house import BLOCKED, DONE, ERROR, House
from tests.golden import golden


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path / "house")
    made.definition["source"] = {"type": "duckdb", "path": "house.db", "table": "people"}
    made.write()
    load(made)
    made.adopt()
    with patch("tasks.release.intake.load_state.read_apart", lambda source, columns: source.batches(columns)):
        yield made


def load(house: House, records: int | None = None) -> None:
    with duckdb.connect(house.documents / "house.db") as database:
        people = house.data.head(records or len(house.data))
        assert len(people)
        database.execute("CREATE OR REPLACE TABLE people AS SELECT * FROM people")


def poll(house: House, *files: str) -> tuple[int, str]:
    told = house.sluice("poll", *(files or (str(house.file),)))
    return told.code, told.words


def test_a_load_is_released_when_it_is_whole_and_only_then(house: House) -> None:
    assert poll(house) == (DONE, f"{house.file}: no new load")
    assert house.ids == []
    code, words = poll(house)
    assert code == DONE
    golden(words)
    assert str(house.id) in words
    assert poll(house) == (DONE, f"{house.file}: no new load")


def test_a_run_that_fails_is_tried_again_and_another_definition_is_polled(house: House) -> None:
    poll(house)
    house.contract["rows"]["maximum"] = 1000  # the database says at once that there are more
    house.write()
    house.adopt()
    for _ in range(2):
        code, words = poll(house, str(house.documents / "none.yaml"), str(house.file))
        assert code == ERROR
        golden.words(words)
    assert code != BLOCKED


def test_a_server_is_asked_for_a_run_of_each_load(house: House) -> None:
    """When it does not answer, the next poll asks again; afterwards whether the run came to anything."""
    asked: list[tuple[str, Path, bool]] = []

    def run_of_load(name: str, definition: Path, load: str, *, new: bool) -> UUID | None:
        asked.append((name, definition, new))
        if len(asked) == 1:
            raise SluiceError("the server does not answer")
        return UUID(int=7) if len(asked) in (2, 4) else None

    with (
        temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}),
        patch("flows.polling.run_of_load", run_of_load),
    ):
        poll(house)
        assert asked == [], "a load that may not be whole"
        assert poll(house) == (ERROR, f"{house.file}: the server does not answer")
        assert f"run {UUID(int=7)} was started" in poll(house)[1]
        golden(poll(house)[1])
        assert f"run {UUID(int=7)} was started" in poll(house)[1], "in the place of one that crashed"
    assert asked == [("people-puf", house.file.resolve(), new) for new in (True, True, False, False)]
    assert house.ids == []

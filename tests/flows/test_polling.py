"""A load that a poll notices starts its release, once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, patch
from uuid import uuid4

import duckdb
import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from tests.flows.house import BLOCKED, DONE, ERROR, House


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path / "house")
    made.definition["source"] = {"type": "duckdb", "path": "house.db", "table": "people"}
    made.write()
    load(made)
    made.adopt()
    with patch("tasks.release.load_state.read_apart", lambda source, columns: source.batches(columns)):
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
    assert f"loaded; {house.id} is pending review" in words
    assert poll(house) == (DONE, f"{house.file}: no new load")


def test_a_run_that_fails_is_tried_again_and_another_definition_is_polled(house: House) -> None:
    poll(house)
    house.contract["rows"]["maximum"] = 1000  # the database says at once that there are more
    house.write()
    house.adopt()
    for _ in range(2):
        code, words = poll(house, str(house.documents / "none.yaml"), str(house.file))
        assert code == ERROR
        assert "none.yaml: no such file" in words
        assert "the source was not read" in words
    assert code != BLOCKED


def test_a_server_is_asked_for_one_run_a_load(house: House) -> None:
    """By one key, whoever asks and however often; when it does not answer, the next poll asks again."""
    client = MagicMock()
    client.__enter__.return_value = client
    made: dict[str, Any] = {}
    client.create_flow_run_from_deployment.side_effect = lambda deployment, idempotency_key: made.setdefault(
        idempotency_key, MagicMock(id=uuid4())
    )
    with (
        temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}),
        patch("prefect.client.orchestration.get_client", return_value=client),
    ):
        poll(house)
        client.read_deployment_by_name.side_effect = OSError("geheim-4711")
        code, words = poll(house)
        assert code == ERROR
        assert "its run could not be started on the server (OSError)" in words
        assert "geheim" not in words
        client.read_deployment_by_name.side_effect = None
        assert "was started" in poll(house)[1]
        assert "no new load" in poll(house)[1]
    client.read_deployment_by_name.assert_called_with("release/people-puf")
    assert len(made) == 1

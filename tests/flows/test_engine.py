"""The process of one run: which flow it runs, and that nothing which the server names is loaded into it."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from shlex import split
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from prefect._internal.result_records import ResultRecord, ResultRecordMetadata

from flows.deployments import ENTRYPOINT
from flows.worker import COMMAND
from tests.flows.house import House
from tests.flows.installation import until
from tests.flows.prefect_server import PrefectServer
from tests.golden import golden


class Program:
    """What a pickle runs when it is loaded."""

    def __init__(self, made: Path) -> None:
        self.made = made

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Path]]:
        return Path.touch, (self.made,)


def call(server: PrefectServer, path: str, body: Any = None) -> Any:
    request = Request(
        f"{server.url}{path}",
        method="GET" if body is None else "POST",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )

    def answered() -> list[Any]:
        try:
            with urlopen(request) as answer:
                return [json.load(answer)]
        except HTTPError as error:
            if error.code != 503:  # while the server's SQLite is locked by another request
                raise
            return []

    return until(answered, path)[0]


def run_of(server: PrefectServer, flow: str, **parameters: str) -> str:
    flow_id = call(server, "/flows/", {"name": flow})["id"]
    found: str = call(server, "/flow_runs/", {"flow_id": flow_id, "parameters": parameters})["id"]
    return found


def of_run(server: PrefectServer, house: House) -> dict[str, str]:
    """The environment of a worker, and of the runs that it starts, in this house."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "SLUICE_"))}
    return own | server.environment | {"SLUICE_HOME": str(house.home), "SLUICE_PROJECT": str(house.documents)}


def start(
    server: PrefectServer, house: House, run: str, entrypoint: str = ENTRYPOINT
) -> "subprocess.CompletedProcess[str]":
    """As the worker starts it."""
    environment = of_run(server, house) | {"PREFECT__FLOW_RUN_ID": run, "PREFECT__FLOW_ENTRYPOINT": entrypoint}
    return subprocess.run(split(COMMAND), cwd="/", env=environment, capture_output=True, text=True)


def test_what_the_server_calls_the_result_of_a_run_is_not_loaded(
    prefect_server: PrefectServer, house: House, tmp_path: Path
) -> None:
    """Whoever may write on the server says that a run is completed, and where its result lies: a pickle."""
    stored, made = tmp_path / "result", tmp_path / "made"
    record: ResultRecord[Program] = ResultRecord(
        result=Program(made), metadata=ResultRecordMetadata(storage_key=str(stored))
    )
    stored.write_bytes(record.serialize())
    run = run_of(prefect_server, "release", definition="people.yaml")
    named = {"type": "COMPLETED", "data": {"type": "reference", **json.loads(record.metadata.model_dump_json())}}
    call(prefect_server, f"/flow_runs/{run}/set_state", {"state": named, "force": True})
    start(prefect_server, house, run)
    assert not made.exists()


@pytest.mark.parametrize("definition", ["../elsewhere.yaml", "/elsewhere.yaml"])
def test_a_definition_outside_of_the_project_is_not_read(
    prefect_server: PrefectServer, house: House, definition: str
) -> None:
    run = run_of(prefect_server, "release", definition=definition)
    told = start(prefect_server, house, run)
    golden.where("step fails", told.stderr)
    state = call(prefect_server, f"/flow_runs/{run}")["state"]
    assert state["type"] == "FAILED"
    assert "DocumentError" in state["message"]
    assert "elsewhere" not in json.dumps(state)


def test_without_a_flow_that_the_worker_chose_the_server_is_not_asked_for_one(
    prefect_server: PrefectServer, house: House
) -> None:
    run = run_of(prefect_server, "release", definition="people.yaml")
    told = start(prefect_server, house, run, entrypoint="")
    assert told.returncode != 0
    assert call(prefect_server, f"/flow_runs/{run}")["state"]["type"] == "PENDING"

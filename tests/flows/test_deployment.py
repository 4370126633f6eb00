"""Deployments: what `prefect.yaml` says, and what happens when a real server and a real worker run it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest
import yaml

from sluice.errors import DocumentError
from sluice.release.ledger import Entry
from tests.flows.house import DONE, ERROR, WAITING, House
from tests.flows.prefect_server import SILENT, PrefectServer, using

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
SECRET = "swordfish-7193"
PATIENCE = 120.0  # seconds until something that must happen has happened; what is done, takes some ten

# What runs of the deployments have in common with a run by hand, up to the decision of people.
JUDGED = ["received", "validated", "masked", "evaluated", "pending_review"]
DECIDED = ["approval", "approval", "approved", "publishing", "published"]


def until(condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """The first true answer of `condition`, asked again and again."""
    deadline = time.monotonic() + patience
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"waited {patience:.0f} s in vain for: {what}"
        time.sleep(0.2)
    return answer


def children(process: int) -> list[int]:
    """The processes below this one, at any depth."""
    below = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(parent) == process and state != "Z":
            below += [int(stat.parent.name), *children(int(stat.parent.name))]
    return below


class Installation:
    """A house whose releases are deployed: a Prefect server, a work pool, and a worker that can be killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.house = House(folder / "house")
        self.prefect_yaml = folder / "prefect.yaml"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.server = PrefectServer(f"http://127.0.0.1:{port}/api", folder / "prefect", folder / "server.log")
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("PREFECT_", "SLUICE_"))},
            **self.server.environment,
            "SLUICE_HOME": str(self.house.home),
            "SLUICE_TEST_WAREHOUSE": f"sqlite:///{folder}/{SECRET}.db",
            "PREFECT_WORKER_QUERY_SECONDS": "1",
        }
        self.started: list[subprocess.Popen[bytes]] = []

    # -- processes

    def start(self, log: str, *arguments: str, **settings: str) -> "subprocess.Popen[bytes]":
        with (self.folder / log).open("ab") as output:
            process = subprocess.Popen(
                arguments, cwd=ROOT, env=self.environment | settings, stdout=output, stderr=subprocess.STDOUT
            )
        self.started.append(process)
        return process

    def prefect(self, *arguments: str) -> str:
        """A command of Prefect's command line, run from the project's root."""
        done = subprocess.run(
            [BIN / "prefect", "--no-prompt", *arguments], cwd=ROOT, env=self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start_server(self) -> None:
        port = self.server.url.split(":")[2].partition("/")[0]
        self.start(
            "server.log", str(BIN / "prefect"), "server", "start", "--host", "127.0.0.1", "--port", port,
            PREFECT_SERVER_DEPLOYMENTS_CONCURRENCY_SLOT_WAIT_SECONDS="1",
        )  # fmt: skip
        until(self._answers, "Prefect's server to answer")

    def _answers(self) -> bool:
        try:
            with urlopen(f"{self.server.url}/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def start_worker(self) -> None:
        self.worker = self.start("worker.log", str(BIN / "prefect"), "worker", "start", "--pool", "sluice")

    def stop(self) -> None:
        for process in reversed(self.started):
            for number in (*children(process.pid), process.pid):
                try:
                    os.kill(number, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            process.wait(10)

    @contextmanager
    def client(self, **settings: str) -> Iterator[None]:
        """Commands of Sluice in this process speak to this server."""
        with using(self.server), pytest.MonkeyPatch.context() as patch:
            patch.setenv("SLUICE_TEST_WAREHOUSE", self.environment["SLUICE_TEST_WAREHOUSE"])
            yield

    # -- the server's API

    def call(self, method: str, path: str, body: Any = None) -> Any:
        request = Request(
            f"{self.server.url}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urlopen(request, timeout=30) as answer:
            content = answer.read()
        return json.loads(content) if content else None

    def runs(self, name: str) -> list[dict[str, Any]]:
        """The runs of a deployment that have begun or should have, first to last."""
        asked = {"deployments": {"name": {"any_": [name]}}, "sort": "EXPECTED_START_TIME_ASC"}
        soon = (datetime.now().astimezone() + timedelta(seconds=1)).isoformat()
        return [r for r in self.call("POST", "/flow_runs/filter", asked) if r["expected_start_time"] < soon]

    def states(self, name: str) -> list[str]:
        return [run["state_name"] for run in self.runs(name)]

    def run(self, name: str) -> None:
        deployment = self.call("GET", f"/deployments/name/release/{name}")["id"]
        self.call("POST", f"/deployments/{deployment}/create_flow_run", {"state": {"type": "SCHEDULED"}})

    def loaded(self, table: str) -> None:
        """The warehouse says that a table was loaded."""
        event = {
            "id": str(uuid4()),
            "event": "warehouse.table.loaded",
            "resource": {"prefect.resource.id": f"warehouse.{table}"},
            "occurred": datetime.now().astimezone().isoformat(),
        }
        self.call("POST", "/events", [event])

    # -- what came of it

    def release(self, name: str) -> str:
        """The one release of a definition; it waits until there is one."""

        def found() -> list[str]:
            return [note.stem for note in (self.house.home / "runs").glob(f"{name}-*.json")]

        until(found, f"a release of {name}")
        assert len(found()) == 1
        return found()[0]

    def events(self, name: str) -> list[str]:
        return self.house.events(self.release(name))

    def notes(self) -> list[Path]:
        return list((self.house.home / "runs").glob("*.run"))


def definitions(house: House, folder: Path, **changes: dict[str, Any]) -> Path:
    """A folder with one release definition for each name: that of the house, with changes."""
    folder.mkdir()
    for name, change in changes.items():
        content = house.definition | {field: f"../house/documents/{field}.yaml" for field in ("contract", "policy", "people")}
        content |= {"name": name, "target": "../house/published", **change}
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    import sqlite3

    made = Installation(tmp_path_factory.mktemp("installation"))
    with sqlite3.connect(made.folder / f"{SECRET}.db") as warehouse:
        made.house.data.to_sql("people", warehouse, index=False)
    made.house.definition["source"] = {"type": "sql", "url": "${SLUICE_TEST_WAREHOUSE}", "table": "people"}
    try:
        made.start_server()
        made.prefect("work-pool", "create", "--type", "process", "sluice")
        made.start_worker()
        soon = datetime.now() + timedelta(seconds=70)
        folder = definitions(
            made.house,
            made.folder / "releases",
            loaded={"trigger": {"resource": "warehouse.people"}},
            scheduled={"schedule": {"cron": f"{soon.minute} {soon.hour} * * *", "timezone": "UTC"}},
            forced={},
            killed={},
            byhand={},
        )
        told = made.house.sluice("deployments", str(folder), "--output", str(made.prefect_yaml))
        assert told.code == DONE, told.words
        made.prefect("deploy", "--prefect-file", str(made.prefect_yaml), "--all")
        yield made
    finally:
        made.stop()


def test_try(installation):
    t0 = time.time()
    i = installation
    i.loaded("people")
    until(lambda: i.states("loaded") == ["Suspended"], "suspended")
    print("suspended after", time.time()-t0)
    print(i.events("loaded"), children(i.worker.pid), i.notes())
    print((i.folder/"worker.log").read_text()[-3000:])

"""An installation as in production, in a folder of its own: a house, Prefect's server, a work pool and a worker.

Nothing here waits for a fixed time: `until` asks again and again, up to a deadline.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from uuid import uuid4

import yaml

from sluice.custody.ledger_entry import Entry
from tasks.runs_on_server import WAITS
from tests.flows.house import House, Told
from tests.flows.prefect_server import MIGRATED, QUICK, PrefectServer, empty_database
from tests.free_port import free_port

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
WAREHOUSE = "SLUICE_TEST_WAREHOUSE"  # the environment variable with the warehouse's URL
SECRET = "swordfish-7193"  # a part of that URL
DEPLOYMENTS = ("killed", "event", "scheduled", "byhand")
PATIENCE = 300.0  # seconds until what must happen has happened; a run takes some ten, more on a busy machine


def until(condition: Callable[[], Any], what: str, pause: float = 0.2) -> Any:
    """The first true answer of `condition`, asked again and again."""
    deadline = time.monotonic() + PATIENCE
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"waited {PATIENCE:.0f} s in vain for: {what}"
        time.sleep(pause)
    return answer


def processes(flow_run: str) -> list[int]:
    """The processes that run a flow run, which Prefect tells them in their environment."""
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            mine = f"PREFECT__FLOW_RUN_ID={flow_run}".encode() in environment.read_bytes().split(b"\0")
        except (OSError, ProcessLookupError):
            continue
        if mine:
            found.append(int(environment.parent.name))
    return found


def kill(*numbers: int) -> None:
    for number in numbers:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


class Installation:
    """A house whose releases are deployed: a Prefect server, a work pool, and a worker that can be killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.house = House(folder / "house")
        self.prefect_yaml = folder / "prefect.yaml"
        self.project = folder / "project"  # the folder in which the worker is started
        self.mischief = folder / "mischief"  # what only a program that nobody installed would make
        self.server = PrefectServer(f"http://127.0.0.1:{free_port()}/api", folder / "prefect", folder / "server.log")
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("PREFECT_", "SLUICE_"))},
            **self.server.environment,
            "SLUICE_HOME": str(self.house.home),
            "SLUICE_PROJECT": str(folder),  # definitions lie in it
            WAREHOUSE: f"sqlite:///{folder}/{SECRET}.db",
            "SLUICE_CONNECTIONS": str(folder / "connections.yaml"),
            "PREFECT_WORKER_QUERY_SECONDS": "0.5",
        }
        self.started: list[subprocess.Popen[bytes]] = []

    # -- processes

    def start(self, log: str, *arguments: str, folder: Path = ROOT, **settings: str) -> "subprocess.Popen[bytes]":
        with (self.folder / log).open("ab") as output:
            process = subprocess.Popen(
                arguments, cwd=folder, env=self.environment | settings, stdout=output, stderr=subprocess.STDOUT
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
        empty_database(self.server.home)
        self.start(
            "server.log", str(BIN / "prefect"), "server", "start", "--host", "127.0.0.1", "--port", self.server.port,
            PREFECT_SERVER_DEPLOYMENTS_CONCURRENCY_SLOT_WAIT_SECONDS="1", **(QUICK | MIGRATED),
        )  # fmt: skip
        until(self._answers, "Prefect's server to answer")

    def _answers(self) -> bool:
        try:
            with urlopen(f"{self.server.url}/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def start_worker(self) -> None:
        self.project.mkdir(exist_ok=True)
        # What is stalled keeps its place: the tests have more at work than a small machine carries.
        self.worker = self.start("worker.log", str(BIN / "sluice"), "worker", "--limit", "20", folder=self.project)
        until(lambda: self.call("POST", "/work_pools/filter", {}), "the work pool, which the worker makes")

    def write_deployments(self, releases: Path) -> Any:
        """What `sluice deployments` tells whoever runs it with the settings of the worker."""
        with patch.dict(os.environ, {"SLUICE_PROJECT": self.environment["SLUICE_PROJECT"]}):
            return self.house.sluice("deployments", str(releases), "--output", str(self.prefect_yaml))

    def stop(self) -> None:
        for name in DEPLOYMENTS:
            kill(*(number for run in self.runs(name) for number in processes(run["id"])))
        for process in reversed(self.started):
            process.kill()
            process.wait(10)

    # -- mischief

    def plant(self) -> None:
        """What somebody could put into the project to have it run: modules, settings of Prefect that name a call."""
        self.project.mkdir()
        program = f"open({str(self.mischief)!r}, 'a').write('planted')"
        for module in ("sitecustomize", "usercustomize", "yaml", "prefect", "flows"):
            (self.project / f"{module}.py").write_text(program)
        logging = {"version": 1, "filters": {"any": {"()": "os.mkdir", "path": str(self.mischief)}}}
        (self.project / "logging.yaml").write_text(yaml.safe_dump(logging))
        (self.project / "prefect.toml").write_text(f"[logging]\nconfig_path = '{self.project / 'logging.yaml'}'\n")
        (self.project / ".env").write_text(f"PREFECT_LOGGING_SETTINGS_PATH={self.project / 'logging.yaml'}\n")

    def meddle(self, name: str) -> None:
        """What somebody could write on the server to have the worker run a program: all that a deployment may say."""
        program = f"touch {self.mischief}"
        evil = self.folder / "evil.py"
        evil.write_text(f"from pathlib import Path\nPath({str(self.mischief)!r}).touch()\ndef flow(): ...\n")
        deployment = self.call("GET", f"/deployments/name/release/{name}")["id"]
        self.call("PATCH", f"/deployments/{deployment}", {
            "entrypoint": f"{evil}:flow",
            "path": str(self.folder),
            "pull_steps": [{"prefect.deployments.steps.run_shell_script": {"script": program}}],
            "job_variables": {"command": program, "env": {"PYTHONPATH": str(self.project), "SLUICE_HOME": "/"}},
        })  # fmt: skip
        pool = self.call("GET", "/work_pools/sluice")["base_job_template"]
        pool["job_configuration"] |= {"command": program}
        self.call("PATCH", "/work_pools/sluice", {"base_job_template": pool})

    # -- the server's API

    def call(self, method: str, path: str, body: Any = None) -> Any:
        request = Request(
            f"{self.server.url}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        content = until(lambda: self._ask(request), path)[0]
        return json.loads(content) if content else None

    def _ask(self, request: Request) -> tuple[bytes] | None:
        """The answer; None while the server's SQLite is locked by another request."""
        try:
            with urlopen(request, timeout=PATIENCE) as answer:
                return (answer.read(),)
        except HTTPError as error:
            if error.code != 503:
                raise
            return None

    def runs(self, name: str) -> list[dict[str, Any]]:
        """The runs of a deployment that have begun or should have, first to last."""
        asked = {"deployments": {"name": {"any_": [name]}}, "sort": "EXPECTED_START_TIME_ASC"}
        runs: list[dict[str, Any]] = self.call("POST", "/flow_runs/filter", asked)
        soon = datetime.now(UTC) + timedelta(seconds=1)

        def is_due(run: dict[str, Any]) -> bool:
            at = run["next_scheduled_start_time"] or run["expected_start_time"]
            return run["state_type"] != "SCHEDULED" or datetime.fromisoformat(at) < soon

        return [run for run in runs if is_due(run)]

    def states(self, name: str) -> list[str]:
        return [run["state_name"] for run in self.runs(name)]

    def run(self, name: str) -> None:
        deployment = self.call("GET", f"/deployments/name/release/{name}")["id"]
        self.call("POST", f"/deployments/{deployment}/create_flow_run", {"state": {"type": "SCHEDULED"}})

    def bring_forward(self, name: str) -> None:
        """The first run of a deployment's schedule, which is hours away, is due now."""
        asked = {"deployments": {"name": {"any_": [name]}}, "sort": "EXPECTED_START_TIME_ASC"}
        first = until(lambda: self.call("POST", "/flow_runs/filter", asked), "the runs of the schedule")[0]["id"]
        now = {"type": "SCHEDULED", "state_details": {"scheduled_time": datetime.now(UTC).isoformat()}}
        self.call("POST", f"/flow_runs/{first}/set_state", {"state": now, "force": True})

    def loaded(self, table: str) -> None:
        """The warehouse says that a table was loaded."""
        event = {
            "id": str(uuid4()),
            "event": "warehouse.table.loaded",
            "resource": {"prefect.resource.id": f"warehouse.{table}"},
            "occurred": datetime.now(UTC).isoformat(),
        }
        self.call("POST", "/events", [event])

    def set_state(self, run: str, state: str) -> None:
        self.call("POST", f"/flow_runs/{run}/set_state", {"state": {"type": state}, "force": True})

    def resume(self, run: str) -> None:
        self.call("POST", f"/flow_runs/{run}/resume", {})

    def kill_at_work(self, name: str) -> None:
        """A run that begins to judge a release, and then is no more, like its worker."""
        self.run(name)
        first = until(lambda: self.runs(name), "the run")[0]["id"]
        until(lambda: "received" in self.events(name), "the run to be at work")
        kill(self.worker.pid, *processes(first))
        until(lambda: not processes(first), "the end of the run's process")
        assert "pending_review" not in self.events(name), "the run was too fast to be killed at work"
        assert self.states(name) == ["Running"], "nobody is left to say that it does not"
        self.set_state(first, "CRASHED")  # as the automation does that misses its heartbeats

    def told_to_wait(self, run: str) -> list[str]:
        """The releases for which a run told that it suspends itself."""
        asked = {"event": {"name": [WAITS]}, "resource": {"id": [f"prefect.flow-run.{run}"]}}
        found = self.call("POST", "/events/filter", {"filter": asked})["events"]
        return [event["resource"]["sluice.release"] for event in found]

    # -- what came of it

    def release(self, name: str) -> str:
        """The one release of a definition; it waits until there is one."""

        def found() -> list[str]:
            return [note.stem for note in (self.house.home / "runs").glob(f"{name}-*.json")]

        until(found, f"a release of {name}")
        assert len(found()) == 1
        return found()[0]

    def entries(self, name: str) -> list[Entry]:
        entries: list[Entry] = self.house.workspace().ledger.entries(self.release(name))
        return entries

    def events(self, name: str) -> list[str]:
        return [entry.event for entry in self.entries(name)]

    def published(self, name: str) -> bool:
        return self.release(name) in self.house.shelf

    def waits(self, name: str, runs: int = 1) -> list[dict[str, Any]]:
        """The runs of a deployment, once so many are suspended and no other is on its way."""
        until(
            lambda: (
                (states := self.states(name)).count("Suspended") == runs
                and not {"Scheduled", "Pending", "Running", "Resuming"} & set(states)
            ),
            f"{runs} suspended runs of {name}",
        )
        return [run for run in self.runs(name) if run["state_name"] == "Suspended"]

    def approve(self, name: str, who: str) -> Told:
        return self.house.sluice("approve", self.release(name), "--as", who)

    def note(self, run: str) -> Path:
        return self.house.home / "runs" / f"{run}.run"


def definitions(house: House, folder: Path, changes: dict[str, dict[str, Any]]) -> Path:
    """A folder with one release definition for each name: that of the house, with changes."""
    folder.mkdir()
    documents = {field: str(house.documents / f"{field}.yaml") for field in ("contract", "policy")}
    for name, change in changes.items():
        content = house.definition | documents | {"name": name, "target": str(house.target), **change}
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return folder

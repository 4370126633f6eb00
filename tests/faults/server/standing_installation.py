"""An installation as in production that can be broken everywhere: PostgreSQL below Prefect, the ledger and the
warehouse, a server, a worker, and people."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import sqlalchemy as sa

from sluice.custody.ledger_database import LedgerDatabase
from sluice.custody.workspace import Workspace
from sluice.ground.databases import database_url
from tests.faults.server.database import Database, debian
from tests.flows.house import DONE, House
from tests.flows.installation import BIN, ROOT, Installation, definitions, kill, processes, until
from tests.flows.prefect_server import MIGRATED, QUICK, empty_database

LEDGER, WAREHOUSE = "ledger", "warehouse"
_CONNECTION = {"url": "${SLUICE_TEST_WAREHOUSE}", "secrets": ["SLUICE_TEST_WAREHOUSE"], "tables": ["people"]}
_DOCTOR = ("doctor", "--json", "--after", "0.02")


def _repaired(found: list[dict[str, Any]], run: str) -> list[str]:
    return [each["repaired"] for each in found if run in each["looked_at"] and each["repaired"]]


class HouseOnPostgresql(House):
    ledger_url: str

    def workspace(self) -> Any:
        return Workspace.open(self.home, self.ledger_url)


class StandingInstallation(Installation):
    """Started once; each test has a definition of its own, so that none meets another's releases."""

    def __init__(self, folder: Path, database: Database, names: tuple[str, ...]) -> None:
        super().__init__(folder)
        self.names, self.database = names, database
        self.house = HouseOnPostgresql(folder / "house")
        for made in (LEDGER, WAREHOUSE, "prefect"):
            database.execute("postgres", f"CREATE DATABASE {made}")
        database.execute("postgres", "CREATE ROLE keeper LOGIN", "CREATE ROLE sluice LOGIN")
        database.execute(LEDGER, f"ALTER DATABASE {LEDGER} OWNER TO keeper", "GRANT ALL ON SCHEMA public TO keeper")
        LedgerDatabase(database.url(LEDGER, "keeper")).create("sluice")
        database.may_stall(LEDGER)
        engine = sa.create_engine(database_url(database.url(WAREHOUSE)))
        self.house.data.to_sql("people", engine, index=False)
        engine.dispose()
        self.house.ledger_url = database.url(LEDGER, "sluice")
        connections = Path(self.environment["SLUICE_CONNECTIONS"])
        connections.write_text(json.dumps({"connections": {"warehouse": _CONNECTION}}))
        connections.chmod(0o600)
        self.house.definition["source"] = {"connection": "warehouse", "table": "people"}
        self.environment |= {
            "SLUICE_LEDGER_URL": self.house.ledger_url,
            "SLUICE_TEST_WAREHOUSE": database.url(WAREHOUSE),
            "SLUICE_LOG": "json",
            "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
            "OMP_NUM_THREADS": "1",
        }

    @property
    def here(self) -> Any:
        """What this process needs to act in the installation."""
        names = ("SLUICE_LEDGER_URL", "SLUICE_TEST_WAREHOUSE", "SLUICE_CONNECTIONS", "SLUICE_PROJECT")
        return patch.dict(os.environ, {name: self.environment[name] for name in names} | {"SLUICE_PATIENCE": "30"})

    def set_up(self) -> None:
        self.house.adopt()
        self.start_server()
        self.start_worker()  # which makes the work pool
        folder = definitions(self.house, self.folder / "releases", {name: {} for name in self.names})
        told = self.write_deployments(folder)
        assert told.code == DONE, told.words
        self.prefect("deploy", "--prefect-file", str(self.prefect_yaml), "--all")

    def start_server(self) -> None:
        on_postgresql = {
            "PREFECT_API_DATABASE_CONNECTION_URL": self.database.url("prefect").replace("://", "+asyncpg://")
        }
        if not debian() and not (self.server.home / "prefect.db").exists():
            empty_database(self.server.home)
        own = on_postgresql if debian() else MIGRATED
        self.serving = self.start(
            "server.log", str(BIN / "prefect"), "server", "start", "--host", "127.0.0.1", "--port", self.server.port,
            PREFECT_SERVER_DEPLOYMENTS_CONCURRENCY_SLOT_WAIT_SECONDS="1", **(QUICK | own),
        )  # fmt: skip
        until(self._answers, "Prefect's server to answer")

    def kill_server(self) -> None:
        kill(self.serving.pid)
        self.serving.wait()

    def kill_worker(self) -> None:
        kill(self.worker.pid)
        self.worker.wait()

    @contextmanager
    def another_worker(self) -> Iterator[None]:
        working = self.worker
        self.start_worker()
        yield
        self.kill_worker()
        self.worker = working

    def kill_run(self, run: str) -> None:
        """Kill the process of a run, and whatever it started."""
        until(lambda: processes(run), "the run's process")
        kill(*processes(run))
        until(lambda: not processes(run), "the end of the run's process")

    def stop(self) -> None:
        mine = f"PREFECT_API_URL={self.server.url}".encode()  # the server may be dead, and tell of no run
        for environment in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if mine in environment.read_bytes().split(b"\0"):
                    kill(int(environment.parent.name))
        for process in self.started:
            process.kill()
            process.wait(10)

    def sluice(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """A command of Sluice in a process of its own, as an operator runs it."""
        return subprocess.run(
            [BIN / "sluice", *arguments], cwd=ROOT, env=self.environment | environment, capture_output=True, text=True
        )

    def doctor(self, *arguments: str) -> list[dict[str, Any]]:
        """What the doctor finds and, asked to, repairs; whoever gave no sign of life for a second is lost to it."""
        found: list[dict[str, Any]] = self.house.sluice(*_DOCTOR, *arguments).json
        return found

    def finds(self, run: str) -> dict[str, Any]:
        """What the doctor finds wrong with this run, once it has given no sign of life for long enough."""

        def found() -> list[dict[str, Any]]:
            return [each for each in self.doctor() if run in each["looked_at"] and each["condition"] == "fail"]

        [only] = until(found, "the doctor to find it")
        return dict(only)

    def repairs(self, run: str) -> list[str]:
        """What the doctor repaired that is about this run or release."""
        return _repaired(self.doctor("--repair"), run)

    def repairs_elsewhere(self, run: str) -> list[str]:
        """The same in a process of its own."""
        told = self.sluice(*_DOCTOR, "--repair")
        assert told.stdout, told.stderr
        return _repaired(json.loads(told.stdout), run)

    def stalled(self, *events: str) -> Any:
        return self.database.stalled(LEDGER, *events)

    def is_whole(self, name: str) -> None:
        """What must hold after every fault: the ledger is whole, and of this definition nothing is doubled or half."""
        workspace = self.house.workspace()
        assert workspace.ledger.verify() == []
        events = self.events(name)
        for once in ("published", "publishing", "approved"):
            assert events.count(once) <= 1, events
        shelf = [path.name for path in self.house.target.glob(f"*{name}-*")] if self.house.target.exists() else []
        assert len(shelf) <= 1
        assert shelf == ([self.release(name)] if "published" in events else [])

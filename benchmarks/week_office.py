"""The office of the simulated week: PostgreSQL, Prefect's server, `sluice worker`, a mail server, people with keys, and
what breaks.

Everything is as in production: the ledger has two roles, releases are read from PostgreSQL, people sign by OpenSSH
keys, a cron calls `sluice doctor --repair`, and whatever is killed is started again seconds later, as systemd does.
"""

import json
import os
import random
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from unittest.mock import patch

import pandas as pd
import sqlalchemy as sa
import yaml
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

from benchmarks.week_database import Database
from sluice.custody.ledger_database import LedgerDatabase
from sluice.custody.workspace import Workspace
from sluice.ground.databases import database_url
from tests.flows.house import DONE, House, Told, survey
from tests.flows.installation import BIN, Installation, kill, until

PEOPLE = {"amara": ["head", "methodologist"], "jonas": ["data_steward", "owner"], "mina": ["legal"], "emil": ["owner"]}
SUBMITTER, REVIEWERS = "emil", ("amara", "jonas")
LOADS = "loads"  # the table in which the warehouse says what it has loaded
_AWAY = (1.0, 6.0)  # seconds until what was killed is started again
_DOCTOR_EVERY = 45.0  # seconds
_LOST_AFTER = 0.5  # minutes without a sign of life


class HouseOnPostgresql(House):
    ledger_url: str

    def workspace(self) -> Any:
        return Workspace.open(self.home, self.ledger_url)


class WeeklyOffice(Installation):
    """The installation, with a definition for each desk that releases something."""

    def __init__(self, folder: Path, database: Database, changes: dict[str, dict[str, Any]], mail_port: int) -> None:
        super().__init__(folder)
        self.database, self.changes = database, changes
        for made in ("ledger", "warehouse", "prefect"):
            database.execute("postgres", f"CREATE DATABASE {made}")
        database.execute("postgres", "CREATE ROLE keeper LOGIN", "CREATE ROLE sluice LOGIN")
        database.execute("ledger", "ALTER DATABASE ledger OWNER TO keeper", "GRANT ALL ON SCHEMA public TO keeper")
        LedgerDatabase(database.url("ledger", "keeper")).create("sluice")
        self.house = HouseOnPostgresql(folder / "house")
        self.house.ledger_url = database.url("ledger", "sluice")
        connection = {"url": "${SLUICE_TEST_WAREHOUSE}", "secrets": ["SLUICE_TEST_WAREHOUSE"]}
        connections = Path(self.environment["SLUICE_CONNECTIONS"])
        connections.write_text(json.dumps({"connections": {"warehouse": connection | {"tables": [*changes, LOADS]}}}))
        connections.chmod(0o600)
        self.environment |= {
            "SLUICE_LEDGER_URL": self.house.ledger_url,
            "SLUICE_TEST_WAREHOUSE": database.url("warehouse"),
            "SLUICE_LOG": "json",
            "SLUICE_SMTP_URL": f"smtp://127.0.0.1:{mail_port}",
            "SLUICE_MAIL_FROM": "sluice@agency.example",
            "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
            "OMP_NUM_THREADS": "1",
        }
        self.warehouse = sa.create_engine(database_url(database.url("warehouse")), poolclass=sa.NullPool)
        with self.warehouse.begin() as opened:
            opened.exec_driver_sql(f"CREATE TABLE {LOADS} (finished_at bigint)")

    @property
    def here(self) -> Any:
        names = [name for name in self.environment if name.startswith("SLUICE_") and name != "SLUICE_LOG"]
        return patch.dict(os.environ, {name: self.environment[name] for name in names} | {"SLUICE_PATIENCE": "30"})

    # -- documents and people

    def key(self, who: str) -> Path:
        return self.folder / "keys" / who

    def open_office(self) -> None:
        """The people, found by their keys; the documents of each desk; server, worker, deployments."""
        for who in PEOPLE:
            self.command("key", "new", str(self.key(who)))
        lines = {who: Path(f"{self.key(who)}.pub").read_text().strip() for who in PEOPLE}
        roster = {
            who: {"roles": roles, "keys": [lines[who]], "email": f"{who}@agency.example"}
            for who, roles in PEOPLE.items()
        }
        documents = self.folder / "documents"
        documents.mkdir()
        people, policy = documents / "people.yaml", documents / "policy.yaml"
        people.write_text(yaml.safe_dump({"identity": "key", "people": roster}, sort_keys=False))
        self.house.policy["approvals"]["identity"] = "key"
        policy.write_text(yaml.safe_dump(self.house.policy, sort_keys=False))
        releases = self.folder / "releases"
        releases.mkdir()
        contracts = [self._write_desk(name, documents, releases, change) for name, change in self.changes.items()]
        contracts = list(map(str, contracts))
        self.command("office", *contracts, str(policy), "--people", str(people), "--key", str(self.key("amara")))
        self.start_server()
        self.start_worker()
        self.command("deployments", str(releases), "--output", str(self.prefect_yaml))
        self.prefect("deploy", "--prefect-file", str(self.prefect_yaml), "--all")
        self.schedules(going=False)

    def start_server(self) -> None:
        """As production starts it; its first start makes its tables, which takes minutes on a busy machine."""
        on_postgresql = self.database.url("prefect").replace("://", "+asyncpg://")
        self.serving = self.start(
            "server.log", str(BIN / "prefect"), "server", "start", "--host", "127.0.0.1", "--port", self.server.port,
            PREFECT_API_DATABASE_CONNECTION_URL=on_postgresql,
            PREFECT_SERVER_DEPLOYMENTS_CONCURRENCY_SLOT_WAIT_SECONDS="2",
        )  # fmt: skip
        until(self._answers, "Prefect's server to answer", patience=1200)

    def kill_server(self) -> None:
        kill(self.serving.pid)
        self.serving.wait()

    def kill_worker(self) -> None:
        kill(self.worker.pid)
        self.worker.wait()

    def processes(self) -> list[int]:
        """All processes that this server was named to: its worker and the runs, whether the server lives or not."""
        mine, found = f"PREFECT_API_URL={self.server.url}".encode(), []
        for environment in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if mine in environment.read_bytes().split(b"\0"):
                    found.append(int(environment.parent.name))
        return found

    def stop(self) -> None:
        kill(*(each for each in self.processes() if each != os.getpid()))
        for process in self.started:
            process.kill()
            process.wait(10)

    def schedules(self, going: bool) -> None:
        """Let schedules begin, or rest, as an operator does."""
        for name in self.changes:
            deployment = self.call("GET", f"/deployments/name/release/{name}")["id"]
            self.call("POST", f"/deployments/{deployment}/{'resume' if going else 'pause'}_deployment")

    def _write_desk(self, name: str, documents: Path, releases: Path, change: dict[str, Any]) -> Path:
        """The contract and the definition of a desk; a period, where it has one, is a column of its own."""
        change = dict(change)
        length = change.pop("period", None)
        contract = json.loads(json.dumps(self.house.contract)) | {"dataset": name}
        if length:
            contract["variables"].append({"name": "period", "kind": "date", "role": "other"})
            contract["reference_period"] = {"length": length, "column": "period"}
        file = documents / f"{name}.yaml"
        file.write_text(yaml.safe_dump(contract, sort_keys=False))
        plan = list(self.house.definition["plan"])
        definition = self.house.definition | {
            "name": name, "title": f"People of {name}", "owner": SUBMITTER, "contract": str(file), "plan": plan,
            "policy": str(documents / "policy.yaml"), "target": str(self.house.target),
            "source": {"connection": "warehouse", "table": name}, **change,
        }  # fmt: skip
        self.definition(name).write_text(yaml.safe_dump(definition, sort_keys=False))
        return file

    def definition(self, name: str) -> Path:
        return self.folder / "releases" / f"{name}.yaml"

    # -- what people and the warehouse do

    def command(self, *arguments: str) -> Told:
        """A command that must succeed."""
        told = self.house.sluice(*arguments)
        assert told.code == DONE, told.words
        return told

    def act(self, who: str, *arguments: str) -> Told:
        return self.house.sluice(*arguments, "--key", str(self.key(who)))

    def load(self, name: str, number: int, period: str | None, ill: str) -> None:
        """Replace a table of the warehouse, as one transaction; each number has other people in it."""
        data = records(number, ill)
        if period:
            data["period"] = pd.Timestamp(period).date()
        with self.warehouse.begin() as connection:
            data.to_sql(name, connection, index=False, if_exists="replace", method="multi", chunksize=500)
            connection.exec_driver_sql(f"INSERT INTO {LOADS} SELECT coalesce(max(finished_at), 0) + 1 FROM {LOADS}")

    # -- what the server knows

    def found(self, *types: str, deployment: str | None = None, name: str | None = None) -> list[dict[str, Any]]:
        """All runs whose time has come, page by page; of these types of states, of a deployment, by a name."""
        asked: dict[str, Any] = {"sort": "EXPECTED_START_TIME_ASC", "flow_runs": {}}
        if types:
            asked["flow_runs"]["state"] = {"type": {"any_": [*types]}}
        if deployment:
            asked["deployments"] = {"name": {"any_": [deployment]}}
        if name:
            asked["flow_runs"]["name"] = {"any_": [name]}
        asked["flow_runs"]["expected_start_time"] = {"before_": _now(1)}
        found: list[dict[str, Any]] = []
        while page := self.call("POST", "/flow_runs/filter", asked | {"offset": len(found)}):
            found += page
        return found


def records(number: int, ill: str = "") -> pd.DataFrame:
    """1,200 people, others for each number; ill as the contract refuses it, or as the policy does."""
    data = survey(seed=number)
    if ill == "broken":
        data.loc[3, "region"] = "beyond"
    elif ill == "negative":
        data.loc[3, "income"] = -1000.0
    elif ill == "revealing":  # three people of their age group, and no more
        old = data.index[data["age"] >= 60]
        data.loc[old[3:], "age"] = 45
    return data


def _now(seconds: float = 0) -> str:
    return (pd.Timestamp.now("UTC") + pd.Timedelta(seconds=seconds)).isoformat()


class Accidents:
    """What is killed, one after the other, and started again; and the doctor, whom a cron calls."""

    def __init__(self, office: WeeklyOffice, seed: int) -> None:
        self.office, self.random = office, random.Random(seed)
        self.kills: Counter[str] = Counter()
        self.repairs: list[str] = []
        self.doctors = 0
        self.faults: list[str] = []  # what went wrong here, and not in the installation
        self._last, self._busy = monotonic(), threading.Lock()

    def strike(self, victim: str, runs: list[int]) -> None:
        """Kill it, and start it again in a thread of its own: whatever else goes on meets it gone.

        runs : the processes of the run at hand
        """
        threading.Thread(target=self._strike, args=(victim, runs), daemon=True).start()

    def rest(self) -> None:
        """Returns when all that was killed is back."""
        with self._busy:
            pass

    def _strike(self, victim: str, runs: list[int]) -> None:
        with self._busy:
            try:
                self._kill(victim, runs)
            except Exception as error:
                self.faults.append(f"{victim}: {type(error).__name__}: {error}")

    def _kill(self, victim: str, runs: list[int]) -> None:
        office, away = self.office, self.random.uniform(*_AWAY)
        match victim:
            case "run":
                kill(*runs)
            case "worker":
                office.kill_worker()
                if self.random.random() < 0.7:  # systemd ends them with their worker
                    kill(*self._living())
                sleep(away)
                office.start_worker()
            case "server":
                office.kill_server()
                sleep(away)
                office.start_server()
            case "postmaster":
                office.database.kill()
                sleep(away)
                office.database.start()
        self.kills[victim] += 1

    def _living(self) -> list[int]:
        """The processes of runs."""
        beside = {os.getpid(), self.office.worker.pid, self.office.serving.pid}
        return [each for each in self.office.processes() if each not in beside]

    def cron(self) -> None:
        """Call the doctor where it is time."""
        if monotonic() - self._last > _DOCTOR_EVERY:
            self.cure()

    def cure(self) -> list[dict[str, Any]]:
        """One call of the doctor; whatever it repairs is noted."""
        with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: 30}):  # as the worker's environment has it
            told = self.office.house.sluice("doctor", "--repair", "--json", "--after", str(_LOST_AFTER))
        self.doctors, self._last = self.doctors + 1, monotonic()
        try:
            found: list[dict[str, Any]] = json.loads(told.out)
        except ValueError:  # it cannot be called while the ledger is away
            return []
        self.repairs += [each["repaired"] for each in found if each["repaired"]]
        return found

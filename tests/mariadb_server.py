"""A real MariaDB of the operating system's packages, where they have one."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pymysql


@contextmanager
def mariadb_server(folder: Path) -> Iterator[str]:
    """The address of a server whose data lie in `folder`, gone at the end. Needs `mariadbd` on the path."""
    program = shutil.which("mariadbd")
    assert program, "tests of MariaDB need the package mariadb-server: apt-get install mariadb-server"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--no-defaults", f"--datadir={folder}", "--user=root"]
    subprocess.run(
        ["mariadb-install-db", *options, "--auth-root-authentication-method=normal", "--skip-test-db"],
        check=True,
        capture_output=True,
    )
    server = subprocess.Popen(
        [program, *options, f"--port={port}", "--bind-address=127.0.0.1", f"--socket={folder}/s", "--skip-name-resolve",
         "--innodb-flush-log-at-trx-commit=0", "--pid-file=pid"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for attempt in range(100):
            try:
                pymysql.connect(host="127.0.0.1", port=port, user="root").close()
                break
            except pymysql.err.OperationalError:
                assert attempt < 99, "MariaDB does not start"
                time.sleep(0.2)
        yield f"mariadb://root@127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait()

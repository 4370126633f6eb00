"""A proxy before a PostgreSQL server that cuts connections: as soon as the client sends a chosen text, or so many bytes
of the server's answers have passed."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sluice.ground.databases import database_url

_CHUNK = 1 << 14
COMMIT = b"COMMIT\0"  # the statement; BEGIN ISOLATION LEVEL READ COMMITTED has no such end


class CuttingProxy:
    """Passes everything on until `cut_at`, `cut_before` or `cut_after` says otherwise; then as often as `cuts` says."""

    def __init__(self, url: str) -> None:
        self._there = database_url(url)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.cut_before = self.cut_after = b""  # a text of the client: cut before, or after, the server has it
        self.cut_at = 0  # bytes of one connection's answers; 0: never
        self.cuts = 0  # how many connections are still to be cut
        self.made = 0
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self) -> str:
        """The server's URL, through the proxy."""
        query = {"sslmode": "disable", "gssencmode": "disable"}
        return self._there.set(host="127.0.0.1", port=self.port, query=query).render_as_string(hide_password=False)

    def close(self) -> None:
        self._listening.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self.made += 1
                threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        with suppress(OSError):
            server, lost, done = self._server(), threading.Event(), threading.Event()
            threading.Thread(target=self._answers, args=(server, client, lost, done), daemon=True).start()
            while asked := client.recv(_CHUNK):
                if self.cuts and self.cut_before and self.cut_before in asked:
                    break
                if self.cuts and self.cut_after and self.cut_after in asked:
                    lost.set()
                    server.sendall(asked)
                    done.wait(10)
                    break
                server.sendall(asked)
            else:
                server.close()
                return
            self._cut(client, server)

    def _answers(
        self, server: socket.socket, client: socket.socket, lost: threading.Event, done: threading.Event
    ) -> None:
        """Pass answers on, until one is lost: what was asked is done, and the client does not hear of it."""
        passed = 0
        with suppress(OSError):
            while answer := server.recv(_CHUNK):
                if lost.is_set():
                    done.set()
                    return
                passed += len(answer)
                if self.cuts and self.cut_at and passed > self.cut_at:
                    self._cut(client, server)
                    return
                client.sendall(answer)
        with suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)

    def _cut(self, *ends: socket.socket) -> None:
        self.cuts -= 1
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _server(self) -> socket.socket:
        host = str(self._there.query.get("host") or self._there.host)
        port = self._there.port or 5432
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(str(Path(host) / f".s.PGSQL.{port}"))
        return server


@contextmanager
def cutting_proxy(url: str) -> Iterator[CuttingProxy]:
    proxy = CuttingProxy(url)
    try:
        yield proxy
    finally:
        proxy.close()

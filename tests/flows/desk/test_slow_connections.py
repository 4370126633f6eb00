"""Whoever opens connections and sends nothing, or little by little, keeps no reviewer out."""

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest
import uvicorn
from fastapi import FastAPI, Request

from flows.desk import slow_connections
from flows.desk.slow_connections import PromptProtocol


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server of four connections, which have a second for a request."""
    monkeypatch.setattr(slow_connections, "SECONDS", 1.0)
    app = FastAPI()

    @app.post("/")
    async def length(request: Request) -> int:
        return len(await request.body())

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="critical", http=PromptProtocol, limit_concurrency=4, timeout_keep_alive=5)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join(20)


def asked(port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port), 10) as made:
        made.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab")
        return made.recv(1000).split(b"\r\n")[0]


@pytest.mark.parametrize(
    "begun",
    [b"", b"POST / HTTP/1.1\r\nHost: a\r\n", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\nab"],
    ids=["nothing", "half a head", "half a body"],
)
def test_who_sends_no_whole_request_is_closed_and_others_get_in(port: int, begun: bytes) -> None:
    with ExitStack() as slow:
        held = [slow.enter_context(socket.create_connection(("127.0.0.1", port), 10)) for _ in range(4)]
        for each in held:
            each.sendall(begun)
        assert asked(port) == b"HTTP/1.1 503 Service Unavailable"
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline:  # a byte now and then does not prolong it
            time.sleep(0.3)
            for each in held:
                with suppress(OSError):
                    each.sendall(b"x" if begun else b"")
        assert asked(port) == b"HTTP/1.1 200 OK"


def test_who_sends_whole_requests_one_after_the_other_stays(port: int) -> None:
    made = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    made.connect()
    own = made.sock
    for _ in range(3):
        made.request("POST", "/", b"ab")
        assert made.getresponse().read() == b"2"
        time.sleep(0.8)
    assert made.sock is own
    made.close()

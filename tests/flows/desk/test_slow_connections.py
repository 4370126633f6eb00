"""Whoever opens connections and sends nothing, or little by little, keeps no reviewer out."""

import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI, Request

from flows.desk.security_middleware import SECONDS, TimeoutProtocol
from tests.flows.installation import until

QUESTION = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab"


class Timer:
    """A call that the protocol put off, which comes when the test lets the time be over."""

    def __init__(self, loop: Any, call: Callable[[], None]) -> None:
        self._loop, self._call, self.cancelled = loop, call, False

    def cancel(self) -> None:
        self.cancelled = True

    def end(self) -> None:
        self._loop.call_soon_threadsafe(lambda: None if self.cancelled else self._call())


class Clock:
    """What the connections of one server wait for, and how many bytes they have heard."""

    def __init__(self) -> None:
        self.timers: list[Timer] = []
        self.heard = 0

    @property
    def running(self) -> list[Timer]:
        return [timer for timer in self.timers if not timer.cancelled]

    def runs_out(self) -> None:
        for timer in self.running:
            timer.end()

    def protocol(self) -> type[TimeoutProtocol]:
        clock = self

        class Loop:
            def __init__(self, loop: Any) -> None:
                self._loop = loop

            def __getattr__(self, name: str) -> Any:
                return getattr(self._loop, name)

            def call_later(self, seconds: float, call: Callable[[], None]) -> Any:
                if seconds != SECONDS:  # uvicorn's own
                    return self._loop.call_later(seconds, call)
                clock.timers.append(Timer(self._loop, call))
                return clock.timers[-1]

        class Timed(TimeoutProtocol):
            def connection_made(self, transport: Any) -> None:
                self.loop: Any = Loop(self.loop)
                super().connection_made(transport)

            def data_received(self, data: bytes) -> None:
                super().data_received(data)
                clock.heard += len(data)

        return Timed


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def port(clock: Clock) -> Iterator[int]:
    """A server of less than four connections."""
    app = FastAPI()

    @app.post("/")
    async def length(request: Request) -> int:
        return len(await request.body())

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="critical", http=clock.protocol(), limit_concurrency=4, timeout_keep_alive=60)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join(20)


def asked(port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port), 60) as made:
        made.sendall(QUESTION)
        return made.recv(1000).split(b"\r\n")[0]


@pytest.mark.parametrize(
    "begun",
    [b"", b"POST / HTTP/1.1\r\nHost: a\r\n", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\nab"],
    ids=["nothing", "half a head", "half a body"],
)
def test_who_sends_no_whole_request_is_closed_and_others_get_in(clock: Clock, port: int, begun: bytes) -> None:
    with ExitStack() as slow:
        held = [slow.enter_context(socket.create_connection(("127.0.0.1", port), 60)) for _ in range(3)]
        for each in held:
            each.sendall(begun)
        until(lambda: len(clock.running) == 3 and clock.heard == 3 * len(begun), "the connections")
        waiting = list(clock.running)
        assert asked(port) == b"HTTP/1.1 503 Service Unavailable"
        if begun:
            for each in held:
                each.sendall(b"x")
            until(lambda: clock.heard == 3 * len(begun) + len(QUESTION) + 3, "what they send")
        assert [timer for timer in clock.running if timer in waiting] == waiting, "a byte now and then prolongs nothing"
        clock.runs_out()
        for each in held:
            with suppress(ConnectionResetError):
                assert each.recv(1000) == b""
        assert asked(port) == b"HTTP/1.1 200 OK"


def test_who_sends_whole_requests_one_after_the_other_stays(clock: Clock, port: int) -> None:
    made = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    made.connect()
    own = made.sock
    for _ in range(3):
        made.request("POST", "/", b"ab")
        assert made.getresponse().read() == b"2"
        clock.runs_out()
    assert len(clock.timers) >= 1, "nobody looked at the time"
    assert made.sock is own
    made.close()

"""What every request meets, whatever page it asks for, and what a browser is told of every answer."""

import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI, Request

from flows.desk import reading
from flows.desk.desk import Desk
from flows.desk.security_middleware import HEADERS, LONGEST_BODY, POLICY, SECONDS, TimeoutProtocol
from tests.flows.desk.visitor import PASSWORD, Visitor
from tests.flows.house import House
from tests.flows.installation import until

AtDesk = Callable[[str], Visitor]


def signed_in(visitor: Visitor) -> bool:
    return bool(visitor.get("/").status_code == 200)


@pytest.mark.parametrize("name", ["evil.example", "desk.example.evil.example", "desk.example:81", ""])
def test_another_name_for_this_machine_is_no_name_of_the_desk(at_desk: AtDesk, name: str) -> None:
    assert at_desk("amara").get("/", host=name).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://evil.example"}, {"origin": "null"}, {"origin": ""}, {"sec-fetch-site": "cross-site"}],
    ids=str,
)
def test_a_form_of_another_site_does_nothing(at_desk: AtDesk, headers: dict[str, str]) -> None:
    amara = at_desk("amara")
    assert amara.post("/sign-out", headers=headers, token=amara.token()).status_code == 403
    assert signed_in(amara)


def test_a_form_whose_sender_is_not_said_does_nothing(at_desk: AtDesk) -> None:
    amara = at_desk("amara")
    answer = amara.client.post("/sign-out", data={"token": amara.token()})
    assert answer.status_code == 403
    assert signed_in(amara)


def test_a_form_needs_the_token_of_this_browser_and_this_session(desk: Desk, at_desk: AtDesk) -> None:
    amara, jonas, nobody = at_desk("amara"), at_desk("jonas"), Visitor(desk)
    before = nobody.token("/sign-in")
    for token in ("", "0" * 64, jonas.token(), before):
        assert amara.post("/sign-out", token=token).status_code == 403
    nobody.sign_in("amara")
    assert nobody.post("/sign-out", token=before).status_code == 403  # of before the session
    assert signed_in(amara)
    assert amara.post("/sign-out", token=amara.token()).status_code == 303
    assert not signed_in(amara)


def test_nobody_is_signed_in_as_somebody_else_by_a_form_of_another_site(desk: Desk) -> None:
    """Else what they then write would be read by whoever's account it is."""
    nobody = Visitor(desk)
    assert nobody.post("/sign-in", name="amara", password=PASSWORD).status_code == 403
    assert not signed_in(nobody)


def test_what_is_too_long_is_not_read(at_desk: AtDesk) -> None:
    amara = at_desk("amara")
    assert amara.post("/sign-out", token="a" * LONGEST_BODY).status_code == 413

    def endless() -> Iterator[bytes]:  # without a length
        for _ in range(LONGEST_BODY // 1000 + 2):
            yield b"a" * 1000

    kind = {"origin": amara.desk.address, "content-type": "application/x-www-form-urlencoded"}
    assert amara.client.post("/sign-out", content=endless(), headers=kind).status_code in (400, 413)
    assert signed_in(amara)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_there_are_pages_and_forms_alone(at_desk: AtDesk, method: str) -> None:
    assert at_desk("amara").client.request(method, "/").status_code == 405


def test_every_answer_says_what_a_browser_may_do_with_it(
    desk: Desk, at_desk: AtDesk, pending: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    amara = at_desk("amara")
    pages = (
        "/",
        f"/releases/{pending.id}",
        "/editions",
        "/ledger",
        "/accesses",
        "/desk.css",
        "/none",
        "/releases/none",
    )
    answers = [amara.get(path) for path in pages]
    answers += [Visitor(desk).get("/"), amara.get("/", host="evil.example"), amara.post("/sign-out")]
    monkeypatch.setattr(reading, "board", broken)
    answers.append(amara.get("/"))
    assert answers[-1].status_code == 500
    for answer in answers:
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, answer.url
    for missing in ("script-src", "unsafe", "img-src"):
        assert missing not in POLICY
    assert POLICY.startswith("default-src 'none'")


def broken(*_: object) -> None:
    raise ValueError("income 48000 of person 00017")


def test_of_a_fault_nothing_is_shown(
    at_desk: AtDesk, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    amara = at_desk("amara")
    monkeypatch.setattr(reading, "board", broken)
    assert "48000" not in amara.get("/").text
    assert "48000" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("page", ["report", "map"])
def test_a_report_is_shown_without_anything_that_runs_or_loads(at_desk: AtDesk, pending: House, page: str) -> None:
    """Only the style counts that stands in it: one that somebody slipped in does not."""
    answer = at_desk("amara").get(f"/releases/{pending.id}/{page}")
    policy = answer.headers["content-security-policy"]
    assert policy.split("; ")[-1] == "sandbox allow-same-origin"  # and no allow-scripts
    assert "unsafe" not in policy
    assert policy.count("'sha256-") == 1 == answer.text.count("<style>")
    assert "style=" not in answer.text  # which no hash lets through
    assert "<script" not in answer.text


def test_the_cookies_are_for_no_script_and_no_other_site(desk: Desk, house: House) -> None:
    nobody = Visitor(desk)
    first = nobody.get("/sign-in").headers.get_list("set-cookie")
    second = nobody.sign_in("amara").headers.get_list("set-cookie")
    for cookie, site in ((first[0], "lax"), (second[0], "strict")):
        assert "HttpOnly" in cookie
        assert f"SameSite={site}" in cookie
        assert "Domain" not in cookie
    https = Visitor(Desk(desk.address.replace("http:", "https:"), desk.accounts, desk.access, desk.metrics_token))
    assert "Secure" in https.get("/sign-in").headers["set-cookie"]
    assert "max-age" in https.get("/sign-in").headers["strict-transport-security"]


# Whoever opens connections and sends nothing, or little by little, keeps no reviewer out.


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

"""What stands around every page: whose address is asked, how long a request may be and may take, where a form was sent
from, and what a browser may do with the answer.

Connections that do not send a whole request in time are closed: a few that never do would keep all others out.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from errno import EADDRINUSE
from typing import Any
from urllib.parse import urlsplit

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from sluice.ground.errors import SluiceError

SECONDS = 15.0  # for a request, which is a few kilobytes
MOST = 512  # connections at a time

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LONGEST_BODY = 256 * 1024  # bytes: a comment and a signature are some kB

POLICY = (
    "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)

HEADERS: dict[str, str] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",  # for browsers that do not know frame-ancestors
    "referrer-policy": "same-origin",  # with `no-referrer`, browsers send forms with `Origin: null`
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "x-robots-tag": "noindex",
}


class _TooLong(Exception):  # noqa: N818
    pass


@dataclass(frozen=True)
class SecurityMiddleware:
    """What a request meets before any page, and an answer after."""

    app: Callable[[Scope, Receive, Send], Awaitable[None]]
    address: str  # at which people reach the desk, such as https://desk.office.example

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        refused = self._refusal(scope)
        if refused:
            await _say(_with_headers(send, self.address), *refused)
            return
        begun = False
        taken = 0

        async def limited() -> MutableMapping[str, Any]:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > LONGEST_BODY:  # without a length, or with a false one
                raise _TooLong
            return message

        async def noted(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            begun = True
            await _with_headers(send, self.address)(message)

        try:
            await self.app(scope, limited, noted)
        except _TooLong:
            if not begun:
                await _say(_with_headers(send, self.address), 413, "That is too long.")
        except Exception:  # it has been answered and logged by its kind; a server's traceback could hold a value
            if not begun:
                await _say(_with_headers(send, self.address), 500, "Something broke.")

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)

        def only(name: bytes) -> str | None:
            values = headers.get(name, [])
            return values[0].decode("latin-1") if len(values) == 1 else None

        # Another name for this machine, as in an attack by DNS rebinding, is no name of the desk.
        if (only(b"host") or "").lower() != urlsplit(self.address).netloc:
            return 421, f"The desk is not reached by this name; it is at {self.address}"
        if scope["method"] not in ("GET", "POST"):
            return 405, "The desk knows GET and POST."
        if scope["method"] == "POST":
            if only(b"origin") != self.address or only(b"sec-fetch-site") not in (None, "same-origin"):
                return 403, "This form was not sent from a page of the desk."
            length = only(b"content-length")
            if length is not None and (not length.isdecimal() or int(length) > LONGEST_BODY):
                return 413, "That is too long."
        return None


def _with_headers(send: Send, address: str) -> Send:
    """What a page says itself, such as a policy of its own, stands."""
    wanted = HEADERS | ({"strict-transport-security": "max-age=31536000"} if address.startswith("https:") else {})

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", []))
            said = {name.lower() for name, _ in given}
            given += [(name.encode(), value.encode()) for name, value in wanted.items() if name.encode() not in said]
            message = {**message, "headers": given}
        await send(message)

    return sending


async def _say(send: Send, status: int, words: str) -> None:
    body = f"{words}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def serve(app: SecurityMiddleware, host: str, port: int, says: Callable[[], None]) -> None:
    """Answer requests until Ctrl-C, or SIGTERM.

    says   : called once the port is this process's own, so that nobody is sent to a place that another one serves
    raises : SluiceError for a port or an address that cannot be listened on
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        why = "is in use" if error.errno == EADDRINUSE else f"cannot be listened on ({error.strerror})"
        raise SluiceError(f"{host}:{port} {why}; name another one, such as --port {port + 1}", field="--port") from None
    with listening:
        says()
        config = uvicorn.Config(
            app, proxy_headers=False, server_header=False, date_header=False, log_level="critical", access_log=False,
            http=TimeoutProtocol, limit_concurrency=MOST, timeout_keep_alive=15,
        )  # fmt: skip
        uvicorn.Server(config).run([listening])


class TimeoutProtocol(H11Protocol):
    """uvicorn's protocol, which by itself waits for ever for the first request, and for the end of any."""

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Let time run from the first byte of a request to its last."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._end()
        elif self._limit is None:
            self._limit = self.loop.call_later(SECONDS, self._close)

    def _end(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _close(self) -> None:
        self._limit = None
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self.transport.abort()

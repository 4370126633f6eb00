"""Webhooks: a notice as JSON to an address of the agency's, signed so that the receiver knows from whom it is; and an
event of OpenLineage to a catalogue of data.

`Sluice-Signature: t=SECONDS,v1=HEX`, the HMAC-SHA256 of `SECONDS.BODY` under the shared secret. A receiver refuses what
is older than some minutes, and takes a notice for the same one whose id, in the signed body, it knows.
"""

import asyncio
import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx

from sluice.notices.notice import Notice, NoticeDelayedError, NoticeRefusedError

_WAIT = 10.0  # seconds for all of it: a receiver could answer a byte at a time
_LATER = (408, 425, 429)  # of the client's faults, those that pass


@dataclass(frozen=True)
class Webhook:
    """An address, and the secret that its receiver shares."""

    url: str
    secret: str = field(repr=False)

    def send(self, notice: Notice, now: float | None = None) -> None:
        """Post a notice; redirects are not followed, and no proxy or netrc of the environment is used.

        raises : NoticeRefusedError when the receiver says that it never takes it; NoticeDelayedError otherwise
        cost   : up to 10 s
        """
        body = notice.model_dump_json(exclude={"while_state"}).encode()
        seconds = str(int(time.time() if now is None else now))
        headers = {
            "Content-Type": "application/json",
            "Sluice-Notice": notice.id,
            "Sluice-Signature": f"t={seconds},v1={signature(self.secret, seconds, body)}",
        }
        _posted(self.url, body, headers, "webhook")


@dataclass(frozen=True)
class LineageBackend:
    """A catalogue of data that takes events of OpenLineage, and the key by which it knows us."""

    url: str
    key: str = field(default="", repr=False)

    def send(self, event: Mapping[str, Any]) -> None:
        """Post an event, as `Webhook.send` does a notice."""
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {self.key}"} if self.key else {})}
        _posted(self.url, json.dumps(event).encode(), headers, "catalogue")


def _posted(url: str, body: bytes, headers: dict[str, str], receiver: str) -> None:
    try:
        code = asyncio.run(asyncio.wait_for(_answer(url, body, headers), _WAIT))
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, TimeoutError) as error:
        raise NoticeDelayedError(f"the {receiver} cannot be reached ({type(error).__name__})") from None
    if 200 <= code < 300:
        return
    gone = 400 <= code < 500 and code not in _LATER
    raise (NoticeRefusedError if gone else NoticeDelayedError)(f"the {receiver} answers {code}")


async def _answer(url: str, body: bytes, headers: dict[str, str]) -> int:
    """The code of the answer; its body is never read, as a receiver could have it go on for ever."""
    asyncio.get_running_loop().getaddrinfo = _looked_up  # type: ignore[method-assign]
    async with (
        httpx.AsyncClient(trust_env=False, timeout=None, follow_redirects=False) as client,
        client.stream("POST", url, content=body, headers=headers) as answer,
    ):
        return answer.status_code


async def _looked_up(*asked: Any, **how: Any) -> Any:
    """The addresses of a name. A name service that hangs holds a thread that nobody waits for: asyncio's own would hold
    the end of the loop and of the process."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[Any] = loop.create_future()

    def settle(end: Callable[[Any], None], answer: Any) -> None:
        if not found.done():
            end(answer)

    def ask() -> None:
        try:
            told: tuple[Callable[[Any], None], Any] = (found.set_result, socket.getaddrinfo(*asked, **how))
        except OSError as error:
            told = (found.set_exception, error)
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, *told)

    threading.Thread(target=ask, daemon=True).start()
    return await found


def signature(secret: str, seconds: str, body: bytes) -> str:
    """What proves that the body was sent by whoever has the secret, at that time."""
    return hmac.new(secret.encode(), seconds.encode() + b"." + body, hashlib.sha256).hexdigest()

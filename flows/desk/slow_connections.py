"""Connections that do not send a whole request in time are closed: a few that never do would keep all others out."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 15.0  # for a request, which is a few kilobytes
MOST = 512  # connections at a time


class PromptProtocol(H11Protocol):
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

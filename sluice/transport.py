"""Faults of transport: a connection that is refused, cut or not answered, and trying again for a while.

Only such faults are tried again. What the other end answered is an answer, and no verdict is asked for twice.
"""

import logging
import random
import time
from collections.abc import Callable
from typing import TypeVar

from sluice.ground.errors import TransportError
from sluice.ground.log import log

LONGEST_PAUSE = 15.0  # seconds between two attempts
_FIRST_PAUSE = 0.5
_SPREAD = 0.2  # of a pause: many processes that lost the same server do not come back at the same moment

# What drivers and operating systems say of a connection, in lower case; what a server says of itself while it starts or
# stops. Everything else that a server says, of a password or a table, is an answer.
_SIGNS = (
    "connection refused", "connection reset", "connection timed out", "timeout expired", "timed out",
    "server closed the connection", "connection is lost", "connection is closed", "connection not open",
    "no connection to the server", "consuming input failed", "could not receive data", "could not send data",
    "broken pipe", "no route to host", "network is unreachable", "could not translate host name",
    "name or service not known", "temporary failure in name resolution", "ssl connection has been closed",
    "unexpected eof",
    "is starting up", "is shutting down", "is not yet accepting connections", "in recovery mode",
    "terminating connection", "gone away", "lost connection",
)  # fmt: skip

T = TypeVar("T")


def is_of_transport(error: BaseException) -> bool:
    """Whether a driver's error is of the connection, and not what the database answered."""
    if getattr(error, "connection_invalidated", False):
        return True
    text = str(getattr(error, "orig", None) or error).lower()
    return any(sign in text for sign in _SIGNS)


def persistently(call: Callable[[], T], patience: float | None = None) -> T:
    """What `call` returns; after a TransportError it is called again, after pauses that grow from half a second to 15.

    call     : may be called again after it failed half way
    patience : seconds until no further attempt begins; None: the setting
    raises   : whatever `call` does: another error at once, a TransportError when the patience is at its end
    """
    begun, pause = time.monotonic(), _FIRST_PAUSE
    while True:
        try:
            return call()
        except TransportError as error:
            patience = _patience() if patience is None else patience
            if time.monotonic() + pause > begun + patience:
                raise
            log("connection is tried again", logging.WARNING, seconds=pause, detail=str(error))
        time.sleep(pause * random.uniform(1 - _SPREAD, 1 + _SPREAD))
        pause = min(2 * pause, LONGEST_PAUSE)


def _patience() -> float:
    """Looked up only after a fault: the ledger is read hundreds of times a release, and mostly answers."""
    from sluice.settings import settings  # the process that reads a source has none

    return settings().patience

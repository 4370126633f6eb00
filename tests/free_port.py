"""Ports for servers that begin later, of those that the system gives to nobody who connects meanwhile."""

import socket
from collections.abc import Iterator
from random import SystemRandom

_OURS = range(20_000, 32_000)  # Linux gives 32,768 and more to whoever asks for any port, others yet higher ones


def free_port() -> int:
    return next(free_ports())


def free_ports() -> Iterator[int]:
    """Each another."""
    for port in SystemRandom().sample(_OURS, len(_OURS)):
        with socket.socket() as tried:
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
        yield port

"""Which addresses of the web a notice may go to."""

from urllib.parse import urlsplit

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""This very machine: what goes there need not be encrypted."""


def is_safe(url: str) -> bool:
    """Whether what is posted there is encrypted on its way, or stays on this machine."""
    parts = urlsplit(url)
    return bool(parts.hostname) and (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK))

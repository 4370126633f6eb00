"""What a running desk knows: its address, how people sign on to it, who is signed on, and who read, downloaded and did
what.

The record of that is a file of the workspace that only grows. What somebody decided does not stand in it, nor their
words: whoever reads it may be the next to decide.
"""

import hmac
import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from urllib.parse import urlsplit

from flows.desk.accounts import Accounts, Attempts, KnownBrowsers, Sessions, desk_folder
from sluice.custody.workspace import Workspace, open_workspace
from sluice.ground.durable import create_once, disk_of
from sluice.ground.errors import SluiceError


@dataclass(frozen=True)
class Access:
    at: str
    who: str
    did: str  # such as 'read', 'downloaded', 'refused'
    what: str  # such as 'report'
    release: str = ""
    sha256: str = ""  # of what was downloaded


WRONG_PASSWORD = ("refused", "sign-in")
_BLOCK = 1 << 16  # bytes


@dataclass(frozen=True)
class AccessLog:
    file: Path

    @classmethod
    def of(cls, home: Path) -> "AccessLog":
        return cls(home / "desk" / "access.jsonl")

    def record(self, who: str, did: str, what: str, release: str = "", sha256: str = "") -> None:
        """Write a line down to the disk before anything is shown. Raises DataError, OSError where that fails."""
        access = Access(datetime.now(UTC).isoformat(timespec="milliseconds"), who, did, what, release, sha256)
        line = json.dumps(asdict(access), ensure_ascii=True) + "\n"
        with disk_of("the workspace's disk"):
            handle = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(handle, line.encode("ascii"))  # one call: lines of two requests do not mix
                os.fdatasync(handle)
            finally:
                os.close(handle)

    def newest(self) -> Iterator[Access]:
        """All of it, the latest first, read as far as is asked; a line that is none, as a full disk leaves it, is left
        out."""
        if not self.file.exists():
            return
        for line in _lines_backwards(self.file):
            try:
                yield Access(**json.loads(line))
            except (ValueError, TypeError):
                continue

    def wrong_passwords(self, since: datetime) -> dict[str, list[datetime]]:
        """Name of an account, or '?' where there is none -> the times at which it was given a wrong one, the latest
        first."""
        found: dict[str, list[datetime]] = {}
        for each in self.newest():
            if (at := datetime.fromisoformat(each.at)) < since:
                break
            if (each.did, each.what) == WRONG_PASSWORD:
                found.setdefault(each.who, []).append(at)
        return found


def _lines_backwards(file: Path) -> Iterator[str]:
    """The lines of a file that only grows, the last first; of years of it only the end is read."""
    with file.open("rb") as opened:
        place, rest = opened.seek(0, os.SEEK_END), b""
        while place > 0:
            size = min(_BLOCK, place)
            place = opened.seek(place - size)
            rest, *lines = (opened.read(size) + rest).split(b"\n")
            yield from (line.decode("ascii", errors="replace") for line in reversed(lines))
        yield rest.decode("ascii", errors="replace")


PROXY_SECRET = "x-sluice-proxy"  # the header in which the proxy shows its secret


@dataclass(frozen=True)
class Proxy:
    """The office's sign-on: a web server that says in a header who signed on to it.

    Any account of this machine can connect from its addresses, so the address alone proves nothing: the proxy also
    shows a secret that lies in the workspace.
    """

    header: str  # in lower case
    networks: tuple[IPv4Network | IPv6Network, ...]
    secret: str = field(repr=False)

    @classmethod
    def of(cls, home: Path, header: str, networks: list[str]) -> "Proxy":
        """Draws the secret at the first call. Raises SluiceError for what is no header or address."""
        if not header.replace("-", "").isalnum() or not header.isascii():
            raise SluiceError(
                f"must be the name of a header, such as X-Remote-User; got {header!r}", field="--sign-on-header"
            )
        if not networks:
            raise SluiceError("must say from which address the sign-on connects, such as 127.0.0.1", field="--proxy")
        try:
            known = tuple(map(ip_network, networks))
        except ValueError as error:
            raise SluiceError(str(error), field="--proxy") from None
        secret = create_once(desk_folder(home) / "proxy_secret", secrets.token_urlsafe(32).encode()).decode()
        return cls(header.lower(), known, secret.strip())

    def named(self, peer: str, headers: list[tuple[bytes, bytes]]) -> str | None:
        """Whom the sign-on says it is; None where it was not the sign-on that said it."""

        def only(name: str) -> str | None:
            values = [value for key, value in headers if key.lower() == name.encode()]
            try:
                return values[0].decode("utf-8") if len(values) == 1 else None
            except UnicodeDecodeError:
                return None

        try:
            is_proxy = any(ip_address(peer) in network for network in self.networks)
        except ValueError:
            return None
        shown = only(PROXY_SECRET) or ""
        if not is_proxy or not hmac.compare_digest(shown.encode(), self.secret.encode()):
            return None
        return only(self.header)


@dataclass(frozen=True)
class Desk:
    address: str
    accounts: Accounts
    access: AccessLog
    metrics_token: str = field(repr=False)  # which whoever asks for the metrics shows
    proxy: Proxy | None = None  # None: people sign on with accounts of the desk
    sessions: Sessions = field(default_factory=Sessions)
    attempts: Attempts = field(default_factory=Attempts)
    browsers: KnownBrowsers = field(default_factory=lambda: KnownBrowsers(secrets.token_bytes(32)))
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)  # of the tokens in forms

    @classmethod
    def of(cls, home: Path, address: str, proxy: Proxy | None = None) -> "Desk":
        """The desk of a workspace. Raises SluiceError for what is no address of one."""
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/") or parts.query:
            raise SluiceError(f"--address must be such as https://desk.office.example; got {address!r}")
        folder = desk_folder(home)
        said = f"{parts.scheme}://{parts.netloc.lower()}"
        known = KnownBrowsers(create_once(folder / "browsers_secret", secrets.token_bytes(32)))
        token = create_once(folder / "metrics_token", secrets.token_urlsafe(32).encode()).decode().strip()
        return cls(said, Accounts(folder), AccessLog.of(home), token, proxy, browsers=known)

    @cached_property
    def workspace(self) -> Workspace:
        """Opened once: each page reads of the ledger what is new. Raises as `open_workspace`, each time."""
        return open_workspace(follows=True)

    @property
    def secure(self) -> bool:
        """Whether browsers reach it by HTTPS, and send its cookies by that alone."""
        return self.address.startswith("https:")

    def form_token(self, binding: str) -> str:
        """What a form of a page must hold: made by this process, for one browser and one session."""
        return hmac.digest(self.key, binding.encode(), "sha256").hex()

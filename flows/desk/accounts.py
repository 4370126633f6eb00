"""Accounts of the desk, for offices without a sign-on: a person's name and a hash of their password, in the workspace;
and the sessions of those who signed on.

Hashes are scrypt's (Percival 2009, RFC 7914), with a cost that OWASP's Password Storage Cheat Sheet takes for enough. A
session is 256 random bits in a cookie; the desk keeps their hash, in its memory alone. So it can be ended at once,
nobody can make one up, and none outlives the process.
"""

import base64
import hashlib
import hmac
import json
import os
import secrets
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from sluice.ground.durable import locked, make_folder, replace
from sluice.ground.errors import SluiceError

LONGEST_SESSION, IDLE = 8 * 3600.0, 30 * 60.0  # seconds
ATTEMPTS, WINDOW = 5, 15 * 60.0  # wrong passwords of one name in so many seconds; then it waits

SHORTEST = 12  # characters of a password
LONGEST = 200
_N, _R, _P = 1 << 15, 8, 3  # 32 MB, some 0.2 s
_SALT = 16  # bytes

_one_at_a_time = Lock()  # so that many at the door do not take the machine's memory


class Accounts:
    """The accounts of one workspace, read anew at each call."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "accounts.json"

    def put(self, name: str, password: str) -> None:
        """Give somebody of the roster an account, or another password. Raises SluiceError for one that is too short."""
        if not SHORTEST <= len(password) <= LONGEST:
            raise SluiceError(f"a password must have {SHORTEST} to {LONGEST} characters; this one has {len(password)}")
        self._write(name, _hash(password, secrets.token_bytes(_SALT)))

    def remove(self, name: str) -> None:
        """Take an account away, which ends its sessions. Raises SluiceError where there is none."""
        if name not in self._read():
            raise SluiceError(f"'{name}' has no account at the desk")
        self._write(name, None)

    def verify(self, name: str, password: str) -> bool:
        """Whether this is the password of that account; takes as long where there is no such account."""
        kept = self._read().get(name, "")
        salt = base64.b64decode(kept.partition("$")[0]) if kept else bytes(_SALT)
        return hmac.compare_digest(_hash(password[:LONGEST], salt), kept)

    def mark(self, name: str) -> str:
        """What changes with the password, and is '' without an account: a session of another mark has ended."""
        kept = self._read().get(name)
        return hashlib.sha256(kept.encode()).hexdigest() if kept else ""

    def _read(self) -> dict[str, str]:
        try:
            mode = self.file.stat().st_mode
            content: dict[str, str] = json.loads(self.file.read_bytes())
        except FileNotFoundError:
            return {}
        if stat.S_IMODE(mode) & 0o077:
            raise SluiceError(f"{self.file} must be closed to other accounts. Run: chmod 0600 {self.file}")
        return content

    def _write(self, name: str, kept: str | None) -> None:
        make_folder(self.file.parent, 0o700)
        with locked(self.file.with_suffix(".lock")):
            content = self._read() | {name: kept}
            left = {who: value for who, value in content.items() if value is not None}
            replace(self.file, json.dumps(left, indent=1, sort_keys=True).encode(), 0o600)


def _hash(password: str, salt: bytes) -> str:
    """Salt and hash, as they are kept."""
    with _one_at_a_time:
        digest = hashlib.scrypt(password.encode(), salt=salt, n=_N, r=_R, p=_P, maxmem=128 * _N * _R * 2)
    return f"{base64.b64encode(salt).decode()}${base64.b64encode(digest).decode()}"


def desk_folder(home: Path) -> Path:
    """Where the desk keeps what it keeps: accounts, the proxy's secret and the record of who read what."""
    folder = home / "desk"
    make_folder(folder, 0o700)
    if stat.S_IMODE(os.stat(folder).st_mode) & 0o077:
        raise SluiceError(f"{folder} must be closed to other accounts. Run: chmod 0700 {folder}")
    return folder


@dataclass
class Session:
    person: str
    mark: str  # of the account, see `Accounts.mark`
    begun: float
    used: float


@dataclass
class Sessions:
    clock: Callable[[], float] = time.monotonic
    _open: dict[str, Session] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def begin(self, person: str, mark: str) -> str:
        """Open a session; returns what the browser keeps."""
        token = secrets.token_urlsafe(32)
        now = self.clock()
        with self._lock:
            self._open = {key: each for key, each in self._open.items() if not self._is_over(each, now)}
            self._open[_token_digest(token)] = Session(person, mark, now, now)
        return token

    def find(self, token: str) -> Session | None:
        """The session, used now; None where it has ended or never was."""
        with self._lock:
            session, now = self._open.get(_token_digest(token)), self.clock()
            if session is None or self._is_over(session, now):
                return None
            session.used = now
            return session

    def end(self, token: str) -> None:
        with self._lock:
            self._open.pop(_token_digest(token), None)

    def _is_over(self, session: Session, now: float) -> bool:
        return now - session.begun > LONGEST_SESSION or now - session.used > IDLE


@dataclass
class Attempts:
    """Tries of late, by the name that was typed; one that has no account is no different."""

    clock: Callable[[], float] = time.monotonic
    _failed: dict[str, list[float]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def may_try(self, name: str) -> bool:
        """Count a try beforehand, so that many at once are no way around it; whether it may be made.

        name : as it was typed, or what `KnownBrowsers.tries_as` makes of it
        """
        now, name = self.clock(), _token_digest(name)  # what is kept is as long for any name
        with self._lock:
            recent = {who: left for who, at in self._failed.items() if (left := [t for t in at if now - t < WINDOW])}
            self._failed = recent
            tried = recent.get(name, [])
            if len(tried) >= ATTEMPTS:
                return False
            recent[name] = [*tried, now]
            return True

    def forget(self, name: str) -> None:
        """The password was right."""
        with self._lock:
            self._failed.pop(_token_digest(name), None)


@dataclass(frozen=True)
class KnownBrowsers:
    """Browsers in which a person signed on before, by a cookie that only the desk can make, until the password changes.

    Tries there are counted by themselves: whoever types wrong passwords elsewhere keeps nobody out.
    """

    secret: bytes = field(repr=False)

    def cookie(self, name: str, mark: str) -> str:
        """What a browser keeps once somebody signed on; `mark` is of the account, see `Accounts.mark`."""
        browser = secrets.token_urlsafe(16)
        return f"{browser}.{self._seal(browser, name, mark)}"

    def tries_as(self, cookie: str, name: str, mark: str) -> str:
        """By what name tries are counted: of a browser that is known as this person's, by its own."""
        browser, _, seal = cookie.partition(".")
        known = bool(mark) and hmac.compare_digest(seal.encode(), self._seal(browser, name, mark).encode())
        return f"{name}\n{browser}" if known else name

    def _seal(self, browser: str, name: str, mark: str) -> str:
        return hmac.digest(self.secret, "\n".join((browser, name, mark)).encode(), "sha256").hex()


def _token_digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()

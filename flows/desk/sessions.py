"""Sessions: who signed on with an account, and how often somebody tried.

A session is 256 random bits in a cookie; the desk keeps their hash, in its memory alone. So it can be ended at once,
nobody can make one up, and none outlives the process.
"""

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

LONGEST, IDLE = 8 * 3600.0, 30 * 60.0  # seconds
ATTEMPTS, WINDOW = 5, 15 * 60.0  # wrong passwords of one name in so many seconds; then it waits


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
            self._open[_hashed(token)] = Session(person, mark, now, now)
        return token

    def find(self, token: str) -> Session | None:
        """The session, used now; None where it has ended or never was."""
        with self._lock:
            session, now = self._open.get(_hashed(token)), self.clock()
            if session is None or self._is_over(session, now):
                return None
            session.used = now
            return session

    def end(self, token: str) -> None:
        with self._lock:
            self._open.pop(_hashed(token), None)

    def _is_over(self, session: Session, now: float) -> bool:
        return now - session.begun > LONGEST or now - session.used > IDLE


@dataclass
class Attempts:
    """Tries of late, by the name that was typed; one that has no account is no different."""

    clock: Callable[[], float] = time.monotonic
    _failed: dict[str, list[float]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def may_try(self, name: str) -> bool:
        """Count a try beforehand, so that many at once are no way around it; whether it may be made."""
        now, name = self.clock(), _hashed(name)  # what is kept is as long for any name
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
            self._failed.pop(_hashed(name), None)


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()

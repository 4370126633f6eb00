"""Accounts of the desk, for offices without a sign-on: a person's name and a hash of their password, in the workspace.

Hashes are scrypt's (Percival 2009, RFC 7914), with a cost that OWASP's Password Storage Cheat Sheet takes for enough.
"""

import base64
import hashlib
import hmac
import json
import os
import secrets
import stat
from pathlib import Path
from threading import Lock

from sluice.ground.durable import locked, make_folder, replace
from sluice.ground.errors import SluiceError

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

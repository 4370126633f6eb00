"""The anchor: the number and hash of the ledger's last row, kept in the vault, away from the database.

A chain of hashes cannot show that its end was cut off; the anchor can. It is written after each append, so a crash
leaves the database ahead of it, never behind.
"""

import hmac
import json
from dataclasses import dataclass
from pathlib import Path

from sluice.ground.durable import disk_of, locked, replace


@dataclass(frozen=True)
class Anchor:
    path: Path
    key: bytes

    def read(self) -> tuple[int, str] | None:
        """Number and hash of the row that was last; None when the file is missing or is not what was written."""
        try:
            number, digest, mac = self.path.read_text(encoding="ascii").split()
            seq = int(number)
        except (FileNotFoundError, ValueError):
            return None
        return (seq, digest) if hmac.compare_digest(mac, self._mac(seq, digest)) else None

    def move(self, seq: int, digest: str) -> None:
        """Move it forward to a row. Of two appends that end together the later row stays. Raises DataError: disk."""
        lock = self.path.with_name(f"{self.path.name}.lock")
        with disk_of("the vault's disk"), locked(lock):
            anchored = self.read()
            if anchored is None or anchored[0] < seq:
                replace(self.path, f"{seq} {digest} {self._mac(seq, digest)}\n".encode(), 0o600)

    def _mac(self, seq: int, digest: str) -> str:
        return hmac.digest(self.key, json.dumps(["anchor", seq, digest]).encode(), "sha256").hex()

"""The chain of a ledger's rows: each bears a keyed hash over its fields and the hash of the row before.

HMAC-SHA256 (RFC 2104), under a key that lies in the vault: who can write to the database but has no key cannot change,
drop, move or add a row unseen. A chain cannot show that its end was cut off; the anchor can: the number and hash of the
last row, kept in the vault, away from the database.

For outsiders there is one hash that commits to all rows, in their order: the root of a Merkle tree, hashed as
certificate transparency does it (RFC 9162, 2.1.1; the same as in RFC 6962), with SHA-256: a leaf is H(0x00 || entry), a
node H(0x01 || left || right), and of n entries the left subtree has the largest power of two that is smaller than n.
Nobody can find another list with the same root, and no node passes for a leaf.
"""

import hashlib
import hmac
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any

from sluice.ground.durable import disk_of, locked, replace

Row = Mapping[str, Any]

START = "0" * 64  # what the first row follows
FIELDS = ("seq", "at", "release", "event", "actor", "body", "previous")


@dataclass(frozen=True)
class Chain:
    """How the rows under one key hang together."""

    key: bytes

    def hash(self, row: Row) -> str:
        """What the row's hash must be, in hexadecimal."""
        return self.hash_of([row[name] for name in FIELDS])

    def hash_of(self, fields: Sequence[Any]) -> str:
        """The same of the values of `FIELDS`: a number and six texts. Cost: 4 microseconds and 2 for each kB."""
        seq, *texts = fields
        written = ", ".join(['"row"', int.__repr__(seq), *map(encode_basestring_ascii, texts)])  # as json.dumps does it
        return hmac.digest(self.key, f"[{written}]".encode("ascii"), "sha256").hex()

    def fits(self, row: Row) -> bool:
        """Whether the row bears the hash of its content."""
        return hmac.compare_digest(self.hash(row).encode(), str(row["hash"]).encode())

    def problems(self, rows: Sequence[Row], end: int, after: tuple[int, str] = (0, START)) -> list[str]:
        """What is wrong with all rows of a ledger, in their order, in words.

        end   : number of the row that should be the last
        after : number and hash of the row before these, if they are not all from the first on
        cost  : one hash for each row
        """
        problems: list[str] = []
        fitting = [self.fits(row) for row in rows]
        # where a row that does not fit may have been moved from; bounded, as each place is tried on each such row
        places = [*[row["seq"] for row, fits in zip(rows, fitting, strict=True) if not fits][:100], end]
        (last, previous), followed = after, True
        for row, fits in zip(rows, fitting, strict=True):
            seq = row["seq"]
            problems += [f"row {number} is missing" for number in range(last + 1, min(seq, last + 100))]
            if not fits:
                came = next((place for place in places if self.fits({**row, "seq": place})), None)
                was = "changed or forged: its hash does not fit its content" if came is None else f"moved from {came}"
                problems.append(f"row {seq} was {was}")
            elif followed and seq == last + 1 and row["previous"] != previous:
                problems.append(f"row {seq} does not follow row {last}: its link to the row before is broken")
            last, previous, followed = seq, row["hash"], fits
        return problems


@dataclass(frozen=True)
class Anchor:
    path: Path
    key: bytes
    kind: str = "anchor"  # one for the last row does not pass for one up to which all was verified

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
        return hmac.digest(self.key, json.dumps([self.kind, seq, digest]).encode(), "sha256").hex()


def roots(entries: Iterable[bytes], sizes: Collection[int]) -> dict[int, bytes]:
    """The roots of the trees over the first entries: size -> root, for those of the sizes that there are entries for.

    cost : O(n) hashes, and O(log n) for each size; O(log n) memory
    """
    wanted, found = set(sizes), {}
    complete: list[tuple[int, bytes]] = []  # the complete subtrees from left to right: number of leaves, root
    if 0 in wanted:
        found[0] = hashlib.sha256(b"").digest()
    for size, entry in enumerate(entries, 1):
        complete.append((1, hashlib.sha256(b"\x00" + entry).digest()))
        while len(complete) > 1 and complete[-2][0] == complete[-1][0]:
            (leaves, left), (_, right) = complete[-2:]
            complete[-2:] = [(2 * leaves, _node(left, right))]
        if size in wanted:
            root = complete[-1][1]
            for _, left in complete[-2::-1]:
                root = _node(left, root)
            found[size] = root
    return found


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()

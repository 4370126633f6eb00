"""The chain of a ledger's rows: each bears a keyed hash over its fields and the hash of the row before.

HMAC-SHA256 (RFC 2104), under a key that lies in the vault: who can write to the database but has no key cannot change,
drop, move or add a row unseen.
"""

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]

START = "0" * 64  # what the first row follows
FIELDS = ("seq", "at", "release", "event", "actor", "body", "previous")


@dataclass(frozen=True)
class Chain:
    """How the rows under one key hang together."""

    key: bytes

    def hash(self, row: Row) -> str:
        """What the row's hash must be, in hexadecimal."""
        return hmac.digest(self.key, json.dumps(["row", *(row[name] for name in FIELDS)]).encode(), "sha256").hex()

    def fits(self, row: Row) -> bool:
        """Whether the row bears the hash of its content."""
        return hmac.compare_digest(self.hash(row).encode(), str(row["hash"]).encode())

    def problems(self, rows: Sequence[Row], end: int) -> list[str]:
        """What is wrong with all rows of a ledger, in their order, in words.

        end  : number of the row that should be the last
        cost : one hash for each row
        """
        problems: list[str] = []
        fitting = [self.fits(row) for row in rows]
        # where a row that does not fit may have been moved from; bounded, as each place is tried on each such row
        places = [*[row["seq"] for row, fits in zip(rows, fitting, strict=True) if not fits][:100], end]
        last, previous, followed = 0, START, True
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

"""The index of a ledger: its rows without their bodies, kept in the vault beside the anchor, so that a process that
needs all histories begins where another one ended.

It is sealed with the key of the chain: who can write to the database and has no key can make none. It says what was
found of rows that fit, each following the one before, and a body is held against its row's hash when somebody asks for
it: nothing is believed that the chain does not show. One that was changed is set aside, and all rows are read.
"""

import hmac
import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sluice.custody.ledger_chain import START
from sluice.custody.ledger_entry import Entry, Head
from sluice.ground.durable import replace
from sluice.ground.log import log

_HEX = len(START)


@dataclass(frozen=True)
class LedgerIndex:
    path: Path
    key: bytes

    def read(self) -> list[Head]:
        """The first rows, in their order; none where the file is missing or is not what was written.

        cost : about a microsecond a row
        """
        try:
            seal, _, written = self.path.read_bytes().partition(b"\n")
        except FileNotFoundError:
            return []
        if not hmac.compare_digest(seal, self._seal(written)):
            log("the ledger's index was changed and is set aside", logging.WARNING)
            return []
        _, times, names, named, joined = json.loads(written)
        hashes = [joined[place : place + _HEX] for place in range(0, len(joined), _HEX)]
        columns = ([names[number] for number in named[place::3]] for place in range(3))
        return list(map(Head, range(1, len(hashes) + 1), times, *columns, [START, *hashes], hashes))

    def write(self, rows: Sequence[Entry | Head]) -> None:
        """Keep these, which are all from the first on. Where the disk does not take them there is no index."""
        numbers: dict[str, int] = {}
        named = [numbers.setdefault(name, len(numbers)) for row in rows for name in (row.release, row.event, row.actor)]
        content = ["index", [row.at for row in rows], list(numbers), named, "".join(row.hash for row in rows)]
        written = json.dumps(content, separators=(",", ":")).encode()
        with suppress(OSError):
            replace(self.path, self._seal(written) + b"\n" + written, 0o600)

    def _seal(self, written: bytes) -> bytes:
        return hmac.digest(self.key, written, "sha256").hex().encode()

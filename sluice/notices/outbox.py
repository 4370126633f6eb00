"""The outbox: who is still to be told what, and who was told. A small database in the workspace.

Not in the ledger: that is the evidence of what was released, and attempts at deliveries are none. What has to be told
is read off the ledger, and noted here before anything is sent; so neither a process that is killed nor a mail server
that is down loses a notice. A notice that was taken is noted at once; only a process that is killed in the instant
between sends it twice, with the same id.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from sluice.ground.durable import make_folder
from sluice.ground.errors import SluiceError
from sluice.notices.notice import Notice

Outcome = Literal["sent", "refused", "stale"]
"""How it ended: the other side took it; it never will; it was of no use any more."""

_TABLES = """
CREATE TABLE IF NOT EXISTS seen (row INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS told (
    notice TEXT NOT NULL, channel TEXT NOT NULL, content TEXT NOT NULL, noted TEXT NOT NULL,
    outcome TEXT, at TEXT, tries INTEGER NOT NULL DEFAULT 0, fault TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (notice, channel)
);
"""


@dataclass(frozen=True)
class Due:
    """A notice that is still to be delivered."""

    notice: Notice
    channel: str  # 'webhook', or 'mail:' and the name of a person on the roster
    noted: str  # when it was put here
    tries: int
    fault: str  # of the last try


class Outbox:
    """Opened by one process at a time: `locked` around it, as `tasks.release.decisions.notices` does."""

    def __init__(self, file: Path) -> None:
        """Open the outbox, making it where it is missing. Raises SluiceError when the file is none."""
        make_folder(file.parent, 0o700)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
        self._file = file
        try:
            with self._connected() as connection:
                connection.executescript(_TABLES)
        except sqlite3.DatabaseError:
            raise SluiceError(
                f"{file} cannot be read as the outbox of notices; move it away to begin a new one"
            ) from None

    @property
    def seen(self) -> int | None:
        """The last row of the ledger of which the notices were put here; None: this outbox is new."""
        with self._connected() as connection:
            found = connection.execute("SELECT max(row) FROM seen").fetchone()[0]
        return None if found is None else int(found)

    def put(self, notices: Sequence[tuple[Notice, str]], seen: int | None = None) -> None:
        """Note who is to be told what, and up to which row of the ledger: all of it or nothing. What is known stays."""
        now = _now()
        with self._connected() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO told (notice, channel, content, noted) VALUES (?, ?, ?, ?)",
                [(notice.id, channel, notice.model_dump_json(), now) for notice, channel in notices],
            )
            if seen is not None:
                connection.execute("DELETE FROM seen")
                connection.execute("INSERT INTO seen VALUES (?)", (seen,))

    def due(self) -> list[Due]:
        """What is still to be delivered, first to last; what was tried in vain comes after what was not."""
        with self._connected() as connection:
            rows = connection.execute(
                "SELECT content, channel, noted, tries, fault FROM told WHERE outcome IS NULL "
                "ORDER BY tries, noted, rowid"
            ).fetchall()
        return [Due(Notice.model_validate_json(content), *rest) for content, *rest in rows]

    def settle(self, due: Due, outcome: Outcome) -> None:
        """Note how it ended; brought to the disk before this returns."""
        with self._connected() as connection:
            connection.execute(
                "UPDATE told SET outcome = ?, at = ?, tries = tries + 1 WHERE notice = ? AND channel = ?",
                (outcome, _now(), due.notice.id, due.channel),
            )

    def failed(self, due: Due, fault: str) -> None:
        """Note that a try did not work, and why; it stays due."""
        with self._connected() as connection:
            connection.execute(
                "UPDATE told SET tries = tries + 1, fault = ? WHERE notice = ? AND channel = ?",
                (fault, due.notice.id, due.channel),
            )

    def refused(self) -> list[tuple[str, str]]:
        """The notices that will never be delivered: their id and channel."""
        with self._connected() as connection:
            return connection.execute("SELECT notice, channel FROM told WHERE outcome = 'refused'").fetchall()

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._file)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            with connection:
                yield connection


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

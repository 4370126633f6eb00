"""Rows of the ledger as this process knows them: each is hashed once, and refused where it is another later.

What was found to fit its hash is remembered, and compared with the database at every reading. Where there are
thousands of rows a process begins with what another one read (see `LedgerIndex`), and reads a body when somebody asks
for it.
"""

import hmac
import json
import logging
from collections import Counter
from collections.abc import Iterator
from threading import RLock
from typing import Any

import sqlalchemy as sa

from sluice.custody.ledger_chain import START, Anchor, Chain
from sluice.custody.ledger_database import ROWS, LedgerDatabase
from sluice.custody.ledger_entry import BODY, COLUMNS, Entry, Head
from sluice.custody.ledger_index import LedgerIndex
from sluice.custody.states import WITHOUT_STATES
from sluice.ground.errors import SluiceError
from sluice.ground.log import log
from sluice.ground.machine import without_collecting

MANY = 2_000  # rows: of so many the index is written, and their bodies are read again when they are asked for
FEW = 20  # bodies of one event that are read one by one, before all of that event near it are
_NEAR = 5_000  # rows, on either side
_AT_ONCE = 500  # rows that are taken from the database together

# Made once: SQLAlchemy then knows that it has compiled them, and a release asks them some four hundred times.
_ALL = sa.select(ROWS).order_by(ROWS.c.seq)
_EVERY = ROWS.alias("every")
_ENDS = (
    sa.select(sa.func.count()).select_from(_EVERY).scalar_subquery(),
    sa.select(sa.func.coalesce(sa.func.max(_EVERY.c.seq), 0)).scalar_subquery(),
)
_NUMBER_AND_END = sa.select(*_ENDS)
_OF_RELEASE = sa.select(ROWS, *_ENDS).where(ROWS.c.release == sa.bindparam("release")).order_by(ROWS.c.seq)
AFTER = _ALL.where(ROWS.c.seq > sa.bindparam("seq"))
_LAST = sa.select(ROWS).order_by(ROWS.c.seq.desc()).limit(1)
_OF_EVENT = _ALL.where(
    ROWS.c.event == sa.bindparam("event"), ROWS.c.seq.between(sa.bindparam("first"), sa.bindparam("last"))
)
_NUMBERED = sa.select(ROWS).where(ROWS.c.seq == sa.bindparam("seq"))
PARTS = {"yield_per": _AT_ONCE}


class LedgerRows:
    """The rows of one database that fit the chain of the vault, and its anchor.

    A row that is changed or gone after it was read is refused, even if another row under the same key was put in its
    place. Memory: a kB for each row that was read, and more where its body was looked at.

    A process that reads all histories again and again for months does without the comparing (`follows`): what it has
    read it has for good, as it was found to fit, and it reads what is new. A row that is changed behind its back
    changes nothing that it says; the reading of one release finds it. So does every process where there are thousands
    of rows.
    """

    def __init__(
        self, database: LedgerDatabase, chain: Chain, anchor: Anchor, index: LedgerIndex, follows: bool
    ) -> None:
        """follows : of all histories only new rows are read"""
        self._database, self._chain, self._anchor, self._index = database, chain, anchor, index
        self._fitting: dict[int, Entry] = {}  # rows that were found to fit their hash, by number
        self._known: dict[str, list[int]] = {}  # their numbers, by release
        self._follows = follows
        self._followed: list[Entry] = []  # those of them up to which each follows the one before, from the first on
        self._histories: dict[str, list[Entry]] = {}  # and those of releases
        self._indexed = 0  # how many of these the index has, as far as this process knows
        self._asked: Counter[str] = Counter()  # bodies that were read when they were asked for, by event
        self._reading = RLock()  # threads of one process share what was read

    def all(self) -> list[Entry]:
        """Of all releases, in order."""
        if self._is_followed():
            with self._reading:
                self._database.read(self.follow)
                return self._followed.copy()
        rows = self._database.read(self.read)
        self._follows |= len(rows) >= MANY
        return rows

    def histories(self) -> dict[str, list[Entry]] | None:
        """The rows of every release; None where they are not followed."""
        if not self._is_followed():
            return None
        with self._reading:
            self._database.read(self.follow)
            return dict(self._histories)

    def remember(self, rows: list[dict[str, Any]], whole: bool) -> None:
        """Rows that were just found to fit. whole : they are all; another process may then begin with them"""
        with self._reading:
            for row in rows:
                if row["seq"] not in self._fitting:
                    self._remember(Entry.of(tuple(row.values())))
        if whole and len(rows) >= MANY:
            heads = [Head.of(tuple(row.values())) for row in rows]
            if self._index.read() != heads:
                self._index.write(heads)

    def last(self, connection: sa.Connection) -> Entry | None:
        """The last row, or None. Raises SluiceError when it does not fit its hash."""
        rows = _tuples(connection.execute(_LAST))
        with self._reading:
            return self._trusted(rows[0]) if rows else None

    def read(self, connection: sa.Connection, release: str | None = None) -> list[Entry]:
        """The rows of one release or of all, in order. Raises SluiceError at one that does not fit its hash, and where
        any is missing."""
        anchored = self._anchor.read()  # before the rows: an append meanwhile only takes the database further
        wanted, names = (_ALL, {}) if release is None else (_OF_RELEASE, {"release": release})
        with self._reading:
            with without_collecting():
                found = _tuples(connection.execute(wanted, names))
                rows = [self._trusted(row[: len(COLUMNS)]) for row in found]
            read = {row.seq for row in rows}
            known = self._fitting.keys() if release is None else self._known.get(release, ())
            gone = next((seq for seq in known if seq not in read), None)
        if gone is not None:
            raise SluiceError(f"row {gone} of {self._database.place} is gone: history was changed.")
        if release is None:
            number, end = len(rows), rows[-1].seq if rows else 0
        else:
            number, end = found[0][len(COLUMNS) :] if found else (None, 0)
        self._refuse_gone(connection, anchored, number, end)
        return rows

    def follow(self, connection: sa.Connection) -> None:
        """Read what was recorded after what was read. Raises where rows are gone, at one that does not follow, and
        where the last is another, as in a ledger that was restored meanwhile."""
        with self._reading:
            anchored = self._anchor.read()
            if not self._followed:
                self._recall(connection)
            last = self._followed[-1] if self._followed else None
            seq, previous = (last.seq, last.hash) if last else (0, START)
            with without_collecting():
                rows = _in_parts(connection.execute(AFTER, {"seq": max(seq - 1, 0)}, execution_options=PARTS))
                if last is not None and not ((row := next(rows, None)) and self._is_still(last, row)):
                    raise SluiceError(
                        f"row {seq} of {self._database.place} is another than it was: history was changed."
                    )
                for place, row in enumerate(rows):
                    entry = self._trusted(row, whole=place < MANY)
                    if entry.seq != seq + 1 or entry.previous != previous:
                        where = f"row {entry.seq} of {self._database.place}"
                        raise SluiceError(f"{where} does not follow row {seq}: history was changed.")
                    self._take_up(entry)
                    seq, previous = entry.seq, entry.hash
            self._refuse_gone(connection, anchored, None, seq)
            if len(self._followed) - self._indexed >= MANY:
                self._index.write(self._followed)
                self._indexed = len(self._followed)

    def _is_followed(self) -> bool:
        """Whether of all histories only new rows are read; so where many were read, by whichever process."""
        self._follows = self._follows or self._index.path.exists()
        return self._follows

    def _recall(self, connection: sa.Connection) -> None:
        """Begin with what another process read, if its last row is still there and nothing here is another."""
        with without_collecting():
            heads = self._index.read()
            if not heads:
                return
            last = connection.execute(_NUMBERED, {"seq": heads[-1].seq}).first()
            others = any(seq <= len(heads) and heads[seq - 1].hash != each.hash for seq, each in self._fitting.items())
            if others or last is None or not self._is_still(Entry.without_body(heads[-1]), tuple(last)):
                log("the ledger's index is of another ledger and is set aside", logging.WARNING)
                return
            for head in heads:
                self._take_up(self._fitting.get(head.seq) or self._remember(Entry.without_body(head, self._text)))
            self._indexed = len(heads)

    def _take_up(self, entry: Entry) -> None:
        self._followed.append(entry)
        if entry.release not in WITHOUT_STATES:
            self._histories.setdefault(entry.release, []).append(entry)

    def _text(self, entry: Entry, parse: bool) -> str:
        """The body of a row that was read before, with others of its event that lie near. Raises SluiceError where the
        row is gone, or another.

        parse : whether they are kept as what they say and not as text; names of fields are then the same for all
        """
        with self._reading:
            self._asked[entry.event] += 1
            wanted = _NUMBERED
            names: dict[str, Any] = {"seq": entry.seq}
            if self._asked[entry.event] > FEW:
                wanted = _OF_EVENT
                names = {"event": entry.event, "first": entry.seq - _NEAR, "last": entry.seq + _NEAR}
            found: dict[int, str] = {}

            def read(connection: sa.Connection) -> None:
                for row in _in_parts(connection.execute(wanted, names, execution_options=PARTS)):
                    known = self._fitting.get(row[0])
                    if known is not None and (row[0] == entry.seq or known.lacks_body) and self._is_still(known, row):
                        found[row[0]] = row[BODY]

            with without_collecting():
                self._database.read(read)
                if entry.seq not in found:
                    raise self._changed(entry.seq)
                kept = json.loads(f"[{','.join(found.values())}]") if parse else found.values()
                for seq, each in zip(found, kept, strict=True):
                    self._fitting[seq].take(each)
            return found[entry.seq]

    def _refuse_gone(
        self, connection: sa.Connection, anchored: tuple[int, str] | None, number: int | None, end: int
    ) -> None:
        """number : how many rows there are, if that was asked, and `end` is the number of the last"""
        if number is None:
            number, end = connection.execute(_NUMBER_AND_END).one()
        if number != end or (anchored is not None and end < anchored[0]):
            raise SluiceError(f"rows of {self._database.place} are gone: history was changed. Verify it.")

    def _trusted(self, row: tuple[Any, ...], whole: bool = True) -> Entry:
        """The row's entry, if it fits its hash; one that was read before must be equal to what it was then.

        whole : whether its body is remembered, too
        """
        known = self._fitting.get(row[0])
        if known is None and self._fits(row):
            return self._remember(Entry.of(row) if whole else Entry.without_body(Head.of(row), self._text))
        if known is None or not self._is_still(known, row):
            raise self._changed(row[0])
        return known

    def _fits(self, row: tuple[Any, ...]) -> bool:
        return hmac.compare_digest(self._chain.hash_of(row[:-1]), row[-1])

    def _is_still(self, known: Entry, row: tuple[Any, ...]) -> bool:
        """Whether a row is what it was when it was found to fit."""
        if known.is_read:
            return known.is_row(row)
        return bool(known.seq == row[0] and known.hash == row[-1] and self._fits(row))

    def _changed(self, seq: int) -> SluiceError:
        return SluiceError(f"row {seq} of {self._database.place} does not fit its hash: history was changed.")

    def _remember(self, entry: Entry) -> Entry:
        self._fitting[entry.seq] = entry
        self._known.setdefault(entry.release, []).append(entry.seq)
        return entry


def _tuples(result: sa.Result[Any]) -> list[tuple[Any, ...]]:
    return list(map(tuple, result.all()))


def _in_parts(result: sa.Result[Any]) -> Iterator[tuple[Any, ...]]:
    for part in result.partitions():
        yield from map(tuple, part)

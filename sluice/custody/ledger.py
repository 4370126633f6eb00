"""The ledger: an append-only list of what happened to every release, chained by keyed hashes.

Each row's hash is a keyed one over its fields and the hash of the row before (see `Chain`). An anchor in the vault
holds the last row's number and hash, so that a tail cut off is seen, too.

A `Ledger` remembers the rows that it found to fit their hash, so that each is hashed once; it reads them from the
database every time and compares. A row that is changed or gone after it was read is refused, even if another row under
the same key was put in its place. `verify` relies on nothing that is remembered. Memory: a kB for each row that was
read, and more where its body was looked at.

A process that reads all histories again and again for months does without the comparing (`follows`): what it has read
it has for good, as it was found to fit, and it reads what is new. A row that is changed behind its back changes nothing
that it says; `verify`, and the reading of one release, find it. So does every process where there are thousands of
rows: it begins with what another one read (see `LedgerIndex`), and reads a body when somebody asks for it.
"""

import hmac
import json
import logging
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import RLock
from typing import Any, Self

import sqlalchemy as sa

from sluice.custody.ledger_chain import START, Anchor, Chain, roots
from sluice.custody.ledger_database import ROWS, LedgerDatabase
from sluice.custody.ledger_index import Head, LedgerIndex
from sluice.custody.states import (
    JUDGEMENTS,
    OFFICE,
    SEARCHES,
    VAULT,
    WITHOUT_STATES,
    State,
    TransitionError,
    following,
    in_words,
    refuse_in_office,
    refuse_in_searches,
    refuse_in_vault,
    state_of,
    told_of,
)
from sluice.ground.errors import SluiceError, did_you_mean
from sluice.ground.log import Facts, log
from sluice.ground.machine import without_collecting

CLOCK_TOLERANCE = timedelta(minutes=5)  # may be between two that mean the same time
MANY = 2_000  # rows: of so many the index is written, and their bodies are read again when they are asked for
_FEW = 20  # bodies of one event that are read one by one, before all of that event near it are
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
_AFTER = _ALL.where(ROWS.c.seq > sa.bindparam("seq"))
_LAST = sa.select(ROWS).order_by(ROWS.c.seq.desc()).limit(1)
_OF_EVENT = _ALL.where(
    ROWS.c.event == sa.bindparam("event"), ROWS.c.seq.between(sa.bindparam("first"), sa.bindparam("last"))
)
_NUMBERED = sa.select(ROWS).where(ROWS.c.seq == sa.bindparam("seq"))
_HASH = sa.select(ROWS.c.hash).where(ROWS.c.seq == sa.bindparam("seq"))
_BODIES = sa.select(ROWS.c.body)
_HOLDING = sa.select(ROWS.c.seq).where(ROWS.c.body.contains(sa.bindparam("text"))).limit(1)
_SHA256 = re.compile("[0-9a-f]{64}")
_PARTS = {"yield_per": _AT_ONCE}
_COLUMNS = tuple(ROWS.c.keys())
_BODY = _COLUMNS.index("body")
_NUMBER = sa.select(sa.func.count()).select_from(ROWS)
_HEAD = Head._fields
_set = object.__setattr__  # of an entry as it is made, or read


class _Written:
    """What an entry has beside its fields: the body as JSON, where it was read, and how it is read."""

    __slots__ = ("text", "text_of")
    text: str | None
    text_of: "Callable[[Entry, bool], str] | None"


@dataclass(frozen=True, slots=True)
class Entry(_Written):
    """One row of the ledger. `at` is ISO 8601 in UTC with microseconds; `body` holds aggregates only; whoever reads
    the row gets the same one, and changes nothing in it."""

    seq: int
    at: str
    release: str
    event: str
    actor: str
    body: dict[str, Any]
    previous: str
    hash: str

    def __post_init__(self) -> None:
        _set(self, "text", None)
        _set(self, "text_of", None)

    @classmethod
    def of(cls, row: tuple[Any, ...]) -> Self:
        """The entry of a row of the database: its body is parsed when somebody asks for it, as few do."""
        entry = cls.without_body(_head(row))
        _set(entry, "text", row[_BODY])
        return entry

    @classmethod
    def without_body(cls, head: Head, text_of: "Callable[[Entry, bool], str] | None" = None) -> Self:
        """The entry of a row whose body is read when somebody asks for it, by `text_of`, which is told whether it is
        to be parsed, too."""
        entry = cls.__new__(cls)
        for name, value in zip(_HEAD, head, strict=True):
            _set(entry, name, value)
        _set(entry, "text", None)
        _set(entry, "text_of", text_of)
        return entry

    def __getattr__(self, name: str) -> Any:
        if name != "body":
            raise AttributeError(name)
        if self.text is None and self.text_of is not None:
            self.text_of(self, True)
            return object.__getattribute__(self, "body")
        body = json.loads(self.written)
        _set(self, "body", body)
        return body

    @property
    def written(self) -> str:
        """The body as JSON."""
        if (text := self.text) is None:
            text = json.dumps(self.body) if self.text_of is None else self.text_of(self, False)
        return text

    @property
    def is_read(self) -> bool:
        """Whether the text of its body is at hand."""
        return self.text is not None

    @property
    def lacks_body(self) -> bool:
        """Whether neither the text nor what it says is at hand."""
        if self.text is not None:
            return False
        try:
            object.__getattribute__(self, "body")
        except AttributeError:
            return True
        return False

    def is_row(self, row: tuple[Any, ...]) -> bool:
        """Whether it is that of this row of the database, whose body was read."""
        return (self.seq, self.at, self.release, self.event, self.actor, self.written, self.previous, self.hash) == row


def last(entries: Sequence[Entry], event: str) -> Entry | None:
    """The latest entry of this event."""
    return next((entry for entry in reversed(entries) if entry.event == event), None)


def last_judgement(entries: Sequence[Entry]) -> Mapping[str, Any]:
    """What was recorded of a release's last judgement: verdict, reasons and codes; nothing where there was none."""
    bodies = (entry.body for entry in reversed(entries) if entry.event in JUDGEMENTS)
    return next((body for body in bodies if "verdict" in body), {})


class Ledger:
    """The ledger in one database, opened with the key and the anchor of the vault that it belongs to."""

    def __init__(self, url: str, key: bytes, anchor: Path, may_begin: bool = True, follows: bool = False) -> None:
        """Open the ledger. A SQLite file gets its table here; in PostgreSQL its owner makes it.

        url       : of SQLAlchemy; a SQLite file or a PostgreSQL database
        may_begin : without a row and without an anchor this is a new ledger; else both were lost, and nothing is
                    appended
        follows   : of all histories only new rows are read; for a process that lives long
        raises    : SluiceError when the database is of another kind, cannot be reached or has no table
        """
        self._chain = Chain(key)
        self._anchor = Anchor(anchor, key)
        self._checkpoint = Anchor(anchor.with_name(f"{anchor.name}.checkpoint"), key, "checkpoint")
        self._verified: tuple[int, str] | None = None  # the last row of the last whole verification
        self._database = LedgerDatabase(url)
        self._database.open()
        self._index = LedgerIndex(anchor.with_name(f"{anchor.name}.index"), key)
        self._fitting: dict[int, Entry] = {}  # rows that were found to fit their hash, by number
        self._known: dict[str, list[int]] = {}  # their numbers, by release
        self._follows = follows
        self._followed: list[Entry] = []  # those of them up to which each follows the one before, from the first on
        self._histories: dict[str, list[Entry]] = {}  # and those of releases
        self._indexed = 0  # how many of these the index has, as far as this process knows
        self._asked: Counter[str] = Counter()  # bodies that were read when they were asked for, by event
        self._reading = RLock()  # threads of one process share what was read
        if may_begin and not anchor.exists() and self.head() is None:
            self._anchor.move(0, START)

    @property
    def weaknesses(self) -> tuple[str, ...]:
        """What the database would let this account do to history, in words; the hashes tell when it is done."""
        return self._database.weaknesses

    def database_clock(self) -> datetime | None:
        """What the clock of the database's server says, in UTC; None of SQLite, which has no other than ours."""
        return self._database.clock()

    def append(
        self,
        release: str,
        event: str,
        actor: str,
        body: Mapping[str, Any],
        expect: Collection[State | None] | None = None,
    ) -> Entry:
        """Record that `event` happened to `release`, in one transaction with the check that it may.

        expect : states that the release must be in, narrower than the table of transitions
        raises : TransitionError when it is in another state; SluiceError when the body is not finite JSON, when
                 history does not fit its hashes or anchor any more, when this machine's clock is ahead of the
                 database's, or when the database cannot be written
        cost   : O(events of this release and rows that this process has not read), and one count of the rows
        """
        text = _canonical(body, event)
        for name, given in (("release", release), ("actor", actor)):
            if not given.strip() or not given.isprintable():
                raise SluiceError(f"{name} of a ledger entry must be a printable name; got {given!r}")
        tried: list[str] = []  # of attempts whose connection was lost: the database may have taken one of them in

        def write(connection: sa.Connection) -> dict[str, Any]:
            last = self._whole_last(connection)
            wanted = sa.select(ROWS).where(ROWS.c.hash.in_(tried))
            if tried and (taken := connection.execute(wanted).mappings().first()):
                return dict(taken)
            state = self._state(connection, release)
            if expect is not None and state not in expect:
                raise TransitionError(
                    f"'{event}' needs release '{release}' to be {in_words(expect)}; it is {in_words([state])}."
                )
            if release == OFFICE:
                refuse_in_office(event, founded=bool(self._rows(connection, OFFICE)))
            elif release == SEARCHES:
                refuse_in_searches(event)
            elif release == VAULT:
                refuse_in_vault(event)
            else:
                following(state, event)
            at = self._time(connection).isoformat(timespec="microseconds")
            seq, previous = (last.seq + 1, last.hash) if last else (1, START)
            fields = {"seq": seq, "at": at, "release": release, "event": event, "actor": actor, "body": text}
            digest = self._chain.hash({**fields, "previous": previous})
            row = {**fields, "previous": previous, "hash": digest}
            connection.execute(sa.insert(ROWS).values(row))
            tried.append(digest)
            return row

        row = self._database.write(write)
        # After the commit: a crash between the two leaves the anchor behind the database, never ahead of it.
        self._anchor.move(row["seq"], row["hash"])
        facts: Facts = {"release": release, "recorded": event}
        if "verdict" in body:
            facts["verdict"] = body["verdict"]
        if people := told_of(event):
            facts["tells"] = people
        log("recorded", **facts)
        return Entry.of(tuple(row[name] for name in _COLUMNS))

    def entries(self, release: str | None = None) -> list[Entry]:
        """The entries in order, of one release or of all.

        Raises SluiceError at a row that does not fit its hash, and where any row is missing.
        """
        if release is None and self._is_followed():
            with self._reading:
                self._database.read(self._follow)
                return self._followed.copy()
        rows = self._database.read(lambda connection: self._rows(connection, release))
        self._follows |= release is None and len(rows) >= MANY
        return rows

    def histories(self) -> dict[str, list[Entry]]:
        """The entries of every release, releases in the order in which they were first recorded; not those of the
        office and of searches.

        Raises as `entries` does. Cost: one statement, and a hash for each row that was not read before; 4 microseconds
        for each row that was.
        """
        if self._is_followed():
            with self._reading:
                self._database.read(self._follow)
                return dict(self._histories)
        return by_release(self.entries())

    def state(self, release: str) -> State | None:
        """The state that the release's entries add up to; None if there are none. Raises as `entries` does."""
        return self._database.read(lambda connection: self._state(connection, release))

    def head(self) -> Entry | None:
        """The last entry, or None. Raises SluiceError when it does not fit its hash."""
        return self._database.read(self._last)

    def naming(self, hashes: Collection[str]) -> set[str]:
        """Those of some SHA-256, in hexadecimal, that the body of any row names, as the database has it.

        Cost: a look through the bodies for each of a few, one for all of many; nothing is hashed or remembered.
        """

        def named(connection: sa.Connection) -> set[str]:
            if len(hashes) <= _FEW:
                return {each for each in hashes if connection.execute(_HOLDING, {"text": each}).first()}
            found: set[str] = set()
            for body in connection.execute(_BODIES, execution_options=_PARTS).scalars():
                found.update(_SHA256.findall(body))
            return found & {*hashes}

        return self._database.read(named) if hashes else set()

    def heads(self, sizes: Collection[int]) -> dict[int, tuple[str, str]]:
        """Of the first rows: how many -> the hash of the last of them and their Merkle root, both in hexadecimal.

        The leaves are the rows' keyed hashes: a root confirms no guess of what a row says. Sizes that the ledger does
        not have are left out. Raises as `entries` does. Cost: O(entries) hashes.
        """
        hashes = [entry.hash for entry in self.entries()]
        found = roots(map(bytes.fromhex, hashes), sizes)
        return {size: (hashes[size - 1], root.hex()) for size, root in found.items() if size > 0}

    @property
    def checkpoint(self) -> int:
        """The number of the row up to which all was verified; 0 where nothing was, or the file in the vault is not what
        was written."""
        found = self._checkpoint.read()
        return found[0] if found else 0

    def keep_checkpoint(self) -> None:
        """Let a verification begin at the row up to which this process verified all. Raises DataError: disk."""
        if self._verified is not None and self._verified[0] > 0:
            self._checkpoint.move(*self._verified)

    def verify(self, from_checkpoint: bool = False) -> list[str]:
        """What is wrong with the ledger, in words; an empty list when its history is whole.

        Every row is read and hashed, whatever was read before. What is whole is remembered, so that later reads are of
        the history that was verified, or are refused. Cost: O(entries).

        from_checkpoint : only those from the checkpoint on, where there is one: rows before it are counted, and that
                          nobody changed them since is shown by a verification of all
        """
        anchored = self._anchor.read()  # before the rows: an append meanwhile only takes the database further
        kept = self._checkpoint.read() if from_checkpoint else None
        begun = {"seq": kept[0] - 1 if kept else 0}
        rows, number = self._database.read(
            lambda each: (
                [dict(row) for row in each.execute(_AFTER, begun).mappings()],
                each.execute(_NUMBER).scalar(),
            )
        )
        after = (begun["seq"], rows[0]["previous"] if kept and rows else START)
        problems = self._chain.problems(rows, anchored[0] if anchored else 0, after)
        last = rows[-1]["seq"] if rows else begun["seq"]
        if kept and not problems and kept not in ((row["seq"], row["hash"]) for row in rows[:1]):
            problems.append(f"row {kept[0]} is not the row that the checkpoint in the vault knows")
        if kept and number != last:
            problems.append(f"there are {number} rows, and the last is row {last}: rows before the checkpoint are gone")
        if anchored is None:
            problems.append("the anchor in the vault is missing or was changed")
        elif anchored[0] > last:
            problems.append(f"the end was cut off: the last row should be {anchored[0]}; it is {last}")
        elif anchored[0] > 0 and (anchored not in ((row["seq"], row["hash"]) for row in rows)):
            problems.append(f"row {anchored[0]} is not the row that the anchor in the vault knows")
        if not problems:
            with self._reading:
                for row in rows:
                    if row["seq"] not in self._fitting:
                        self._remember(Entry.of(tuple(row.values())))
            if kept:
                return problems
            self._verified = (last, rows[-1]["hash"] if rows else START)
            verified = [_head(tuple(row.values())) for row in rows]
            if len(rows) >= MANY and self._index.read() != verified:
                self._index.write(verified)
        return problems

    def _is_followed(self) -> bool:
        """Whether of all histories only new rows are read; so where many were read, by whichever process."""
        self._follows = self._follows or self._index.path.exists()
        return self._follows

    def _time(self, connection: sa.Connection) -> datetime:
        """What this machine's clock says. A row of the future could not be taken back, and nothing is published before
        its time has come: so it is refused where the database has a clock to tell."""
        now, there = datetime.now(UTC), self._database.clock_of(connection)
        if there is not None and now - there > CLOCK_TOLERANCE:
            minutes = int((now - there).total_seconds() // 60)
            raise SluiceError(
                f"the clock of this machine is {minutes} minutes ahead of that of the ledger's database, so nothing is "
                "recorded. Set the clocks right, and do it again."
            )
        return now

    def _rows(self, connection: sa.Connection, release: str | None = None) -> list[Entry]:
        anchored = self._anchor.read()  # before the rows: an append meanwhile only takes the database further
        wanted, names = (_ALL, {}) if release is None else (_OF_RELEASE, {"release": release})
        with self._reading:
            with without_collecting():
                found = _tuples(connection.execute(wanted, names))
                rows = [self._trusted(row[: len(_COLUMNS)]) for row in found]
            read = {row.seq for row in rows}
            known = self._fitting.keys() if release is None else self._known.get(release, ())
            gone = next((seq for seq in known if seq not in read), None)
        if gone is not None:
            raise SluiceError(f"row {gone} of {self._database.place} is gone: history was changed.")
        if release is None:
            number, end = len(rows), rows[-1].seq if rows else 0
        else:
            number, end = found[0][len(_COLUMNS) :] if found else (None, 0)
        self._refuse_gone(connection, anchored, number, end)
        return rows

    def _follow(self, connection: sa.Connection) -> None:
        """Read what was recorded after what was read. Raises where rows are gone, at one that does not follow, and
        where the last is another, as in a ledger that was restored meanwhile."""
        anchored = self._anchor.read()
        if not self._followed:
            self._recall(connection)
        last = self._followed[-1] if self._followed else None
        seq, previous = (last.seq, last.hash) if last else (0, START)
        with without_collecting():
            rows = _in_parts(connection.execute(_AFTER, {"seq": max(seq - 1, 0)}, execution_options=_PARTS))
            if last is not None and not ((row := next(rows, None)) and self._is_still(last, row)):
                raise SluiceError(f"row {seq} of {self._database.place} is another than it was: history was changed.")
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
            if self._asked[entry.event] > _FEW:
                wanted = _OF_EVENT
                names = {"event": entry.event, "first": entry.seq - _NEAR, "last": entry.seq + _NEAR}
            found: dict[int, str] = {}

            def read(connection: sa.Connection) -> None:
                for row in _in_parts(connection.execute(wanted, names, execution_options=_PARTS)):
                    known = self._fitting.get(row[0])
                    if known is not None and (row[0] == entry.seq or known.lacks_body) and self._is_still(known, row):
                        found[row[0]] = row[_BODY]

            with without_collecting():
                self._database.read(read)
                if entry.seq not in found:
                    raise self._changed(entry.seq)
                kept = json.loads(f"[{','.join(found.values())}]") if parse else found.values()
                for seq, each in zip(found, kept, strict=True):
                    _set(self._fitting[seq], "body" if parse else "text", each)
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
            return self._remember(Entry.of(row) if whole else Entry.without_body(_head(row), self._text))
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

    def _state(self, connection: sa.Connection, release: str) -> State | None:
        rows = self._rows(connection, release)
        return None if release in WITHOUT_STATES else state_of(row.event for row in rows)

    def _last(self, connection: sa.Connection) -> Entry | None:
        rows = _tuples(connection.execute(_LAST))
        with self._reading:
            return self._trusted(rows[0]) if rows else None

    def _whole_last(self, connection: sa.Connection) -> Entry | None:
        """The row to follow. A new row on top of a cut or holed ledger would hide the damage, so it is refused."""
        last = self._last(connection)
        number = last.seq if last else 0
        anchored = self._anchor.read()
        whole = anchored is not None and number >= anchored[0]
        if anchored is not None and anchored[0] > 0:
            known = connection.execute(_HASH, {"seq": anchored[0]}).scalar()
            whole = whole and known == anchored[1]
        if not whole or connection.execute(_NUMBER).scalar() != number:
            raise SluiceError(
                f"{self._database.place} does not fit its anchor in the vault: history was changed. Verify it."
            )
        with self._reading:  # a state is what a release's rows add up to, so none may bear another's name
            self._follow(connection)
        return last


def by_release(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """What `Ledger.histories` makes of all entries, for whoever needs both."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.release not in WITHOUT_STATES:
            found.setdefault(entry.release, []).append(entry)
    return found


def recorded_entries(ledger: Ledger, release_id: str) -> list[Entry]:
    """What the ledger holds of a release. Raises SluiceError for an id of which nothing is recorded."""
    entries = ledger.entries(release_id)
    if not entries:
        hint = did_you_mean(release_id, ledger.histories())
        raise SluiceError(f"nothing is recorded of a release '{release_id}'.{hint} See: sluice ledger status")
    return entries


def _canonical(body: Mapping[str, Any], event: str) -> str:
    try:
        return json.dumps(dict(body), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError):
        raise SluiceError(
            f"the body of '{event}' must be plain JSON: text, finite numbers, true, false, null, lists and mappings "
            "with text keys. Is there a NaN, a NumPy number or a frame in it?"
        ) from None


def _tuples(result: sa.Result[Any]) -> list[tuple[Any, ...]]:
    return list(map(tuple, result.all()))


def _head(row: tuple[Any, ...]) -> Head:
    return Head._make((*row[:_BODY], *row[_BODY + 1 :]))


def _in_parts(result: sa.Result[Any]) -> Iterator[tuple[Any, ...]]:
    for part in result.partitions():
        yield from map(tuple, part)

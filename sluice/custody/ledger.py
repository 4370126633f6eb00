"""The ledger: an append-only list of what happened to every release, chained by keyed hashes.

Each row's hash is a keyed one over its fields and the hash of the row before (see `Chain`). An anchor in the vault
holds the last row's number and hash, so that a tail cut off is seen, too.

How rows are read, hashed once and compared afterwards, is in `LedgerRows`; `verify` relies on nothing that it
remembers.
"""

import json
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from sluice.custody.ledger_chain import START, Anchor, Chain, roots
from sluice.custody.ledger_database import ROWS, LedgerDatabase
from sluice.custody.ledger_entry import COLUMNS, Entry, by_release
from sluice.custody.ledger_index import LedgerIndex
from sluice.custody.ledger_rows import AFTER, FEW, PARTS, LedgerRows
from sluice.custody.states import (
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

CLOCK_TOLERANCE = timedelta(minutes=5)  # may be between two that mean the same time

_HASH = sa.select(ROWS.c.hash).where(ROWS.c.seq == sa.bindparam("seq"))
_BODIES = sa.select(ROWS.c.body)
_HOLDING = sa.select(ROWS.c.seq).where(ROWS.c.body.contains(sa.bindparam("text"))).limit(1)
_SHA256 = re.compile("[0-9a-f]{64}")
_NUMBER = sa.select(sa.func.count()).select_from(ROWS)


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
        index = LedgerIndex(anchor.with_name(f"{anchor.name}.index"), key)
        self._rows = LedgerRows(self._database, self._chain, self._anchor, index, follows)
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
                refuse_in_office(event, founded=bool(self._rows.read(connection, OFFICE)))
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
        return Entry.of(tuple(row[name] for name in COLUMNS))

    def entries(self, release: str | None = None) -> list[Entry]:
        """The entries in order, of one release or of all.

        Raises SluiceError at a row that does not fit its hash, and where any row is missing.
        """
        if release is None:
            return self._rows.all()
        return self._database.read(lambda connection: self._rows.read(connection, release))

    def histories(self) -> dict[str, list[Entry]]:
        """The entries of every release, releases in the order in which they were first recorded; not those of the
        office and of searches.

        Raises as `entries` does. Cost: one statement, and a hash for each row that was not read before; 4 microseconds
        for each row that was.
        """
        followed = self._rows.histories()
        return by_release(self.entries()) if followed is None else followed

    def state(self, release: str) -> State | None:
        """The state that the release's entries add up to; None if there are none. Raises as `entries` does."""
        return self._database.read(lambda connection: self._state(connection, release))

    def head(self) -> Entry | None:
        """The last entry, or None. Raises SluiceError when it does not fit its hash."""
        return self._database.read(self._rows.last)

    def naming(self, hashes: Collection[str]) -> set[str]:
        """Those of some SHA-256, in hexadecimal, that the body of any row names, as the database has it.

        Cost: a look through the bodies for each of a few, one for all of many; nothing is hashed or remembered.
        """

        def named(connection: sa.Connection) -> set[str]:
            if len(hashes) <= FEW:
                return {each for each in hashes if connection.execute(_HOLDING, {"text": each}).first()}
            found: set[str] = set()
            for body in connection.execute(_BODIES, execution_options=PARTS).scalars():
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
                [dict(row) for row in each.execute(AFTER, begun).mappings()],
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
            self._rows.remember(rows, whole=not kept)
            if not kept:
                self._verified = (last, rows[-1]["hash"] if rows else START)
        return problems

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

    def _state(self, connection: sa.Connection, release: str) -> State | None:
        rows = self._rows.read(connection, release)
        return None if release in WITHOUT_STATES else state_of(row.event for row in rows)

    def _whole_last(self, connection: sa.Connection) -> Entry | None:
        """The row to follow. A new row on top of a cut or holed ledger would hide the damage, so it is refused."""
        last = self._rows.last(connection)
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
        self._rows.follow(connection)  # a state is what a release's rows add up to, so none may bear another's name
        return last


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

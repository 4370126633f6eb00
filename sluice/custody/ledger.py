"""The ledger: an append-only list of what happened to every release, chained by keyed hashes.

Each row's hash is an HMAC-SHA256 (RFC 2104) over its fields and the hash of the row before, under a key that lies in
the vault: who can write to the database but has no key cannot change, drop, move or add a row unseen. An anchor in
the vault holds the last row's number and hash, so that a tail cut off is seen too.
"""

import hmac
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

from sluice.custody.anchor import Anchor
from sluice.custody.states import State, TransitionError, following, in_words, state_of
from sluice.errors import SluiceError
from sluice.sources.database_url import database_url

START = "0" * 64  # what the first row follows
WAIT = 30  # seconds that an append waits for the appends before it

_metadata = sa.MetaData()
_rows = sa.Table(
    "sluice_ledger",
    _metadata,
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    *(sa.Column(name, sa.Text, nullable=False) for name in ("at", "release", "event", "actor", "body")),
    sa.Column("previous", sa.Text, nullable=False, unique=True),
    sa.Column("hash", sa.Text, nullable=False, unique=True),
)

# The database itself refuses to change history. It holds honest programs back; the keyed hashes find the others.
_REFUSE = "'the ledger is append-only'"
_TRIGGERS: Mapping[str, tuple[str, ...]] = {
    "sqlite": (
        f"CREATE TRIGGER sluice_ledger_update BEFORE UPDATE ON sluice_ledger BEGIN SELECT RAISE(ABORT, {_REFUSE}); END",
        f"CREATE TRIGGER sluice_ledger_delete BEFORE DELETE ON sluice_ledger BEGIN SELECT RAISE(ABORT, {_REFUSE}); END",
        # INSERT OR REPLACE deletes without asking the trigger above
        "CREATE TRIGGER sluice_ledger_insert BEFORE INSERT ON sluice_ledger"
        " WHEN NEW.seq <= (SELECT coalesce(max(seq), 0) FROM sluice_ledger)"
        f" BEGIN SELECT RAISE(ABORT, {_REFUSE}); END",
    ),
    "postgresql": (
        "CREATE OR REPLACE FUNCTION sluice_ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION {_REFUSE}; END $$",
        "CREATE TRIGGER sluice_ledger_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON sluice_ledger"
        " FOR EACH STATEMENT EXECUTE FUNCTION sluice_ledger_refuse()",
    ),
}
_LOCKS: Mapping[str, tuple[str, ...]] = {
    "sqlite": ("BEGIN IMMEDIATE",),  # the driver is told to begin nothing by itself
    # an advisory lock, as it also holds while the table does not exist; the number only has to be this ledger's own
    "postgresql": (f"SET LOCAL lock_timeout = '{WAIT}s'", "SELECT pg_advisory_xact_lock(7310846521)"),
}


@dataclass(frozen=True)
class Entry:
    """One row of the ledger. `at` is ISO 8601 in UTC with microseconds; `body` holds aggregates only."""

    seq: int
    at: str
    release: str
    event: str
    actor: str
    body: dict[str, Any]
    previous: str
    hash: str


class Ledger:
    """The ledger in one database, opened with the key and the anchor of the vault that it belongs to."""

    def __init__(self, url: str, key: bytes, anchor: Path, may_begin: bool = True) -> None:
        """Open the ledger, making its table where there is none.

        url       : of SQLAlchemy; a SQLite file or a PostgreSQL database
        may_begin : without a row and without an anchor this is a new ledger; else both were lost, and nothing is
                    appended
        raises    : SluiceError when the database is of another kind or cannot be reached
        """
        self._key = key
        self._anchor = Anchor(anchor, key)
        self._engine = _engine(url)
        self._place = _place(self._engine.url)
        with self._database("opened"):
            if not sa.inspect(self._engine).has_table(_rows.name):
                with self._writing() as connection:
                    if not sa.inspect(connection).has_table(_rows.name):
                        _metadata.create_all(connection)
                        for trigger in _TRIGGERS[connection.dialect.name]:
                            connection.exec_driver_sql(trigger)
            if may_begin and not anchor.exists() and self._last() is None:
                self._anchor.move(0, START)

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
                 history does not fit its hashes or anchor any more, or when the database cannot be written
        cost   : O(events of this release), and one count of the rows in the database
        """
        text = _canonical(body, event)
        for name, given in (("release", release), ("actor", actor)):
            if not given.strip() or not given.isprintable():
                raise SluiceError(f"{name} of a ledger entry must be a printable name; got {given!r}")
        with self._database("written"), self._writing() as connection:
            last = self._trusted_last(connection)
            state = self._state(connection, release)
            if expect is not None and state not in expect:
                raise TransitionError(
                    f"'{event}' needs release '{release}' to be {in_words(expect)}; it is {in_words([state])}."
                )
            following(state, event)
            at = datetime.now(UTC).isoformat(timespec="microseconds")
            seq, previous = (last["seq"] + 1, last["hash"]) if last else (1, START)
            fields = {"seq": seq, "at": at, "release": release, "event": event, "actor": actor, "body": text}
            digest = self._hash({**fields, "previous": previous})
            row = {**fields, "previous": previous, "hash": digest}
            connection.execute(sa.insert(_rows).values(row))
        # After the commit: a crash between the two leaves the anchor behind the database, never ahead of it.
        self._anchor.move(seq, digest)
        return _entry(row)

    def entries(self, release: str | None = None) -> list[Entry]:
        """The entries in order, of one release or of all. Raises SluiceError at a row that does not fit its hash."""
        with self._database("read"), self._engine.connect() as connection:
            return [_entry(row) for row in self._trusted_rows(connection, release)]

    def releases(self) -> list[str]:
        """The releases in the order in which they were first recorded."""
        return list(dict.fromkeys(entry.release for entry in self.entries()))

    def state(self, release: str) -> State | None:
        """The state that the release's entries add up to; None if there are none. Raises as `entries` does."""
        with self._database("read"), self._engine.connect() as connection:
            return self._state(connection, release)

    def head(self) -> Entry | None:
        """The last entry, or None. Raises SluiceError when it does not fit its hash."""
        with self._database("read"):
            row = self._last()
        return None if row is None else _entry(self._trusted(row))

    def verify(self) -> list[str]:
        """What is wrong with the ledger, in words; an empty list when its history is whole. Cost: O(entries)."""
        anchored = self._anchor.read()  # before the rows: an append meanwhile only takes the database further
        with self._database("read"), self._engine.connect() as connection:
            rows = [dict(row) for row in connection.execute(sa.select(_rows).order_by(_rows.c.seq)).mappings()]
        problems: list[str] = []
        # where a row that does not fit may have been moved from; bounded, as each place is tried on each such row
        places = [*[row["seq"] for row in rows if not self._fits(row)][:100], anchored[0] if anchored else 0]
        last, previous, followed = 0, START, True
        for row in rows:
            seq, fits = row["seq"], self._fits(row)
            problems += [f"row {number} is missing" for number in range(last + 1, min(seq, last + 100))]
            if not fits:
                came = next((place for place in places if self._fits({**row, "seq": place})), None)
                was = "changed or forged: its hash does not fit its content" if came is None else f"moved from {came}"
                problems.append(f"row {seq} was {was}")
            elif followed and seq == last + 1 and row["previous"] != previous:
                problems.append(f"row {seq} does not follow row {last}: its link to the row before is broken")
            last, previous, followed = seq, row["hash"], fits
        if anchored is None:
            problems.append("the anchor in the vault is missing or was changed")
        elif anchored[0] > last:
            problems.append(f"the end was cut off: the last row should be {anchored[0]}; it is {last}")
        elif anchored[0] > 0 and (anchored not in ((row["seq"], row["hash"]) for row in rows)):
            problems.append(f"row {anchored[0]} is not the row that the anchor in the vault knows")
        return problems

    # -- rows and their hashes

    def _hash(self, row: Mapping[str, Any]) -> str:
        fields = [row[column.name] for column in _rows.columns if column.name != "hash"]
        return hmac.digest(self._key, json.dumps(["row", *fields]).encode(), "sha256").hex()

    def _fits(self, row: Mapping[str, Any]) -> bool:
        return hmac.compare_digest(self._hash(row).encode(), str(row["hash"]).encode())

    def _trusted(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self._fits(row):
            raise SluiceError(f"row {row['seq']} of {self._place} does not fit its hash: history was changed.")
        return row

    def _trusted_rows(self, connection: sa.Connection, release: str | None) -> list[Mapping[str, Any]]:
        wanted = sa.select(_rows).order_by(_rows.c.seq)
        if release is not None:
            wanted = wanted.where(_rows.c.release == release)
        return [self._trusted(dict(row)) for row in connection.execute(wanted).mappings()]

    def _state(self, connection: sa.Connection, release: str) -> State | None:
        return state_of(row["event"] for row in self._trusted_rows(connection, release))

    def _last(self, connection: sa.Connection | None = None) -> Mapping[str, Any] | None:
        if connection is None:
            with self._engine.connect() as fresh:
                return self._last(fresh)
        row = connection.execute(sa.select(_rows).order_by(_rows.c.seq.desc()).limit(1)).mappings().first()
        return dict(row) if row is not None else None

    def _trusted_last(self, connection: sa.Connection) -> Mapping[str, Any] | None:
        """The row to follow. A new row on top of a cut or holed ledger would hide the damage, so it is refused."""
        last = self._last(connection)
        number = last["seq"] if last else 0
        anchored = self._anchor.read()
        whole = anchored is not None and number >= anchored[0]
        if anchored is not None and anchored[0] > 0:
            known = connection.execute(sa.select(_rows.c.hash).where(_rows.c.seq == anchored[0])).scalar()
            whole = whole and known == anchored[1]
        if not whole or connection.execute(sa.select(sa.func.count()).select_from(_rows)).scalar() != number:
            raise SluiceError(f"{self._place} does not fit its anchor in the vault: history was changed. Verify it.")
        return None if last is None else self._trusted(last)

    # -- the database

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        """A transaction that no other append runs beside."""
        with self._engine.begin() as connection:
            for statement in _LOCKS[connection.dialect.name]:
                connection.exec_driver_sql(statement)
            yield connection

    @contextmanager
    def _database(self, verb: str) -> Iterator[None]:
        """Say what the database refused without its own text, which may hold an address or a name."""
        try:
            yield
        except SQLAlchemyError as error:
            text, name = str(error).lower(), str(self._engine.url.database).lower()
            known = {
                "the database does not exist; create it first": (f'database "{name}" does not exist',),
                "it is read-only": ("readonly", "read-only"),
                "another process holds it": ("is locked", "lock timeout"),
                "its disk is full": ("disk is full", "no space left"),
                "its table is gone": ("no such table", 'relation "sluice_ledger" does not exist'),
            }
            why = next((why for why, signs in known.items() if any(sign in text for sign in signs)), None)
            raise SluiceError(
                f"{self._place} cannot be {verb}: {why or 'the database does not answer'} ({type(error).__name__})."
            ) from None


def _engine(url: str) -> sa.Engine:
    try:
        parsed = database_url(url)
    except ValueError:
        raise SluiceError("the ledger's URL cannot be read; write sqlite:///FILE or postgresql://...") from None
    kind = parsed.get_backend_name()
    if kind not in _LOCKS:
        raise SluiceError(f"a ledger lies in SQLite or PostgreSQL; got a URL for {kind}.")
    if kind == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise SluiceError("a ledger in memory would be forgotten; name a file: sqlite:///FILE.")
    options = {"isolation_level": None, "timeout": WAIT} if kind == "sqlite" else {"connect_timeout": WAIT}
    # A connection for each use: safe over forks, and a server that was restarted is simply found again.
    try:
        engine = sa.create_engine(parsed, poolclass=sa.NullPool, connect_args=options, hide_parameters=True)
    except (ImportError, NoSuchModuleError):
        raise SluiceError(
            f"the ledger's URL asks for '{parsed.drivername}', which is not here; write {kind}://"
        ) from None
    # After waiting for its turn an append must see the row before it, whatever the server's default is.
    return engine if kind == "sqlite" else engine.execution_options(isolation_level="READ COMMITTED")


def _place(url: sa.URL) -> str:
    """The database in words, without user, password or options."""
    where = f" on {url.host}" if url.host else ""
    return f"the ledger ({url.get_backend_name()} '{url.database}'{where})"


def _canonical(body: Mapping[str, Any], event: str) -> str:
    try:
        return json.dumps(dict(body), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError):
        raise SluiceError(
            f"the body of '{event}' must be plain JSON: text, finite numbers, true, false, null, lists and mappings "
            "with text keys. Is there a NaN, a NumPy number or a frame in it?"
        ) from None


def _entry(row: Mapping[str, Any]) -> Entry:
    return Entry(**{**row, "body": json.loads(row["body"])})
